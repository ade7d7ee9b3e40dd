import { taskState, type OpenIteration, type State, type TaskState } from "../loop/state.ts";
import { outsideInWords } from "../loop/outside-waits.ts";
import { statusOf, whyBlocked } from "../loop/task-status.ts";
import type { Task } from "../plan/task.ts";
import { isoTime } from "../time.ts";
import { clock } from "./explain-iteration.ts";
import { count, joined } from "./explain-words.ts";

/** What a task is waiting for, as the end of a sentence that begins with its id, and what a person can do. */
export interface Wait {
  readonly what: string;
  /** A command to type, or what to do before it; null when there is nothing to do. */
  readonly next: string | null;
}

/** `isDriven`: a process works on the run, so that what is open comes up by itself. */
export function waitOf(state: State, task: Task, isDriven: boolean): Wait {
  const wait = waitOfRun(state, task, isDriven);
  const { run } = state;
  if (run?.settings.shared !== true || wait.next === null) return wait;
  if (run.end !== null) return { ...wait, next: wait.next.replace("ralph run", "ralph submit") };
  return { ...wait, next: nextForWorkers(wait.next, isDriven) };
}

/** Workers go on by themselves, if there are any. */
function nextForWorkers(next: string, isDriven: boolean): string | null {
  if (!next.includes("ralph run")) return next;
  const before = next.replace(/(?: && |^|^go on: |^try again: )ralph run(?: --task .*)?$/, "");
  if (!isDriven) return [before, "ralph worker"].filter(Boolean).join(" && ");
  return before === "" ? null : before;
}

function waitOfRun(state: State, task: Task, isDriven: boolean): Wait {
  const known = taskState(state, task.id);
  switch (statusOf(state, task)) {
    case "done":
      return { what: doneInWords(state, known), next: null };
    case "doing":
      return known.completion === null
        ? { what: doingInWords(state, task), next: null }
        : { what: "was accepted, and is on its way to the base", next: isDriven ? null : "ralph run" };
    case "blocked":
      return {
        what: `is blocked: ${whyBlocked(known) ?? ""}`,
        next: known.blockedReason === null ? null : `settle it, then: ralph unblock ${task.id} && ralph run`,
      };
    case "undecided":
      return {
        what: `waits for an answer: ${known.question?.text ?? ""}${defaultInWords(known)}`,
        next: `ralph decide ${task.id} "…" && ralph run`,
      };
    case "failed":
      return { what: "is given up for this run", next: "try again: ralph run" };
    case "cancelled":
      return { what: "is cancelled", next: null };
    case "todo":
      return isDriven ? { ...openWait(state, task, known), next: null } : openWait(state, task, known);
  }
}

function defaultInWords({ question }: TaskState): string {
  if (question?.default == null || question.deadlineAt === null) return "";
  return ` (from ${isoTime(question.deadlineAt)} on the answer is "${question.default}")`;
}

function doneInWords({ plan }: State, { completion }: TaskState): string {
  if (completion !== null) return `was accepted in iteration ${completion.iteration}`;
  return `is marked as done in ${plan?.source.label ?? "the task list"}; Ralph did not verify it`;
}

function doingInWords({ iterations }: State, { id }: Task): string {
  const open = iterations.filter((one) => one.task === id).map(iterationInWords);
  return `is being worked on: ${joined(open)}`;
}

export function iterationInWords(open: OpenIteration): string {
  const phases: Readonly<Record<OpenIteration["phase"]["is"], string>> = {
    running: "works",
    ended: "has ended, and its changes are read",
    observed: "has ended, and its work is checked",
    checked: "has ended, and its work is judged",
  };
  return `iteration ${open.number} (${open.ordinal}/${open.maxIterations}) since ${clock(open.startedAt)}; ${open.agent} ${phases[open.phase.is]}`;
}

function openWait(state: State, task: Task, known: TaskState): Wait {
  const { run, plan } = state;
  const only = run?.settings.onlyTasks ?? null;
  if (only !== null && !only.includes(task.id))
    return { what: "was not part of the last run", next: `ralph run --task ${task.id}` };
  if (run !== null && known.exhaustedIn === run.id)
    return { what: "has used up its iterations of this run", next: "try again: ralph run" };
  const outside = plan && outsideInWords(plan, task);
  if (outside !== null) return { what: outside, next: "settle it, then: ralph run" };
  const needed = (plan?.tasks ?? []).filter(({ id }) => task.dependsOn.includes(id));
  const missing = needed.filter((other) => statusOf(state, other) !== "done").map(({ id }) => id);
  if (missing.length > 0)
    return { what: `waits for ${joined(missing)}`, next: `ralph why ${missing[0] ?? ""}` };
  if (known.retryAt !== null)
    return { what: `is tried again from ${clock(known.retryAt)} on`, next: "ralph run" };
  if (known.question?.answer != null && known.question.usedIn === null)
    return { what: `has its answer (${known.question.answer}) and goes on`, next: "ralph run" };
  if (known.iterations === 0) return { what: "has not been worked on yet", next: "ralph run" };
  return { what: `is open after ${count(known.iterations, "iteration")}`, next: "go on: ralph run" };
}
