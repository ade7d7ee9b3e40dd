import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Command } from "commander";
import { withoutAliases } from "../aliases.ts";
import type { Act, CliContext } from "../commands.ts";
import type { Flags } from "./run.ts";
import { prepareRun, requireStartable } from "../prepare-run.ts";
import { RunLines } from "../print/run-printer.ts";
import { PLAIN } from "../print/style.ts";
import { readState, refreshStatus } from "../project-state.ts";
import { requirePerson } from "../require-person.ts";
import { isElsewhere, openScreen, transcriptOf } from "../../compose-screens.ts";
import { openProject, prepareFolder, type Project } from "../../compose.ts";
import { isOpen } from "../../core/loop/state.ts";
import type { OperatorAct } from "../../core/operator/operator-act.ts";
import { runSummary } from "../../core/projections/summary.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { isoTime } from "../../core/time.ts";
import { actAsOperator, type Acted } from "../../engine/operator.ts";
import type { ScreenPorts } from "../../engine/watch-project.ts";
import type { OwnRunProcess } from "../../tui/run-monitor.tsx";

export function define(command: Command, act: Act): void {
  command.action(() => act(monitor));
}

async function monitor(context: CliContext): Promise<number> {
  requireTerminal(context);
  const project = await openProject(context);
  requirePerson(project, context.env, "use the monitor");
  return showMonitor(project, context);
}

/** Shows the monitor until the person leaves it; answers the exit code. */
export async function showMonitor(
  project: Project,
  { env, stdout }: CliContext,
  ownRun?: OwnRunProcess,
): Promise<number> {
  const told = new RunLines(PLAIN);
  const lines: ScreenPorts["lines"] = (event, state) => told.of(event, state);
  const screen = openScreen({ project, env, mayAct: true, lines });
  try {
    // Only this command needs it, and it is most of what there is to load.
    const { runMonitor } = await import("../../tui/run-monitor.tsx");
    return await runMonitor({
      screen: screen.ports,
      transcript: (iteration) => transcriptOf(project, iteration),
      isElsewhere: (worker) => isElsewhere(project, worker),
      stdin: process.stdin,
      stdout,
      hasColours: !env["NO_COLOR"],
      act: (act) => record(project, screen.ports, act),
      ...(ownRun && { ownRun }),
    });
  } finally {
    await screen.close();
  }
}

async function record(project: Project, ports: ScreenPorts, act: OperatorAct): Promise<Acted> {
  const log = await ports.log();
  if (log === null)
    return { is: "refused", why: "nothing is recorded here yet; the first run begins the log: ralph run" };
  const acted = await actAsOperator(log, act, (await ports.driving()).isDriven);
  if (acted.is === "done") await refreshStatus(project);
  return acted;
}

/** Refuses where a screen cannot be drawn or keys cannot be read. */
export function requireTerminal({ env, stdout }: CliContext): void {
  const hint = "without one: ralph status, ralph inbox, ralph logs --follow";
  if (!process.stdin.isTTY || !stdout.isTTY)
    throw new RalphError("usage", "the monitor needs a terminal, for its screen and for your keys", { hint });
  if (env["TERM"] === "dumb")
    throw new RalphError("usage", "this terminal cannot show the monitor (TERM is dumb)", { hint });
}

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
  const prepared = await prepareRun(goal, flags, context);
  const { project } = prepared;
  requirePerson(project, context.env, "use the monitor");
  await requireStartable(prepared, context);
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
  const file = openSync(output, "a", 0o600);
  const child = spawn(join(dirname(process.argv[1] ?? ""), "ralph"), words, {
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
