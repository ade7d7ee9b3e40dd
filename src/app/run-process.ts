import { setTimeout as sleep } from "node:timers/promises";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { prepareRalphFolder } from "../adapters/files/ralph-folder.ts";
import { findProgram } from "../adapters/process/process-table.ts";
import type { RunFlags } from "../config/resolve-settings.ts";
import { RalphError } from "../core/errors.ts";
import { EXIT_CODES } from "../core/loop/outcome.ts";
import { TOKEN_VARIABLE } from "../core/redact.ts";
import { isoTime } from "../core/time.ts";
import type { Api, RunWish } from "../web/api.ts";
import { planOf, type Prepared, prepareRun, programOf, requireStartable } from "./prepare-run.ts";
import { OWN_ROOT, type Project, refuseWhileDriven, requirePerson } from "./project.ts";
import { readState } from "./project-log.ts";

/** A run as a process of its own: it outlives the screen that started it if it must. */
export interface RunProcess {
  readonly pid: number;
  /** What it prints. */
  readonly output: string;
  /** Its exit code. */
  readonly ended: Promise<number>;
  /** As Ctrl-C in its terminal: once to stop, again to kill the agent. */
  interrupt(): void;
  /** What it printed so far; for a run that could not start, which leaves nothing else. */
  takeOutput(): string;
}

/** `words`: the command line. In a session of its own: neither Ctrl-C nor a closed window reaches it. */
export function startRunProcess(
  { ralphDir, env }: Pick<Project, "ralphDir" | "env">,
  words: readonly string[],
  cwd: string,
): RunProcess {
  prepareRalphFolder(ralphDir);
  const at = isoTime(Date.now()).replaceAll(/[-:]|\..*/g, "");
  const output = join(ralphDir, "logs", `run-${at}-${process.pid}.log`);
  const file = openSync(output, "a", 0o600);
  const { [TOKEN_VARIABLE]: _token, ...others } = env;
  const child = spawn(join(OWN_ROOT, "bin", "ralph"), words, {
    cwd,
    env: others,
    detached: true,
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  child.unref();
  return {
    pid: child.pid ?? 0,
    output,
    ended: once(child, "exit").then(([code]) => (code as number | null) ?? EXIT_CODES.stopped),
    interrupt: () => void child.kill("SIGINT"),
    takeOutput: () => {
      const text = readFileSync(output, "utf8");
      rmSync(output, { force: true });
      return text;
    },
  };
}

/** What a run would do that is asked for like this. */
export async function planWish(project: Project, wish: RunWish): Promise<Api["POST /api/plan"]> {
  const prepared = await prepareWish(project, wish);
  const { settings, commands, source } = prepared;
  const isHere = findsPrograms(project);
  const known = commands.agents.filter((agent) => agent.name === settings.agent || isHere(programOf(agent)));
  return { ...planOf(prepared, await source.observe()), agentsKnown: known.map(({ name }) => name) };
}

function findsPrograms({ root, env }: Project): (program: string) => boolean {
  return (program) => findProgram(program, root, env) !== null;
}

/** Starts it, and answers when it is on record; throws what it was refused for. */
export async function startWish(project: Project, wish: RunWish): Promise<string> {
  requirePerson(project, "start a run");
  await refuseWhileDriven(project);
  await requireStartable(await prepareWish(project, wish));
  const words = ["run", "--stay", ...wordsOf(wish, project)];
  const run = startRunProcess(project, words, project.root);
  let isOver = false;
  void run.ended.finally(() => {
    isOver = true;
  });
  while (!(await hasBegun(project, run))) {
    if (isOver && !(await hasBegun(project, run))) throw refusalIn(run.takeOutput());
    await sleep(LOOK_MS);
  }
  return "the run has begun";
}

const LOOK_MS = 100;

async function hasBegun(project: Project, { pid }: RunProcess): Promise<boolean> {
  return (await readState(project)).run?.pid === pid;
}

function prepareWish({ root, ralphDir, env, say }: Project, wish: RunWish): Promise<Prepared> {
  return prepareRun(goalOf(wish), flagsOf(wish), { cwd: root, dir: ralphDir, env, say });
}

function goalOf({ goal }: RunWish): string | undefined {
  return goal === null || goal === "" ? undefined : goal;
}

function flagsOf({ tasks, agent, lanes, maxIterations, budgetUsd, approve }: RunWish): RunFlags {
  return {
    stay: true,
    ...(tasks.length > 0 && { task: tasks }),
    ...(agent !== null && { agent }),
    ...(lanes !== null && { parallel: lanes }),
    ...(maxIterations !== null && { maxIterations }),
    ...(budgetUsd !== null && { budget: budgetUsd }),
    ...(approve && { approve }),
  };
}

/** The same as words: each value is part of its own flag, and the goal comes after all flags. */
function wordsOf(wish: RunWish, { ralphDir }: Project): readonly string[] {
  const { tasks, agent, lanes, maxIterations, budgetUsd, approve } = wish;
  const goal = goalOf(wish);
  return [
    `--dir=${ralphDir}`,
    ...tasks.map((task) => `--task=${task}`),
    ...(agent === null ? [] : [`--agent=${agent}`]),
    ...(lanes === null ? [] : [`--parallel=${lanes}`]),
    ...(maxIterations === null ? [] : [`--max-iterations=${maxIterations}`]),
    ...(budgetUsd === null ? [] : [`--budget=${budgetUsd}`]),
    ...(approve ? ["--approve"] : []),
    ...(goal === undefined ? [] : ["--", goal]),
  ];
}

/** What a run printed that could not start: `ralph: why`, and maybe `  → what to do`. */
function refusalIn(printed: string): RalphError {
  const lines = printed.trim().split("\n");
  const [, hint] = /^\s*→ (.+)/.exec(lines.findLast((line) => /^\s*→ /.test(line)) ?? "") ?? [];
  const why = lines
    .filter((line) => line.startsWith("ralph: "))
    .at(-1)
    ?.slice("ralph: ".length);
  return new RalphError("usage", why ?? "the run ended before it began", hint === undefined ? {} : { hint });
}
