import type { Project } from "../compose.ts";
import { builtInAgents, findProgram, hasLog, openLog } from "../compose.ts";
import { ownEnvironment } from "../compose-platform.ts";
import { hourOf } from "../core/limits/calls.ts";
import { evolveAll, EVOLVE_VERSION } from "../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../core/loop/state.ts";
import { RalphError } from "../core/ralph-error.ts";
import type { AgentSettings, Commands } from "../core/settings.ts";
import type { Instant } from "../core/time.ts";
import type { Log } from "../engine/ports.ts";

/** The state as recorded, for commands that only look; creates nothing. */
export async function readState(project: Project): Promise<State> {
  if (!hasLog(project)) return EMPTY_STATE;
  return withLog(project, stateIn);
}

/** The state, and how many calls of this hour are used up by everybody who shares the store. */
export async function readStateAndCalls(
  project: Project,
  now: Instant,
): Promise<{ readonly state: State; readonly calls: number }> {
  if (!hasLog(project)) return { state: EMPTY_STATE, calls: 0 };
  return withLog(project, async (log) => ({
    state: await stateIn(log),
    calls: await log.countCalls(hourOf(now).since),
  }));
}

async function stateIn(log: Log): Promise<State> {
  const from = (await log.loadSnapshot(EVOLVE_VERSION)) ?? EMPTY_STATE;
  return evolveAll(await log.read(from.position), from);
}

/** Opens the log for as long as the work takes. */
export async function withLog<Result>(
  project: Project,
  work: (log: Log) => Promise<Result>,
  commands?: Commands,
  say: (text: string) => unknown = (text) => process.stderr.write(text),
): Promise<Result> {
  const { log, notice } = await openLog(project, ownEnvironment(), commands);
  if (notice !== null) say(`ralph: ${notice}\n`);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

export function programOf({ command, format }: AgentSettings): string {
  return command === null ? format : (command[0] ?? "");
}

/** Refuses to start with an agent that is not there. */
export function requireProgram(agent: AgentSettings, cwd: string, env: NodeJS.ProcessEnv): void {
  const program = programOf(agent);
  if (findProgram(program, cwd, env) !== null) return;
  const here = builtInAgents()
    .filter((one) => one.command === null && findProgram(programOf(one), cwd, env) !== null)
    .map(({ name }) => `--agent ${name}`);
  const other =
    here.length === 0 ? "choose another with --agent" : `take one that is here (${here.join(", ")})`;
  throw new RalphError(
    "no-agent",
    `the agent "${agent.name}" needs the program ${program}, which is not installed`,
    {
      hint: `install it, ${other}, or see how: ralph doctor`,
    },
  );
}
