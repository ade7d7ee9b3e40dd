import { existsSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { lastTranscript, prepareRalphFolder } from "../adapters/files/ralph-folder.ts";
import { InterventionFiles } from "../adapters/files/intervention-files.ts";
import { Views } from "../adapters/files/views.ts";
import { systemClock } from "../adapters/process/system-clock.ts";
import { RalphError } from "../core/errors.ts";
import type { Event, Recorded } from "../core/events.ts";
import { gatesToKeep } from "../core/loop/submission.ts";
import { EXIT_CODES } from "../core/loop/outcome.ts";
import { type EarlierFile, takenOver } from "../core/prompt/inbox-file-text.ts";
import type { GateSettings, WorktreeSettings } from "../core/settings.ts";
import { isOpen, leftoversInPlace, markersOf, type State } from "../core/state.ts";
import { runEngine, recover, startRun } from "../engine/engine.ts";
import { Journal } from "../engine/journal.ts";
import type { Follower, Log, Ports, Progress } from "../engine/ports.ts";
import { workspaceOf } from "./git-parts.ts";
import { rememberProject } from "./known-projects.ts";
import { hearSignals, withLock } from "./project.ts";
import { withLog } from "./project-log.ts";
import { requireGates, type Prepared } from "./prepare-run.ts";
import { followRun, composePorts, keepAwakeOf, type RunFollowers } from "./run-ports.ts";

/** Shows a run while it happens. */
export interface RunDisplay extends Follower {
  progress(progress: Progress): void;
  /** What the agent prints; absent where the person does not want to see it. */
  output?: ((text: string, iteration: number) => void) | undefined;
  /** Before anything else is printed, and at the end. */
  rest(): void;
}

/** How a run is driven, by a command or by another program. */
export interface Drive {
  readonly display: RunDisplay;
  readonly version: string;
  readonly verbose?: boolean;
  readonly allowDirty?: boolean | undefined;
  /** False: the machine may fall asleep while agents work. */
  readonly keepAwake?: boolean | undefined;
  /** What a person asked for together with the run; recorded before it starts. */
  readonly first?: ((state: State) => readonly Event[]) | undefined;
  /** An abort asks for what Ctrl-C asks for; without it the signals of the process are heard. */
  readonly signal?: AbortSignal;
}

/** One run from the lock to its end; answers the state that it has left. */
export async function driveRun(prepared: Prepared, drive: Drive): Promise<State> {
  const { project, commands } = prepared;
  const { display, version, verbose = false } = drive;
  prepareRalphFolder(project.ralphDir);
  rememberProject(project);
  const say = (text: string): void => {
    display.rest();
    project.say(text);
  };
  const driveWith = (log: Log): Promise<State> =>
    followRun({ ...prepared, log, version, verbose, say }, (others) =>
      driveFollowed(log, prepared, drive, others),
    );
  return withLock(project, () => withLog(project, driveWith, commands));
}

async function driveFollowed(
  log: Log,
  prepared: Prepared,
  drive: Drive,
  others: RunFollowers,
): Promise<State> {
  const { project, commands } = prepared;
  const { display, version } = drive;
  const keepAwake = keepAwakeOf(project);
  const views = new Views(project.ralphDir, log);
  const retryKey = drive.signal === undefined ? listenForRetry(log) : null;
  try {
    const interventions = new InterventionFiles(project.ralphDir, log, systemClock);
    const followers = [views, interventions, display, ...(retryKey ? [retryKey] : []), ...others.followers];
    const journal = await Journal.open(log, followers, Date.now);
    await others.start(journal.state);
    const gates = await keptGates(prepared, journal.state);
    const ports = composePorts({
      ...prepared,
      log,
      commands: { ...commands, gates },
      followers,
      version,
      onProgress: (progress) => {
        views.progress(progress);
        display.progress(progress);
      },
      onAgentStart: () => drive.keepAwake !== false && keepAwake.hold(),
      onOutput: drive.verbose === true ? display.output : undefined,
    });
    // A log that was lost must not let numbers, and with them transcripts, be used again.
    const lastIteration = lastTranscript(project.ralphDir);
    if (lastIteration > journal.state.lastIteration)
      await journal.record({ type: "log.renewed", lastIteration });
    await recover(ports, journal.state);
    const leaveAlone = await pathsToLeaveAlone(prepared, drive.allowDirty === true, journal.state);
    if (prepared.branch !== null && journal.state.iterations.length === 0)
      await workspaceOf(project).useBranch(prepared.branch);
    const worktrees = await withBase(prepared, ports, journal.state);
    const settings = { ...prepared.settings, gates, leaveAlone, worktrees };
    const earlier = await earlierEvents(prepared, ports, journal.state);
    const first = [...earlier, ...(drive.first?.(journal.state) ?? [])];
    if (first.length > 0) await journal.record(...first);
    await views.restore(journal.state);
    await interventions.restore(journal.state);
    const { head } = await ports.workspace.snapshot();
    const interrupt = onInterrupt(journal, ports, { ...drive, say: project.say });
    try {
      await startRun(journal, settings, process.pid, version, head);
      interrupt.runBegan();
      return await runEngine(ports, journal);
    } finally {
      interrupt.release();
    }
  } finally {
    retryKey?.rest();
    views.rest();
    keepAwake.release();
    display.rest();
  }
}

const INBOX_KINDS = ["blocked", "decide"] as const;

/** What another program's loop asked before our first run. Later such files may be an agent's. */
async function earlierEvents(
  { project, source }: Prepared,
  { inboxFiles }: Ports,
  { run }: State,
): Promise<readonly Event[]> {
  if (run !== null || source.identity.kind === "goal") return [];
  const folder = dirname(join(project.root, source.identity.path ?? ""));
  const files: EarlierFile[] = [];
  for (const kind of INBOX_KINDS) {
    const file = `${kind}.txt`;
    // That program kept its files beside its list.
    const [theirs, ours] = [join(folder, file), join(project.ralphDir, file)];
    if (basename(folder) === "ralph" && existsSync(theirs) && !existsSync(ours)) renameSync(theirs, ours);
    const found = await inboxFiles.read(file);
    if (found !== null) files.push({ kind, file, ...found });
  }
  if (files.length === 0) return [];
  const { tasks } = await source.observe();
  const events = takenOver(
    files,
    tasks.filter(({ done }) => !done).map(({ id }) => id),
  );
  for (const event of events)
    if (event.type === "letter.published")
      project.say(`took over ${event.file}, which is about ${event.task} now`);
  return events;
}

/** A run that goes on goes on from its own base, whatever is checked out by now. */
async function withBase(
  { settings: { worktrees = null } }: Prepared,
  ports: Ports,
  { run }: State,
): Promise<WorktreeSettings | null> {
  if (worktrees === null) return null;
  const before = isOpen(run) ? run.settings.worktrees?.base : undefined;
  const base = before ?? (await ports.workspace.snapshot()).branch;
  if (base !== null) {
    if (worktrees.merge === "pr") await ports.parallel?.pullRequests.requireUsable(base);
    return { ...worktrees, base };
  }
  throw new RalphError("usage", "worktrees need a branch to begin from, and none is checked out", {
    hint: "check out the branch that the work is for: git switch main",
  });
}

async function keptGates(prepared: Prepared, state: State): Promise<readonly GateSettings[]> {
  const { settings, commands, project } = prepared;
  const kept = gatesToKeep(state, settings);
  if (kept === null) return commands.gates;
  const names = kept.map(({ name, command }) => (name === command ? name : `${name} (${command})`));
  project.say(
    `the interrupted run goes on with the gates it started with: ${names.join(", ")}. The configuration names others by now: if you changed it, that counts from the next run on; if not, the agent did.`,
  );
  await requireGates(kept, prepared);
  return kept;
}

/** The operator's uncommitted work: a reason not to start, or (`--allow-dirty`) left exactly as it is. */
async function pathsToLeaveAlone(
  { project, source, otherLists, settings }: Prepared,
  allowDirty: boolean,
  state: State,
): Promise<readonly string[]> {
  // Work in worktrees touches none of it.
  if (settings.worktrees != null) return [];
  // What a killed run left in the middle of an iteration belongs to that iteration, and recovery takes it up.
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

/**
 * The first signal asks the agent to stop, and the iteration is recorded. The second ends everything at once; the next
 * run records what is open as interrupted. A program that drives the run itself aborts its signal once instead.
 */
function onInterrupt(
  journal: Journal,
  ports: Ports,
  { signal, say }: { readonly signal?: AbortSignal; readonly say: (text: string) => void },
) {
  let hasBegun = false;
  const requestStop = (): void => {
    const { run } = journal.state;
    if (hasBegun && isOpen(run))
      void journal
        .record({ type: "stop.requested", run: run.id, urgency: "now" })
        // A log that takes no facts any more ends an embedded run by itself.
        .catch(() => (signal === undefined ? leaveAtOnce(journal, ports) : undefined));
  };
  const interruption =
    signal === undefined
      ? hearSignals(
          () => say("stopping, the iteration will be recorded (again: stop at once)"),
          () => void leaveAtOnce(journal, ports),
        )
      : { signal, release: () => {} };
  const asked = interruption.signal;
  asked.addEventListener("abort", requestStop);
  return {
    /** The run is on record: a request from before is recorded now. */
    runBegan() {
      hasBegun = true;
      if (asked.aborted) requestStop();
    },
    release() {
      interruption.release();
      asked.removeEventListener("abort", requestStop);
    },
  };
}

async function leaveAtOnce(journal: Journal, ports: Ports): Promise<never> {
  await Promise.all(journal.state.iterations.flatMap(markersOf).map((marker) => ports.agents.sweep(marker)));
  process.exit(EXIT_CODES.stopped);
}

const CTRL_C = "\u0003";

/** While a run waits at a terminal, the key `r` ends the wait; `rest` gives the keyboard back. */
function listenForRetry(log: Log) {
  const { stdin } = process;
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
    follow(event: Recorded) {
      if (event.type === "wait.started") listen(event.run);
      else if (["iteration.started", "retry.requested", "run.ended"].includes(event.type)) rest();
      return Promise.resolve();
    },
    rest,
  };
}
