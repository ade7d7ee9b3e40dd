import { gatesToKeep } from "../core/loop/gates-of-run.ts";
import { join, relative } from "node:path";
import type { ReadStream } from "node:tty";
import type { CliContext } from "./commands.ts";
import { requireGates, type Prepared } from "./prepare-run.ts";
import { RunLines, type RunPrinter } from "./print/run-printer.ts";
import { PLAIN } from "./print/style.ts";
import { blockedNow, suggestionLines } from "./blocked-now.ts";
import { withLog } from "./project-state.ts";
import { notifierOf } from "../compose-notify.ts";
import type { Plugins } from "../compose-plugins.ts";
import type { Telemetry, TelemetryParts } from "../compose-telemetry.ts";
import {
  composePorts,
  deleteOldTextsOf,
  interventionFilesOf,
  keepAwakeOf,
  lastTranscript,
  lockProject,
  logbookOf,
  mayHaveTelemetry,
  viewsOf,
  workspaceOf,
  type Project,
} from "../compose.ts";
import type { Event } from "../core/events.ts";
import { entryOfFact, logEntry, type Level, type LogEntry } from "../core/logbook/log-entry.ts";
import { EXIT_CODES } from "../core/loop/outcome.ts";
import { isOpen, leftoversInPlace, markersOf, type State } from "../core/loop/state.ts";
import { runSummary } from "../core/projections/summary.ts";
import { RalphError, withHint } from "../core/ralph-error.ts";
import type { Commands, GateSettings, Settings, WorktreeSettings } from "../core/settings.ts";
import { runEngine, recover, startRun } from "../engine/engine.ts";
import { Journal } from "../engine/journal.ts";
import type { Follower, Log, Ports } from "../engine/ports.ts";
import { ownRedactor } from "./report-error.ts";

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
    const gates = await keptGates(drive, journal.state);
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

async function keptGates(drive: Drive, state: State): Promise<readonly GateSettings[]> {
  const { settings, commands, context } = drive;
  const kept = gatesToKeep(state, settings);
  if (kept === null) return commands.gates;
  const names = kept.map(({ name, command }) => (name === command ? name : `${name} (${command})`));
  context.stderr.write(
    `ralph: the interrupted run goes on with the gates it started with: ${names.join(", ")}. The configuration names others by now: if you changed it, that counts from the next run on; if not, the agent did.\n`,
  );
  await requireGates(kept, drive);
  return kept;
}

/** A log that was lost must not let numbers, and with them transcripts, be used again. */
async function continueNumbers(journal: Journal, project: Project): Promise<void> {
  const lastIteration = lastTranscript(project.ralphDir);
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

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const INTERRUPTED = 130;

interface Interrupt {
  /** The run is on record: whoever asked before that is heard now. */
  runBegan(): void;
  /** Takes the handlers away again. */
  release(): void;
}

/**
 * Once: the agent is asked to stop and the iteration is recorded. Twice: at once; what is open is recorded as
 * interrupted by the next run.
 */
function onInterrupt(journal: Journal, ports: Ports, stderr: NodeJS.WriteStream): Interrupt {
  let asked = false;
  const handle = (): void => {
    if (asked) {
      void leaveAtOnce(journal, ports);
      return;
    }
    asked = true;
    stderr.write("ralph: stopping, the iteration will be recorded (again: stop at once)\n");
    requestStop();
  };
  let hasBegun = false;
  const requestStop = (): void => {
    const { run } = journal.state;
    if (hasBegun && isOpen(run))
      void journal
        .record({ type: "stop.requested", run: run.id, urgency: "now" })
        .catch(() => leaveAtOnce(journal, ports));
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return {
    runBegan() {
      hasBegun = true;
      if (asked) requestStop();
    },
    release() {
      for (const signal of SIGNALS) process.off(signal, handle);
    },
  };
}

/** The same for a program that drives a run itself: its signal is heard once, and nobody leaves the process. */
function onAbort(journal: Journal, signal: AbortSignal): Interrupt {
  let hasBegun = false;
  const requestStop = (): void => {
    const { run } = journal.state;
    if (hasBegun && signal.aborted && isOpen(run))
      // A log that takes no facts any more ends the run by itself.
      void journal.record({ type: "stop.requested", run: run.id, urgency: "now" }).catch(() => {});
  };
  signal.addEventListener("abort", requestStop);
  return {
    runBegan() {
      hasBegun = true;
      requestStop();
    },
    release: () => signal.removeEventListener("abort", requestStop),
  };
}

async function leaveAtOnce(journal: Journal, ports: Ports): Promise<never> {
  await Promise.all(journal.state.iterations.flatMap(markersOf).map((marker) => ports.agents.sweep(marker)));
  process.exit(INTERRUPTED);
}

const CTRL_C = "\u0003";

/** While a run waits at a terminal, the key `r` ends the wait. */
interface RetryKey extends Follower {
  /** Gives the keyboard back. */
  rest(): void;
}

function listenForRetry(stdin: ReadStream, log: Log): RetryKey {
  let run: string | null = null;
  const onKey = (keys: Buffer): void => {
    const text = keys.toString();
    if (text.includes(CTRL_C)) process.kill(process.pid, "SIGINT");
    else if (text.toLowerCase().includes("r") && run !== null)
      void log.append([{ type: "retry.requested", run }]).catch(() => {}); // the wait goes on, and ends by itself
  };
  const rest = (): void => {
    if (run === null) return;
    run = null;
    stdin.off("data", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
  const listen = (waiting: string): void => {
    if (!stdin.isTTY || run !== null) return;
    run = waiting;
    stdin.setRawMode(true);
    stdin.on("data", onKey);
    stdin.resume();
  };
  return {
    follow(event) {
      if (event.type === "wait.started") listen(event.run);
      else if (["iteration.started", "retry.requested", "run.ended"].includes(event.type)) rest();
      return Promise.resolve();
    },
    rest,
  };
}

interface OutletOptions {
  readonly project: Project;
  readonly log: Log;
  readonly commands: Commands;
  readonly context: CliContext;
  readonly plugins: Plugins;
  /** How long what agents say is kept. */
  readonly keepDays: number;
  /** Who this is, of several that share the run. */
  readonly worker?: string;
  /** To the person in front of it. */
  readonly say: (text: string) => void;
}

/** Whoever hears of a run besides the screens: the logbook, people elsewhere, and a receiver of telemetry. None of them can hold it up. */
interface Outlets {
  readonly followers: readonly Follower[];
  /** When the state is known, and nothing of this process is recorded yet. */
  start(state: State): Promise<void>;
  /** What ended the run, and is no fact. */
  failed(error: unknown): void;
  /** Waits a bounded time for what is still to be sent. */
  finish(): Promise<void>;
}

export async function openOutlets(options: OutletOptions): Promise<Outlets> {
  const { project, log, commands, context, plugins, worker, say, keepDays } = options;
  const logbook = logbookOf(project, (why) => say(`what happens cannot be written to ralph.log: ${why}`));
  const keep = (level: Level, text: string): void => logbook.write(logEntry(level, text, Date.now()));
  const warn = (text: string): void => {
    keep("warn", text);
    say(text);
  };
  const note = (text: string): void => {
    keep("debug", text);
    if (context.verbose) say(text);
  };
  const { env, version } = context;
  const own = worker === undefined ? {} : { worker };
  const notifier = notifierOf({ project, commands, plugins, log, env, version, ...own, warn, note });
  const telemetry = await telemetryOf({ project, commands, env, version, ...own, warn, note });
  return {
    followers: [
      logbookFollower((entries) => logbook.write(...entries)),
      notifier,
      ...(telemetry === null ? [] : [telemetry]),
    ],
    async start(state) {
      keep("info", `ralph ${version} begins, in ${project.root}`);
      const deleted = deleteOldTextsOf(project, keepDays, state);
      if (deleted > 0) note(`${deleted} transcripts and prompts were older than ${keepDays} days: deleted`);
      await notifier.start(state);
    },
    failed(error) {
      keep("error", ownRedactor(env)(error instanceof Error ? error.message : String(error)));
    },
    async finish() {
      await Promise.all([notifier.finish(), telemetry?.finish()]);
    },
  };
}

/** Loaded only when somebody wants it. Variables that make no sense are no reason not to work. */
async function telemetryOf(parts: TelemetryParts): Promise<Telemetry | null> {
  if (!mayHaveTelemetry(parts.env)) return null;
  try {
    return (await import("../compose-telemetry.ts")).openTelemetry(parts);
  } catch (error) {
    if (!(error instanceof RalphError)) throw error;
    parts.warn(`no telemetry is sent: ${withHint(error)}`);
    return null;
  }
}

/** Every fact in words; those that came together are written together. */
function logbookFollower(write: (entries: readonly LogEntry[]) => void): Follower {
  const told = new RunLines(PLAIN);
  let entries: LogEntry[] = [];
  return {
    follow(event, state) {
      entries.push(entryOfFact(event, told.of(event, state)));
      return Promise.resolve();
    },
    settle() {
      write(entries);
      entries = [];
      return Promise.resolve();
    },
  };
}
