import { requireSandbox } from "../compose-sandbox.ts";
import type { CliContext } from "./commands.ts";
import type { Prepared } from "./prepare-run.ts";
import { requireProgram } from "./project-state.ts";
import { requireAlone } from "./require-alone.ts";

/** Refuses what could not work on this machine, before anything is written. */
export async function requireStartable(prepared: Prepared, context: CliContext): Promise<void> {
  const { project, commands, agents } = prepared;
  requireAlone(project);
  requirePrograms(prepared, context);
  await requireSandbox(project, commands.sandbox, agents, context.env);
}

/** The image of a container has its own programs. */
export function requirePrograms({ project, commands, agents }: Prepared, { env }: CliContext): void {
  if (commands.sandbox?.kind === "docker") return;
  for (const agent of agents) requireProgram(agent, project.root, env);
}
