import type { EntryHit, EntryPage, TextPage } from "../core/views/overview.ts";
import type { Recorded, Event } from "../core/events.ts";
import type { State } from "../core/state.ts";
import type { ListChange } from "../core/plan-checks.ts";
import type { Plan, SourceIdentity, Task, TaskId } from "../core/plan.ts";
import type { AgentReport, Usage } from "../core/streams/agent-report.ts";
import type { Evidence, FileSpan, Leftover, Leftovers } from "../core/verdict/evidence.ts";
import type { FieldEdit } from "../core/review/story-review.ts";
import type { GateResult } from "../core/verdict/checked-gate.ts";
import type { AgentSettings, Commands, GateSettings, VerifySettings } from "../core/settings.ts";
import type { Instant } from "../core/time.ts";
import type { ParallelWork } from "./parallel-ports.ts";
import type { ExitSignal } from "../core/loop/brakes.ts";
import type { AnalyzerAnswer, PluginAnswers } from "../core/verdict/plugin-answers.ts";
import type { Notice } from "../core/views/notice.ts";

/** Everything the engine needs from the outside; each port has one contract suite. */
export interface Ports {
  readonly log: Log;
  /** Who this is, of several that share the run; missing where nobody does. */
  readonly worker?: string;
  readonly commands: Commands;
  readonly source: TaskSource;
  readonly agents: Agents;
  /** The user's checkout. */
  readonly workspace: Workspace;
  /** For tasks that are worked on side by side; null where there are no worktrees. */
  readonly parallel: ParallelWork | null;
  readonly gates: Gates;
  readonly inboxFiles: InboxFiles;
  readonly notes: Notes;
  readonly clock: Clock;
  /** The names of those that are loaded here. */
  readonly plugins?: readonly string[];
  /** Missing where there are no plugins that have something to say. */
  readonly advisers?: Advisers;
  /** Views and screens. Called in order, once per fact, after it is durable. */
  readonly followers: readonly Follower[];
}

/** The operator's file (or words). Marking changes the mark and not one other byte. */
export interface TaskSource {
  readonly identity: SourceIdentity;
  /** The files it is read from; they are the operator's, and never count as uncommitted changes of somebody. */
  readonly files: readonly SourceFile[];
  /** Rejects with `bad-tasks` when the plan cannot be worked on (a cycle, a duplicate id), naming ids and lines. */
  observe(): Promise<Plan>;
  /** What the source asks of the run as a whole. */
  demands(): Promise<SourceDemands>;
  /** Safe to repeat; a task that is gone from the file is left alone. */
  mark(task: TaskId, accepted?: AcceptedWork): Promise<void>;
  /** Of a source that is a file. */
  unmark?(task: TaskId): Promise<void>;
  /** Of a source that is a file: the agent's edits of it are undone. */
  readonly list?: OperatorsList;
  /** Of any other: takes back every mark that is not of a task in `done`, and answers the ids of these. */
  takeBackMarks?(done: ReadonlySet<TaskId>): Promise<readonly TaskId[]>;
  /** The same file, as it stands on some branch, with the task marked or not. */
  markedIn(file: Buffer, task: TaskId, isDone: boolean): Buffer;
  /** Of a source whose tasks may have a review state. */
  readonly stories?: Stories;
  /** The words in a pull request by which its merge marks the task; null when there are none. */
  closingWords?(task: TaskId): string | null;
}

/** What a source may tell people about a task that it marks. */
export interface AcceptedWork {
  readonly run: string;
  readonly iteration: number;
  readonly commit: string | null;
  /** The names of the gates that had to pass. */
  readonly gates: readonly string[];
}

/** The file with the tasks, in the user's checkout or (with a root) an agent's copy of it in a worktree. */
export interface OperatorsList {
  /** Keeps the file as it is, durably, before an agent starts. */
  keep(): Promise<void>;
  /**
   * The agent is gone: keeps what it made of the file. What changes from now on is somebody else's doing. `written` are
   * all files that it wrote; null where nobody knows them all. True: something that was no file is gone from its place.
   */
  see(written: readonly string[] | null): Promise<boolean>;
  /**
   * Puts the file back as it was kept, if the agent changed it, and keeps both versions under the iteration's number.
   * Answers what the agent's edit would change. Safe to repeat, also after a crash at any point.
   */
  putBack(request: PutBackRequest): Promise<readonly ListChange[]>;
  /** What is in it now, of a file with stories; undefined when it is gone, or cannot be read as what it is. */
  read(): Promise<unknown>;
}

export interface PutBackRequest {
  readonly iteration: number;
  /**
   * The edits of stories that stay, of those that are in the agent's version of the file; undefined is one that is
   * gone, or cannot be read as what it is.
   */
  readonly settle?: ((file: unknown) => readonly FieldEdit[]) | undefined;
}

/** The file whose stories have a review state. */
export interface Stories {
  /** Sets fields; all else stays byte for byte. Safe to repeat. */
  edit(edits: readonly FieldEdit[]): Promise<void>;
}

export interface SourceFile {
  /** Relative to the root of the workspace. */
  readonly path: string;
  /** Whether the agent's edits of it are work, to be committed and counted. */
  readonly isAgents: boolean;
}

export interface SourceDemands {
  /** Commands that must pass, beside the configured gates. */
  readonly checks: readonly string[];
  /** The branch to work on; made from the current one if it does not exist. */
  readonly branch: string | null;
}

/** The reason of an abort that is for this one agent: it is ended at once, and not asked first. */
export const CANCELLED = "cancelled";

export interface Agents {
  /**
   * Runs one agent process to its end. Resolves however it ends; aborting stops the agent. Rejects only when the
   * transcript cannot be written.
   */
  run(request: AgentRequest, signal: AbortSignal): Promise<AgentReport>;
  /** Gives a message to the running agent of an iteration; false when it cannot take one. */
  send(iteration: number, text: string): Promise<boolean>;
  /** Ends every process that still carries the marker; answers how many there were. */
  sweep(marker: string): Promise<number>;
  /** What is left of an iteration that nobody saw end. */
  recoverReport(iteration: number, startedAt: Instant): Promise<AgentReport>;
}

export interface AgentRequest {
  readonly agent: AgentSettings;
  readonly prompt: string;
  readonly promise: { readonly completion: string; readonly requireXml: boolean };
  readonly run: string;
  readonly task: TaskId;
  readonly stage: string;
  readonly iteration: number;
  readonly ordinal: number;
  readonly maxIterations: number;
  /** Where it works; missing: in the user's checkout. */
  readonly root?: string;
  /** It reads the claim of another, and changes nothing; missing: it works. */
  readonly part?: "reader";
  /** What the task is, for an agent that asks. */
  readonly about: Pick<Task, "title" | "description" | "criteria">;
  /** The session to go on with; null begins one. */
  readonly session: { readonly id: string; readonly used: Usage } | null;
  readonly timeoutMs: number;
  /** After so long without a sign of life it is ended; 0 is off. */
  readonly idleMs: number;
  /** It is ended when it has cost more than this; missing or null: it may cost any amount. */
  readonly budgetUsd?: number | null;
  readonly marker: string;
  /** Messages may follow while it runs, if it can take any. */
  readonly mayGetMessages: boolean;
  /** Called as soon as it is gone, and again when something of it had lived on: the look at its work may begin. */
  readonly onGone: () => void;
}

/** What a running agent is doing right now; shown, never recorded. */
export interface Progress {
  readonly iteration: number;
  readonly task: TaskId;
  readonly stage: string;
  readonly agent: string;
  readonly elapsedMs: number;
  readonly timeoutMs: number;
  readonly outputBytes: number;
  /** The last line of output, redacted and bounded. */
  readonly lastLine: string;
  readonly currentFile: string | null;
  readonly lastTool: string | null;
  readonly toolCalls: number;
  readonly filesTouched: number;
  readonly costUsd: number | null;
}

/** The directory the agent works in, and its git repository. */
export interface Workspace {
  snapshot(): Promise<Snapshot>;
  /** Whether an agent that is still running has written anything. Takes no lock. */
  hasWritten(request: WatchRequest): Promise<boolean>;
  /** The agent is gone: the look at what it did may begin, though nobody asks for it yet. */
  lookAhead(): void;
  /** The change set since the iteration's and the task's start; commits what the agent left, if it may. */
  collect(request: CollectRequest): Promise<Evidence>;
  /** Commits what agents have left, whoever commits otherwise, before it leaves the branch with the rest. */
  commitWork(request: CommitRequest & WatchRequest): Promise<CommittedWork>;
  /**
   * Commits just the task source's mark, unless a process did so that died before it could record it; null when there was
   * nothing to commit.
   */
  commitMark(request: MarkRequest): Promise<MarkCommit | null>;
  /** The moment before gates run, by the dates of files; null where these are too coarse to tell. */
  beforeGates(): Promise<number | null>;
  /**
   * What lies uncommitted, after gates that began at a moment. What they changed (a coverage report, say) is theirs, so
   * that it does not count as the next agent's work; what was there stays its owner's, though a gate went over it.
   */
  leftoversAfterGates(before: Leftovers, began: number | null): Promise<Leftovers>;
  /**
   * Lets gates run where the check files among these are as they were at the base, and all else as it is now. Nobody else
   * sees it, and the work tree itself does not change, whoever is killed when.
   */
  withOldChecks<Result>(
    request: OldChecksRequest,
    use: (place: GatePlace) => Promise<Result>,
  ): Promise<Result>;
  /** What a commit range changes, as a patch of bounded length. */
  patch(from: string | null, to: string | null): Promise<{ readonly text: string; readonly isCut: boolean }>;
  /** What is uncommitted, left out what git ignores and what is ours. */
  dirtyPaths(ignore: readonly string[]): Promise<readonly string[]>;
  /** Removes what a killed process left in the way (a stale `index.lock`, a file it had half written). */
  clearLeftovers(): Promise<void>;
}

export type CommittedWork =
  | { readonly is: "committed"; readonly head: string | null; readonly left: readonly string[] }
  /** HEAD is neither where it was, nor at a commit that this call has made before. */
  | { readonly is: "moved" };

export interface MarkCommit {
  readonly commit: string;
  readonly parent: string | null;
}

export interface Snapshot {
  readonly head: string | null;
  /** Null when HEAD is detached. */
  readonly branch: string | null;
}

export interface CommitRequest {
  readonly run: string;
  readonly task: TaskId;
  readonly iteration: number;
  readonly title: string;
  readonly hooks: boolean;
}

export interface MarkRequest extends CommitRequest {
  readonly path: string;
  /** For the commit's subject; missing when the task is done. */
  readonly what?: string;
}

export interface WatchRequest {
  readonly from: Snapshot;
  /** Never counted and never committed as the agent's work: the task source. */
  readonly ignore: readonly string[];
  readonly leaveAlone: readonly string[];
  /** What agents had left before the iteration: no news unless somebody touched it since. */
  readonly leftBefore: readonly Leftover[];
  /** What gates left, or changed since the last look: neither committed nor counted unless somebody touched it since. */
  readonly leftByGates: readonly Leftover[];
  readonly gatesRan: FileSpan | null;
}

export interface OldChecksRequest extends Pick<CollectRequest, "gates" | "since"> {
  readonly base: string | null;
  readonly paths: readonly string[];
}

export interface CollectRequest extends CommitRequest, WatchRequest {
  /** From where the task's own work counts. */
  readonly taskBase: string | null;
  readonly commit: "ralph" | "agent";
  /** What agents had left before the task. */
  readonly leftBeforeTask: readonly Leftover[];
  /** Files that the agent says it wrote. */
  readonly cited: readonly string[];
  /** Files that its tools say they wrote. */
  readonly written: readonly string[];
  /** What this task's iterations had changed when other work came between; it counts as far as it still stands. */
  readonly earlier: { readonly from: string | null; readonly paths: readonly string[] };
  /** What the agent must not change, in this task. */
  readonly isProtected: (path: string) => boolean;
  /** What is looked for in check files, and whether files that only gained lines count, too. */
  readonly gates: readonly GateSettings[];
  readonly oldChecks: VerifySettings["oldChecks"];
  /** When the task's loop began: what git ignores and is older is nobody's work. */
  readonly since: Instant;
  /** The agent may be done: what only a claim needs is looked for, too. */
  readonly isClaimed: boolean;
}

export interface Gates {
  /** In the user's checkout, unless another place is given. */
  check(
    gates: readonly GateSettings[],
    marker: string,
    signal: AbortSignal,
    root?: string,
    /** Program and arguments that stand before each gate's own command. */
    prefix?: readonly string[],
  ): Promise<readonly GateResult[]>;
}

/** Where gates run, and by what. */
export interface GatePlace {
  readonly root: string;
  readonly prefix: readonly string[];
}

/** Inbox files to the operator under `.ralph/`. */
export interface InboxFiles {
  /** Writes the inbox file; answers its digest, which is another one whenever it is saved again. */
  publish(file: string, text: string): Promise<string>;
  /** The inbox file as it is now, or null when somebody deleted it. */
  read(file: string): Promise<{ readonly text: string; readonly sha256: string } | null>;
  withdraw(file: string): Promise<void>;
}

export interface Notes {
  /** As an agent finds it from its work tree. */
  readonly path: string;
  /** The end of `progress.txt`, bounded; empty when there is none. */
  read(): Promise<string>;
}

export interface Clock {
  now(): Instant;
  /** Resolves after so long, or at once when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Follower {
  follow(event: Recorded, state: State): Promise<void>;
  /** After the last of the facts that came together: the moment to show where things stand. */
  settle?(state: State): Promise<void>;
}

/**
 * Plugins that say something about iterations. Their answers are recorded as facts, and the log can be read without them.
 * None of the calls rejects: a plugin that fails is named in its answer, or left out with a warning.
 */
export interface Advisers {
  /** What analyzers make of the agent's words. */
  analyze(subject: Subject, report: AgentReport): Promise<readonly AnalyzerAnswer[]>;
  /** What guards, and exit rules of an open-ended task, say about the work. Undefined: there are none to ask. */
  inspect(subject: Subject, work: Work): Promise<PluginAnswers | undefined>;
}

/** The iteration that it is about. */
export interface Subject {
  readonly run: string;
  readonly task: Pick<Task, "id" | "title" | "description" | "criteria">;
  readonly stage: string;
  readonly iteration: number;
  readonly agent: string;
  /** Where it was worked on; undefined: in the user's checkout. */
  readonly root: string | undefined;
}

export interface Work {
  readonly report: AgentReport;
  readonly evidence: Evidence;
  readonly isClaimed: boolean;
  /** Of the iterations before; null when the task is not open-ended. */
  readonly exitSignals: readonly ExitSignal[] | null;
}

/** The append-only log of one project. */
export interface Log {
  /**
   * Appends all events or none, durably, in one transaction. With an expectation it appends only if
   * nothing came between, else it answers `null` and has written nothing. What follows from the events as they were
   * recorded is appended with them.
   */
  append(
    events: readonly Event[],
    expected?: Expectation,
    following?: Following,
  ): Promise<readonly Recorded[] | null>;
  /**
   * Appends what is decided in the transaction, when everything after a position is known: nobody comes between. Null:
   * nothing was decided, or the calls are used up. Where it is missing, few write at the same time, and `append` is asked
   * until nobody has come between.
   */
  readonly appendDecided?: AppendDecided;
  /** Events after a position, oldest first. */
  read(after: number, filter?: LogFilter): Promise<readonly Recorded[]>;
  /** Iterations of all logs in the store that began since a moment, or since the calls were last reset. */
  countCalls(since: Instant): Promise<number>;
  /** What iterations of all logs in the store have cost since a moment, as far as it is known. */
  sumCosts(since: Instant): Promise<number>;
  /** The state stored at a position, if one was stored by the same version of the fold. */
  loadSnapshot(version: number): Promise<State | null>;
  saveSnapshot(state: State, version: number): Promise<void>;
  /** Forgets the project: every event and the snapshot. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What events decide at once, as they were recorded, and after others' news if it was asked for. Pure: it is asked in the
 * transaction, perhaps more than once.
 */
export type Following = (recorded: readonly Recorded[], news: readonly Recorded[]) => readonly Event[];

export type AppendDecided = (
  after: number,
  decide: Deciding,
  calls?: Expectation["calls"],
) => Promise<readonly Recorded[] | null>;

/** What is to be appended after the news, if anything. Pure: it may be asked more than once. */
export type Deciding = (news: readonly Recorded[]) => readonly Event[] | null;

export interface Expectation {
  /** The last event about this task is at this position. */
  readonly task?: { readonly id: TaskId; readonly position: number };
  /** The last event of the whole log is at this position. */
  readonly position?: number;
  /** Nothing is expected of this one: everything after this position, and before the events, is told to what follows. */
  readonly since?: number;
  /** So many iterations, at most, have begun since a moment in all logs of the store. */
  readonly calls?: { readonly since: Instant; readonly below: number };
}

export interface LogFilter {
  readonly types?: readonly Event["type"][];
  readonly task?: TaskId;
  readonly iteration?: number;
  /** Both of them included. */
  readonly iterations?: { readonly from: number; readonly to: number };
  /** At most so many. */
  readonly limit?: number;
}

/** One way to reach a person. */
export interface Channel {
  readonly name: ChannelName;
  /** Where it leads, for people, without secrets. */
  readonly shown: string;
  /** Resolves however it ends. An abort means that nobody waits any longer. */
  send(notice: Notice, signal: AbortSignal): Promise<Delivery>;
}

export type ChannelName = "webhook" | "desktop" | "command" | `plugin:${string}`;

export type Delivery =
  | { readonly is: "delivered" }
  /** Trying again would not help. */
  | { readonly is: "refused"; readonly why: string }
  | { readonly is: "failed"; readonly why: string; readonly retryAfterMs: number | null };

/** Up to where each channel has had its notices; survives the process. */
export interface Delivered {
  /** Null: nothing is known, as for a channel that is new. */
  read(channel: ChannelName): number | null;
  write(channel: ChannelName, position: number): void;
}

export type TextKind = "transcript" | "prompt";

/** What was said in an iteration, of any size. Null: the text is not there. */
export interface IterationTexts {
  bytes(iteration: number, kind: TextKind): Promise<number | null>;
  /** A negative `from` counts from the end. Whatever would move a terminal is left out of the text. */
  read(iteration: number, kind: TextKind, from: number, limit: number): Promise<TextPage | null>;
  /** Of the transcript, in the same way. */
  entries(iteration: number, from: number, limit: number): Promise<EntryPage | null>;
  /** The first of very many entries of the transcript that hold the words. */
  search(iteration: number, words: string, signal: AbortSignal): Promise<readonly EntryHit[] | null>;
}
