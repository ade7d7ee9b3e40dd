import type { AgentRequest } from "../../src/engine/ports.ts";
import type { World } from "./world.ts";

/** Whose a session is. */
export interface SessionOwner {
  readonly run: string;
  readonly task: string;
  readonly agent: string;
  /** The machine that it lies on, where there are several. */
  readonly where: string | undefined;
}

/** The session that an agent works in: the one it is told to go on with, which must be its own, or a new one. */
export function sessionFor(world: World, request: AgentRequest): string {
  const { run, task, agent, iteration, session } = request;
  const id = session?.id ?? `session-${iteration}`;
  const where = world.crew?.machineOf(request.root)?.id;
  const owner = world.sessions.get(id) ?? { run, task, agent: agent.name, where };
  const isForeign =
    owner.run !== run || owner.task !== task || owner.agent !== agent.name || owner.where !== where;
  if (session !== null && (isForeign || !world.sessions.has(id)))
    world.violate(`iteration ${iteration} went on with the session ${id}, which is not its own`);
  world.sessions.set(id, owner);
  return id;
}
