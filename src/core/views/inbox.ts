import { asArgument } from "../text.ts";
import { type Complexity, complexityOf, EXHAUSTED_RUNS_MAX } from "../loop/iteration-timeout.ts";
import { type Question, type State, taskState, type TaskState } from "../state.ts";
import { isMergeHeld, statusOf, whyBlocked } from "../loop/task-status.ts";
import { changesInWords, type Proposal } from "../plan-checks.ts";
import type { Task, TaskId } from "../plan.ts";
import { redGates, redSentence } from "../verdict/checked-gate.ts";
import { formatDuration, type Instant, isoTime } from "../time.ts";
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

/** What agents did to the list and a person has not settled; a mark that was made meanwhile asks nobody. */
export function openProposals(state: State): readonly Proposal[] {
  const tasks = state.plan?.tasks ?? [];
  const done = new Set(tasks.filter((task) => statusOf(state, task) === "done").map(({ id }) => id));
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

/** Questions that nobody has answered, the oldest first; those of tasks that are done ask nobody any more. */
export function openQuestions(state: State): readonly OpenQuestion[] {
  const done = new Set(
    (state.plan?.tasks ?? []).filter((task) => statusOf(state, task) === "done").map(({ id }) => id),
  );
  return Object.values(state.tasks)
    .flatMap(({ id, question }) =>
      question === null || question.answer !== null || done.has(id) ? [] : [{ task: id, ...question }],
    )
    .toSorted((a, b) => a.askedAt - b.askedAt);
}

const MINUTE_MS = 60_000;
const TIMEOUTS_SHOWN = 5;
const MANY_CRITERIA = 4;

export type Suggestion =
  "increase_timeout" | "fix_gate" | "answer_needed" | "split_task" | "skip_subtasks" | "manual_review";

/** A task that only a person can move, and how. */
export interface BlockedTask {
  readonly id: TaskId;
  /** Empty when the task is not in the current list. */
  readonly title: string;
  /** As it was recorded. */
  readonly reason: string;
  /** As its iterations tell it, which is often more than the reason says. */
  readonly why: string;
  /** Iterations that failed or were rejected. */
  readonly attempts: number;
  readonly lastTimeoutMs: number | null;
  readonly complexity: Complexity | null;
  readonly suggestion: Suggestion;
  /** What to do before the command; null when the command is all. */
  readonly first: string | null;
  readonly command: string;
}

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

function blockedTask(state: State, id: TaskId, records: readonly IterationRecord[]): BlockedTask {
  const task = state.plan?.tasks.find((one) => one.id === id);
  const known = Object.hasOwn(state.tasks, id) ? state.tasks[id] : undefined;
  const reason = (known && whyBlocked(known)) ?? "";
  const levels = state.run?.settings.adaptiveTimeout.levels;
  const advice = adviceFor({ id, task, known, records: records.filter(isAgents) });
  return {
    id,
    title: task?.title ?? "",
    reason,
    attempts: records.filter(isAttempt).length,
    lastTimeoutMs: records.at(-1)?.timeoutMs ?? null,
    complexity: task === undefined || levels === undefined ? null : complexityOf(task, levels),
    why: reason,
    command: `ralph unblock ${asArgument(id)}`,
    ...advice,
  };
}

interface Case {
  readonly id: TaskId;
  readonly task: Task | undefined;
  readonly known: TaskState | undefined;
  /** Those that say something of the agent. */
  readonly records: readonly IterationRecord[];
}

type Advice = Pick<BlockedTask, "suggestion" | "first"> & Partial<Pick<BlockedTask, "why" | "command">>;

/** The first that applies: what the agent or Ralph said outright comes before what can be read from it. */
function adviceFor(blocked: Case): Advice {
  return (
    clearTheWay(blocked) ??
    answerNeeded(blocked) ??
    suspended(blocked) ??
    increaseTimeout(blocked) ??
    fixGate(blocked) ??
    splitTask(blocked) ??
    skipSubtasks(blocked) ??
    installGate(blocked) ??
    manualReview(blocked)
  );
}

function clearTheWay({ known }: Case): Advice | null {
  if (known === undefined || !isMergeHeld(known)) return null;
  const isDirty = whyBlocked(known)?.includes("uncommitted changes") === true;
  const first = isDirty ? "commit or put away what is in the way" : "settle what it says";
  return { suggestion: "manual_review", first };
}

function answerNeeded({ records }: Case): Advice | null {
  const last = records.at(-1);
  // A claim that a gate could not check says nothing that a person could settle.
  const isForGate = last?.report?.claim.is !== "blocked" && redGates(last?.gates ?? []).length > 0;
  if (last?.verdict !== "blocked" || isForGate) return null;
  return { suggestion: "answer_needed", first: "settle what it says" };
}

function suspended(blocked: Case): Advice | null {
  const agent = blocked.records.at(-1)?.agent;
  // With a successor, the last iteration would be the successor's.
  return agent !== undefined && blocked.known?.suspended.includes(agent) === true
    ? manualReview(blocked)
    : null;
}

function increaseTimeout({ id, records }: Case): Advice | null {
  const others = records.findLastIndex(({ report }) => report?.ending.is !== "timed-out");
  const timeouts = records.slice(others + 1);
  const last = timeouts.at(-1);
  const isRow = timeouts.length > 1 || timeouts.length === records.filter(isAttempt).length;
  if (last === undefined || !isRow) return null;
  const times = timeouts.slice(-TIMEOUTS_SHOWN).map(({ timeoutMs }) => formatDuration(timeoutMs));
  const minutes = Math.max(1, Math.round((last.timeoutMs * 2) / MINUTE_MS));
  return {
    suggestion: "increase_timeout",
    first: null,
    why: `${timeouts.length} ${timeouts.length === 1 ? "timeout" : "timeouts"} at ${times.join(", ")}`,
    command: `ralph unblock ${asArgument(id)} --timeout ${minutes}m`,
  };
}

function fixGate({ records }: Case): Advice | null {
  const red = redGates(records.at(-1)?.gates ?? []);
  if (red.length === 0) return null;
  const isMissing = red.every(({ status }) => status === "missing");
  return {
    suggestion: "fix_gate",
    first: isMissing ? "install what it runs" : "see what it says (ralph gates) and mend it",
    why: red.map(redSentence).join("; "),
  };
}

function splitTask({ known }: Case): Advice | null {
  if ((known?.exhaustedRuns ?? 0) < EXHAUSTED_RUNS_MAX) return null;
  return { suggestion: "split_task", first: "split it into smaller tasks" };
}

function skipSubtasks({ task, records }: Case): Advice | null {
  const rejected = records.filter(({ verdict }) => verdict === "rejected");
  const isCloseToIt = rejected.length > 1 && rejected.some(({ madeProgress }) => madeProgress);
  const criteria = task?.criteria.length ?? 0;
  if (criteria < MANY_CRITERIA || records.at(-1)?.verdict !== "rejected" || !isCloseToIt) return null;
  return {
    suggestion: "skip_subtasks",
    first: `leave those of its ${criteria} criteria for later that can wait`,
  };
}

/** A tool that is not there rejects nothing by itself, but then nobody has checked the work either. */
function installGate({ records }: Case): Advice | null {
  const missing = (records.at(-1)?.gates ?? []).filter(
    ({ required, status }) => required && status === "missing",
  );
  if (missing.length === 0) return null;
  return {
    suggestion: "fix_gate",
    first: "install what it runs",
    why: missing.map(redSentence).join("; "),
  };
}

function manualReview({ id }: Case): Advice {
  return { suggestion: "manual_review", first: `see what happened (ralph why ${asArgument(id)})` };
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
