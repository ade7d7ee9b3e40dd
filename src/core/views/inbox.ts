import { asArgument } from "../text.ts";
import { complexityOf, EXHAUSTED_RUNS_MAX } from "../loop/iteration-timeout.ts";
import { type Question, type State, taskState, type TaskState } from "../state.ts";
import { isMergeHeld, statusOf, whyBlocked } from "../loop/task-status.ts";
import { changesInWords, type Proposal } from "../plan-checks.ts";
import type { TaskId } from "../plan.ts";
import { type CheckedGate, redGates, redSentence } from "../verdict/checked-gate.ts";
import { formatDuration, type Instant, isoTime } from "../time.ts";
import { count } from "./explain-words.ts";
import type { IterationRecord } from "./iteration-record.ts";

/** Something that waits for a person; the names are part of the public contract. */
export interface InboxItem {
  readonly task: string;
  /** `review`: accepted work that waits for an approval. */
  readonly kind: "decide" | "blocked" | "review";
  readonly text: string;
  readonly options: readonly string[];
  /** Taken at the deadline. */
  readonly default: string | null;
  readonly deadline: string | null;
  /** Where the question came up; null for a blocked task. */
  readonly iteration: number | null;
}

/** Everything that waits for a person, as `ralph inbox` and `status.json` list it, by task. */
export function inboxOf(state: State): readonly InboxItem[] {
  const blocked = blockedIds(state).map((task): InboxItem => {
    const text = whyBlocked(taskState(state, task)) ?? "";
    return { task, kind: "blocked", text, options: [], default: null, deadline: null, iteration: null };
  });
  const isBlocked = (id: string): boolean => blocked.some(({ task }) => task === id);
  const questions = openQuestions(state)
    .filter(({ task }) => !isBlocked(task))
    .map(({ task, text, options, default: answer, deadlineAt, iteration, acceptance }): InboxItem => {
      const deadline = deadlineAt === null ? null : isoTime(deadlineAt);
      const kind = acceptance?.isApproval === true ? "review" : "decide";
      return { task, kind, text, options, default: answer, deadline, iteration };
    });
  const order = Object.keys(state.tasks);
  return [...questions, ...blocked].toSorted((a, b) => order.indexOf(a.task) - order.indexOf(b.task));
}

/** Tasks that need nobody any more. */
export function doneIds(state: State): ReadonlySet<TaskId> {
  const done = (state.plan?.tasks ?? []).filter((task) => statusOf(state, task) === "done");
  return new Set(done.map(({ id }) => id));
}

/** What agents did to the list and a person has not settled; a mark that was made meanwhile asks nobody. */
export function openProposals(state: State): readonly Proposal[] {
  const done = doneIds(state);
  return state.proposals.filter(({ changes }) =>
    changes.some((change) => change.is !== "ticked" || !done.has(change.task)),
  );
}

export function proposalEntry({ number, task, path, changes }: Proposal) {
  return { number, task, iteration: number, path, changes: changesInWords(changes) };
}

export function proposalLines({ number, task, path, changes }: Proposal): readonly string[] {
  return [
    `${number}  in ${path} the agent of ${task} ${changesInWords(changes)}`,
    `    → ralph tasks accept ${number}, or: ralph tasks dismiss ${number}`,
  ];
}

/** An agent is at work on the operator's own copy of the list, or nobody has looked yet what it did to it. */
export function isListGuarded(state: State): boolean {
  return state.iterations.some(
    ({ task, phase }) => phase.is !== "observed" && taskState(state, task).worktree === null,
  );
}

export interface OpenQuestion extends Question {
  readonly task: TaskId;
}

/** "options: one, all   default: one in 30m", as far as there is something to say. */
export function choiceInWords(
  { options, default: answer, deadlineAt }: Pick<Question, "options" | "default" | "deadlineAt">,
  now: Instant,
): string {
  const until = deadlineAt === null ? null : formatDuration(Math.max(0, deadlineAt - now));
  const parts = [
    ...(options.length === 0 ? [] : [`options: ${options.join(", ")}`]),
    ...(answer === null ? [] : [`default: ${answer}${until === null ? "" : ` in ${until}`}`]),
    ...(answer === null && until !== null ? [`wanted in ${until}`] : []),
  ];
  return parts.join("   ");
}

/** Questions that nobody has answered, the oldest first; those of tasks that are done or skipped ask nobody any more. */
export function openQuestions(state: State): readonly OpenQuestion[] {
  const done = doneIds(state);
  return Object.values(state.tasks)
    .flatMap(({ id, question, isSkipped }) =>
      question === null || question.answer !== null || isSkipped || done.has(id)
        ? []
        : [{ task: id, ...question }],
    )
    .toSorted((a, b) => a.askedAt - b.askedAt);
}

const MINUTE_MS = 60_000;
const TIMEOUTS_SHOWN = 5;
const MANY_CRITERIA = 4;

/** A task that only a person can move, and how. */
export type BlockedTask = ReturnType<typeof blockedTask>;

/** In the order of the task list; `records` are all iterations of these tasks, oldest first. */
export function blockedTasks(state: State, records: readonly IterationRecord[]): readonly BlockedTask[] {
  return blockedIds(state).map((id) => {
    const own = records.filter((record) => record.task === id);
    return blockedTask(state, id, own);
  });
}

/** A task that its owner marked as done waits for nobody any more. */
export function blockedIds(state: State): readonly TaskId[] {
  const planned = state.plan?.tasks ?? [];
  const ids = new Set(planned.map(({ id }) => id));
  const others = Object.values(state.tasks).filter(({ id }) => !ids.has(id));
  return [
    ...planned.filter((task) => statusOf(state, task) === "blocked"),
    ...others.filter(({ blockedReason }) => blockedReason !== null),
  ].map(({ id }) => id);
}

function blockedTask(state: State, id: TaskId, records: readonly IterationRecord[]) {
  const task = state.plan?.tasks.find((one) => one.id === id);
  const known = taskState(state, id);
  const reason = whyBlocked(known) ?? "";
  const levels = state.run?.settings.adaptiveTimeout.levels;
  return {
    id,
    /** Empty when the task is not in the current list. */
    title: task?.title ?? "",
    /** As it was recorded. */
    reason,
    /** Iterations that failed or were rejected. */
    attempts: records.filter(isAttempt).length,
    lastTimeoutMs: records.at(-1)?.timeoutMs ?? null,
    complexity: task === undefined || levels === undefined ? null : complexityOf(task, levels),
    /** As its iterations tell it, which is often more than the reason says. */
    why: reason,
    command: `ralph unblock ${asArgument(id)}`,
    ...adviceFor(known, task?.criteria.length ?? 0, records.filter(isAgents)),
  };
}

interface Advice {
  readonly suggestion:
    "increase_timeout" | "fix_gate" | "answer_needed" | "split_task" | "skip_subtasks" | "manual_review";
  /** What to do before the command; null when the command is all. */
  readonly first: string | null;
  readonly why?: string;
  readonly command?: string;
}

/**
 * The first that applies: what the agent or Ralph said outright comes before what can be read from its iterations,
 * which are those that say something of the agent.
 */
function adviceFor(task: TaskState, criteria: number, records: readonly IterationRecord[]): Advice {
  const { id, suspended, exhaustedRuns } = task;
  const review: Advice = {
    suggestion: "manual_review",
    first: `see what happened (ralph why ${asArgument(id)})`,
  };
  if (isMergeHeld(task)) {
    const isDirty = whyBlocked(task)?.includes("uncommitted changes") === true;
    return { ...review, first: isDirty ? "commit or put away what is in the way" : "settle what it says" };
  }
  const last = records.at(-1);
  if (last === undefined) return exhaustedRuns < EXHAUSTED_RUNS_MAX ? review : SPLIT;
  const red = redGates(last.gates);
  // A claim that a gate could not check says nothing that a person could settle.
  const isForGate = last.report?.claim.is !== "blocked" && red.length > 0;
  if (last.verdict === "blocked" && !isForGate)
    return { suggestion: "answer_needed", first: "settle what it says" };
  // With a successor, the last iteration would be the successor's.
  if (suspended.includes(last.agent)) return review;
  const timeouts = timeoutsInRow(records);
  if (timeouts.length > 0) return moreTime(id, timeouts);
  if (red.length > 0) return fixGates(red);
  if (exhaustedRuns >= EXHAUSTED_RUNS_MAX) return SPLIT;
  if (criteria >= MANY_CRITERIA && isCloseToIt(records))
    return {
      suggestion: "skip_subtasks",
      first: `leave those of its ${criteria} criteria for later that can wait`,
    };
  // A tool that is not there rejects nothing by itself, but then nobody has checked the work either.
  const missing = last.gates.filter(({ required, status }) => required && status === "missing");
  return missing.length > 0 ? fixGates(missing) : review;
}

const SPLIT: Advice = { suggestion: "split_task", first: "split it into smaller tasks" };

/** The timeouts that it ended with, if there are several or nothing else counts. */
function timeoutsInRow(records: readonly IterationRecord[]): readonly IterationRecord[] {
  const others = records.findLastIndex(({ report }) => report?.ending.is !== "timed-out");
  const timeouts = records.slice(others + 1);
  return timeouts.length > 1 || timeouts.length === records.filter(isAttempt).length ? timeouts : [];
}

function moreTime(id: TaskId, timeouts: readonly IterationRecord[]): Advice {
  const times = timeouts.slice(-TIMEOUTS_SHOWN).map(({ timeoutMs }) => formatDuration(timeoutMs));
  const last = timeouts.at(-1)?.timeoutMs ?? 0;
  const minutes = Math.max(1, Math.round((last * 2) / MINUTE_MS));
  return {
    suggestion: "increase_timeout",
    first: null,
    why: `${count(timeouts.length, "timeout")} at ${times.join(", ")}`,
    command: `ralph unblock ${asArgument(id)} --timeout ${minutes}m`,
  };
}

function fixGates(gates: readonly CheckedGate[]): Advice {
  const isMissing = gates.every(({ status }) => status === "missing");
  return {
    suggestion: "fix_gate",
    first: isMissing ? "install what it runs" : "see what it says (ralph gates) and mend it",
    why: gates.map(redSentence).join("; "),
  };
}

function isCloseToIt(records: readonly IterationRecord[]): boolean {
  const rejected = records.filter(({ verdict }) => verdict === "rejected");
  const isLast = records.at(-1)?.verdict === "rejected";
  return isLast && rejected.length > 1 && rejected.some(({ madeProgress }) => madeProgress);
}

/** One line: what to do, and what to type then. */
export function whatToDo({ first, command }: BlockedTask): string {
  return first === null ? command : `${first}, then ${command}`;
}

/** What `ralph blocked --json` prints of a task; the names are part of the public contract. */
export function blockedEntry(task: BlockedTask): Record<string, unknown> {
  return {
    id: task.id,
    title: task.title,
    reason: task.reason,
    attempts: task.attempts,
    last_timeout_seconds: task.lastTimeoutMs === null ? null : task.lastTimeoutMs / 1_000,
    complexity: task.complexity,
    suggestion: task.suggestion,
    command: task.command,
  };
}

/** Whether a word says which blocked tasks are meant: a complexity, or a word of why they are blocked. */
export function isMeantBy(filter: string, { complexity, reason, why }: BlockedTask): boolean {
  const wanted = words(filter);
  if (wanted === "") return false;
  return (
    complexity === filter.trim().toLowerCase() || ` ${words(`${reason} ${why}`)} `.includes(` ${wanted} `)
  );
}

function words(text: string): string {
  return (
    text
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}_]+/gu)
      ?.join(" ") ?? ""
  );
}

/** Somebody stopped it, or the service failed: it says nothing of the agent. */
function isAgents({ report, verdict }: IterationRecord): boolean {
  if (report === null || verdict === null) return false;
  const { ending, failure } = report;
  return ending.is !== "stopped" && ending.is !== "interrupted" && (failure?.class ?? "agent") === "agent";
}

function isAttempt(record: IterationRecord): boolean {
  return isAgents(record) && (record.verdict === "failed" || record.verdict === "rejected");
}
