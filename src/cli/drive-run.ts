import { join, relative } from "node:path";
import {
  composePorts,
  interventionFilesOf,
  keepAwakeOf,
  lastTranscriptOf,
  lockProject,
  viewsOf,
  workspaceOf,
  type Project,
} from "../compose.ts";
import type { Event } from "../core/events.ts";
import { EXIT_CODES } from "../core/loop/outcome.ts";
import { gatesToKeep } from "../core/loop/resumed-gates.ts";
import { isOpen, leftoversInPlace, type State } from "../core/loop/state.ts";
import { runSummary } from "../core/projections/summary.ts";
import { RalphError } from "../core/ralph-error.ts";
import type { GateSettings, Settings, WorktreeSettings } from "../core/settings.ts";
import { runEngine } from "../engine/engine.ts";
import { Journal } from "../engine/journal.ts";
import type { Follower, Log, Ports } from "../engine/ports.ts";
import { recover } from "../engine/recover.ts";
import { startRun } from "../engine/start-run.ts";
import { blockedNow } from "./blocked-now.ts";
import type { CliContext } from "./commands.ts";
import type { Prepared } from "./prepare-run.ts";
import { withLog } from "./project-state.ts";
import { suggestionLines } from "./print/blocked-lines.ts";
import type { RunPrinter } from "./print/run-printer.ts";
import { openOutlets } from "./outlets.ts";
import { onAbort, onInterrupt } from "./interrupt.ts";
import { listenForRetry } from "./retry-key.ts";

export interface Drive extends Prepared {
  readonly context: CliContext;
  readonly printer: RunPrinter;
  readonly allowDirty: boolean;
  /** The machine does not fall asleep while agents work. */
  readonly keepAwake: boolean;
  readonly summary: boolean;
  /** Whether it may end with what would help blocked tasks. */
  readonly suggests: boolean;
  /** What a person asked for together with the run; recorded before it starts. */
  readonly first?: (state: State) => readonly Event[];
  /** Shows what the agent prints. */
  readonly verbose: boolean;
  /** Another program drives it, which has the terminal and the signals for itself. */
  readonly embedded?: Embedded;
}

export interface Embedded {
  /** An abort asks for what Ctrl-C asks for. */
  readonly signal: AbortSignal;
  readonly follower: Follower;
}

/** One run from the lock to the exit code. */
export async function driveRun(drive: Drive): Promise<number> {
  const lock = lockProject(drive.project);
  try {
    const say = (text: string): unknown => drive.context.stderr.write(text);
    return await withLog(drive.project, (log) => driveWith(log, drive), drive.commands, say);
  } finally {
    lock.release();
  }
}

async function driveWith(log: Log, drive: Drive): Promise<number> {
  const { project, context, printer } = drive;
  const keepAwake = keepAwakeOf(context);
  const views = viewsOf(project, log);
  const say = (text: string): void => {
    printer.rest();
    context.stderr.write(`ralph: ${text}\n`);
  };
  const outlets = await openOutlets({ ...drive, log, say });
  try {
    const interventions = interventionFilesOf(project, log);
    const retryKey = drive.embedded === undefined ? listenForRetry(process.stdin, log) : null;
    const listener = retryKey ?? drive.embedded?.follower;
    const listeners = [...(listener === undefined ? [] : [listener]), ...outlets.followers];
    const followers = [views, interventions, printer, ...listeners];
    const journal = await Journal.open(log, followers, Date.now);
    await outlets.start(journal.state);
    const gates = keptGates(drive, journal.state);
    const ports = composePorts({
      project,
      log,
      commands: { ...drive.commands, gates },
      source: drive.source,
      worktree: drive.worktree,
      plugins: drive.plugins,
      followers,
      onProgress: (progress) => {
        views.progress(progress);
        printer.progress(progress);
      },
      onAgentStart: () => drive.keepAwake && keepAwake.hold(),
      ...(drive.verbose && {
        onOutput: (text: string, iteration: number) => printer.output(text, iteration),
      }),
      env: context.env,
      version: context.version,
    });
    await continueNumbers(journal, project);
    await recover(ports, journal.state);
    const leaveAlone = await pathsToLeaveAlone(drive, journal.state);
    if (drive.branch !== null && journal.state.iterations.length === 0)
      await workspaceOf(project).useBranch(drive.branch);
    const worktrees = await withBase(drive, ports, journal.state);
    const settings = { ...drive.settings, gates, leaveAlone, worktrees };
    const first = drive.first?.(journal.state) ?? [];
    if (first.length > 0) await journal.record(...first);
    await views.restore(journal.state);
    await interventions.restore(journal.state);
    const end = await engineToItsEnd(drive, settings, ports, journal);
    printer.rest();
    retryKey?.rest();
    if (drive.summary) printSummary(end, drive);
    if (drive.suggests && settings.unblock.autoSuggest) await printSuggestions(end, drive);
    return end.run?.end == null ? EXIT_CODES.stopped : EXIT_CODES[end.run.end.outcome];
  } catch (error) {
    outlets.failed(error);
    throw error;
  } finally {
    views.rest();
    keepAwake.release();
    printer.rest();
    await outlets.finish();
  }
}

/** A run that goes on goes on from its own base, whatever is checked out by now. */
async function withBase(
  { settings: { worktrees = null } }: Drive,
  ports: Ports,
  { run }: State,
): Promise<WorktreeSettings | null> {
  if (worktrees === null) return null;
  const before = isOpen(run) ? run.settings.worktrees?.base : undefined;
  const base = before ?? (await ports.workspace.snapshot()).branch;
  if (base !== null) {
    if (worktrees.merge === "pr") await ports.beside?.pullRequests.requireUsable(base);
    return { ...worktrees, base };
  }
  throw new RalphError("usage", "worktrees need a branch to begin from, and none is checked out", {
    hint: "check out the branch that the work is for: git switch main",
  });
}

function keptGates({ settings, commands, context }: Drive, state: State): readonly GateSettings[] {
  const kept = gatesToKeep(state, settings);
  if (kept === null) return commands.gates;
  const names = kept.map(({ name, command }) => (name === command ? name : `${name} (${command})`));
  context.stderr.write(
    `ralph: the interrupted run goes on with the gates it started with: ${names.join(", ")}. The configuration names others by now: if you changed it, that counts from the next run on; if not, the agent did.\n`,
  );
  return kept;
}

/** A log that was lost must not let numbers, and with them transcripts, be used again. */
async function continueNumbers(journal: Journal, project: Project): Promise<void> {
  const lastIteration = lastTranscriptOf(project);
  if (lastIteration > journal.state.lastIteration)
    await journal.record({ type: "log.renewed", lastIteration });
}

async function engineToItsEnd(
  { context, embedded }: Drive,
  settings: Settings,
  ports: Ports,
  journal: Journal,
): Promise<State> {
  const { head } = await ports.workspace.snapshot();
  const interrupt =
    embedded === undefined ? onInterrupt(journal, ports, context.stderr) : onAbort(journal, embedded.signal);
  try {
    await startRun(journal, settings, process.pid, context.version, head);
    interrupt.runBegan();
    return await runEngine(ports, journal);
  } finally {
    interrupt.release();
  }
}

function printSummary(end: State, { project, context }: Drive): void {
  const log = join(relative(project.root, project.ralphDir), "logs", "summary.csv");
  const lines = ["", ...runSummary(end, log, Date.now())];
  for (const line of lines) context.stdout.write(`${line}\n`);
}

/** What would help the tasks that are blocked now. */
async function printSuggestions(end: State, { project, context }: Drive): Promise<void> {
  const blocked = await blockedNow(project, end);
  if (blocked.length === 0) return;
  for (const line of ["", "What would help:", ...suggestionLines(blocked)]) context.stdout.write(`${line}\n`);
}

/** The operator's uncommitted work: a reason not to start, or (`--allow-dirty`) left exactly as it is. */
async function pathsToLeaveAlone(
  { project, allowDirty, source, otherLists, settings }: Drive,
  state: State,
): Promise<readonly string[]> {
  // Work in worktrees touches none of it.
  if (settings.worktrees != null) return [];
  // What a dead run left in the middle of an iteration is that iteration's, and is taken up by recovery.
  if (isOpen(state.run) && state.iterations.length > 0) return state.run.settings.leaveAlone;
  const ours = source.files.map((file) => file.path);
  const dirty = await workspaceOf(project).dirtyPaths(ours, leftoversInPlace(state));
  const unasked = dirty.filter((path) => !otherLists.includes(path));
  if (unasked.length === 0 || allowDirty) return dirty;
  const shown = unasked.slice(0, 3).join(", ");
  const count = `${unasked.length} ${unasked.length === 1 ? "file" : "files"}`;
  throw new RalphError(
    "dirty-tree",
    `the work tree has uncommitted changes (${count}: ${shown}${unasked.length > 3 ? ", …" : ""}).`,
    {
      hint: "commit them, or start with --worktree, or with --allow-dirty, which leaves exactly those files alone",
    },
  );
}
