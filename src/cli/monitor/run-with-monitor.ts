import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { prepareFolder, type Project } from "../../compose.ts";
import { isOpen } from "../../core/loop/state.ts";
import { runSummary } from "../../core/projections/summary.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { isoTime } from "../../core/time.ts";
import type { OwnRunProcess } from "../../tui/run-monitor.tsx";
import { withoutAliases } from "../aliases.ts";
import type { CliContext } from "../commands.ts";
import type { Flags } from "../commands/run.ts";
import { prepareRun } from "../prepare-run.ts";
import { readState, requireProgram } from "../project-state.ts";
import { requireAlone } from "../require-alone.ts";
import { requirePerson } from "../require-person.ts";
import { requireTerminal, showMonitor } from "./show-monitor.ts";

/** `ralph run --monitor`: the run is a process of its own, and outlives the screen if it must. */
export async function runWithMonitor(
  goal: string | undefined,
  flags: Flags,
  context: CliContext,
): Promise<number> {
  if (flags.dryRun === true || flags.json === true)
    throw new RalphError("usage", "--monitor shows a run on the screen; leave out --dry-run and --json");
  requireTerminal(context);
  // What would be refused is refused before the screen changes.
  const { project, agents } = await prepareRun(goal, flags, context);
  requireAlone(project);
  requirePerson(project, context.env, "use the monitor");
  for (const agent of agents) requireProgram(agent, project.root, context.env);
  prepareFolder(project);
  const output = join(
    project.ralphDir,
    "logs",
    `run-${isoTime(Date.now()).replaceAll(/[-:]|\..*/g, "")}-${process.pid}.log`,
  );
  const ownRun = startRunProcess(output, context);
  const exitCode = await showMonitor(project, context, ownRun);
  await tellTheEnd(project, ownRun.pid, output, context);
  return exitCode;
}

/** In a session of its own: neither Ctrl-C nor a closed window reaches it. */
function startRunProcess(output: string, { cwd, env }: CliContext): OwnRunProcess {
  const words = withoutAliases(process.argv.slice(2)).filter((word) => word !== "--monitor");
  const file = openSync(output, "a");
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", ...words], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  child.unref();
  return {
    pid: child.pid ?? 0,
    ended: once(child, "exit").then(([code]) => (code as number | null) ?? INTERRUPTED),
    stopNow: () => void child.kill("SIGINT"),
  };
}

const INTERRUPTED = 130;

async function tellTheEnd(project: Project, pid: number, output: string, context: CliContext): Promise<void> {
  const { stdout, stderr } = context;
  const state = await readState(project);
  const path = relative(context.cwd, output);
  if (state.run === null || state.run.pid !== pid) {
    stderr.write(readFileSync(output, "utf8"));
    rmSync(output, { force: true });
  } else if (isOpen(state.run)) {
    stderr.write(`ralph: the run goes on (process ${pid}); it prints to ${path}\n`);
    stderr.write("  → see it: ralph monitor; end it: ralph stop\n");
  } else {
    const log = join(relative(project.root, project.ralphDir), "logs", "summary.csv");
    for (const line of runSummary(state, log, Date.now())) stdout.write(`${line}\n`);
    stderr.write(`ralph: what it printed is in ${path}\n`);
  }
}
