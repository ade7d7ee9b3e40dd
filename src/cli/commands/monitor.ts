import { prepareRun, requireStartable } from "../../app/prepare-run.ts";
import { type Project, openProject, requirePerson } from "../../app/project.ts";
import { readState } from "../../app/project-log.ts";
import { type RunProcess, startRunProcess } from "../../app/run-process.ts";
import { relative } from "node:path";
import type { Command } from "commander";
import { openScreen, transcriptOf } from "../../app/screens.ts";
import { RalphError } from "../../core/errors.ts";
import { isOpen } from "../../core/state.ts";
import { withoutAliases, type Act, type CliContext } from "../commands.ts";
import { printEnd, type Flags } from "./run.ts";

export function define(command: Command, act: Act): void {
  command.action(act(monitor));
}

async function monitor(context: CliContext): Promise<number> {
  requireTerminal(context);
  const project = await openProject(context);
  requirePerson(project, "use the monitor");
  return showMonitor(project, context);
}

/** Shows the monitor until the person leaves it; answers the exit code. */
async function showMonitor(
  project: Project,
  { env, stdout }: CliContext,
  ownRun?: RunProcess,
): Promise<number> {
  const screen = openScreen(project, true);
  try {
    // Only this command needs it, and it is most of what there is to load.
    const { runMonitor } = await import("../../tui/run-monitor.tsx");
    return await runMonitor({
      screen: screen.ports,
      transcript: (iteration) => transcriptOf(project, iteration),
      stdin: process.stdin,
      stdout,
      hasColours: !env["NO_COLOR"],
      ...(ownRun && { ownRun }),
    });
  } finally {
    await screen.close();
  }
}

/** Refuses where a screen cannot be drawn or keys cannot be read. */
function requireTerminal({ env, stdout }: CliContext): void {
  const hint = "without one: ralph status, ralph inbox, ralph logs --follow";
  if (!process.stdin.isTTY || !stdout.isTTY)
    throw new RalphError("usage", "the monitor needs a terminal, for its screen and for your keys", { hint });
  if (env["TERM"] === "dumb")
    throw new RalphError("usage", "this terminal cannot show the monitor (TERM is dumb)", { hint });
}

/** `ralph run --monitor`: the run is a process of its own, and outlives the screen if it must. */
export async function runWithMonitor(
  context: CliContext,
  goal: string | undefined,
  flags: Flags,
): Promise<number> {
  if (flags.dryRun === true || context.json)
    throw new RalphError("usage", "--monitor shows a run on the screen; leave out --dry-run and --json");
  requireTerminal(context);
  // What would be refused is refused before the screen changes.
  const prepared = await prepareRun(goal, flags, context);
  const { project } = prepared;
  requirePerson(project, "use the monitor");
  await requireStartable(prepared);
  const words = withoutAliases(process.argv.slice(2)).filter((word) => word !== "--monitor");
  const ownRun = startRunProcess(project, words, context.cwd);
  const exitCode = await showMonitor(project, context, ownRun);
  await tellTheEnd(project, ownRun, context);
  return exitCode;
}

/** What became of a run that a screen has started. */
export async function tellTheEnd(project: Project, ownRun: RunProcess, context: CliContext): Promise<void> {
  const { stderr, say } = context;
  const { pid } = ownRun;
  const state = await readState(project);
  const path = relative(context.cwd, ownRun.output);
  if (state.run === null || state.run.pid !== pid) {
    stderr.write(ownRun.takeOutput());
  } else if (isOpen(state.run)) {
    say(`the run goes on (process ${pid}); it prints to ${path}`);
    stderr.write("  → see it: ralph monitor; end it: ralph stop\n");
  } else {
    await printEnd(state, project, false, context);
    say(`what it printed is in ${path}`);
  }
}
