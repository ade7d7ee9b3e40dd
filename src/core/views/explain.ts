import type { EventOf, Recorded } from "../events.ts";
import { EXIT_CODES, outsideInWords } from "../loop/outcome.ts";
import { type OpenIteration, type RunState, type State, taskState, type TaskState } from "../state.ts";
import { isAcceptedByPerson, isMergeHeld, statusOf, whyBlocked } from "../loop/task-status.ts";
import type { Task, TaskId } from "../plan.ts";
import { claimName } from "../streams/agent-report.ts";
import { formatDuration, isoTime } from "../time.ts";
import {
  claimOf,
  clock,
  correctionJson,
  correctionsInWords,
  deniedInWords,
  consequencesOf,
  verdictInWords,
} from "./explain-iteration.ts";
import { completionOf, correctionsOf, type IterationRecord, iterationRecords } from "./iteration-record.ts";
import { asSentence, count, joined, redBeforeInWords, shortCommit, workInWords } from "./explain-words.ts";
import { asArgument, capital } from "../text.ts";

/** Why the last run ended as it did, or what it is doing. */
export type RunExplanation = ReturnType<typeof explainRun>;

/** `isDriven`: whether the process of an open run is still there. */
export function explainRun(state: State, isDriven: boolean) {
  const { run, plan } = state;
  if (run === null)
    return { ...NO_RUN, headline: "No run yet in this repository.", tasks: [], next: "ralph run" };
  const isRunning = run.end === null && isDriven;
  const open = (plan?.tasks ?? []).filter((task) => statusOf(state, task) !== "done");
  return {
    run: run.id,
    outcome: run.end?.outcome ?? null,
    exitCode: run.end === null ? null : EXIT_CODES[run.end.outcome],
    reason: run.end?.reason ?? null,
    headline: runHeadline(state, run, isDriven),
    tasks: open.map((task) => {
      const { what, next } = waitOf(state, task, isRunning);
      const { id, title } = task;
      const seeWhy = taskState(state, id).workBase === null ? "" : `see why: ralph why ${asArgument(id)}; `;
      return {
        task: id,
        title,
        status: statusOf(state, task),
        text: `${id} ${asSentence(what)}`,
        next: next && `${seeWhy}${next}`,
      };
    }),
    next: nextOf(run, isDriven),
  };
}

const NO_RUN = { run: null, outcome: null, exitCode: null, reason: null };

function runHeadline(state: State, run: RunState, isDriven: boolean): string {
  const effort = count(run.iterations, "iteration");
  if (run.end !== null) {
    const time = formatDuration(run.end.at - run.startedAt);
    return `The last run ended as ${run.end.outcome} (exit code ${EXIT_CODES[run.end.outcome]}): ${asSentence(run.end.reason)} It took ${effort}, ${time}.`;
  }
  const isShared = run.settings.shared === true;
  if (!isDriven && isShared) return `The run stands still after ${effort}: no worker is here.`;
  if (!isDriven) return `The last run was interrupted after ${effort}: its process is gone.`;
  const stopping =
    run.stop === null ? "" : ` It was asked to stop${run.stop === "now" ? "" : " after this iteration"}.`;
  const by = isShared ? "" : ` (pid ${run.pid})`;
  if (run.waitingUntil !== null)
    return `A run is on${by}; it waits until ${clock(run.waitingUntil)}.${stopping}`;
  if (run.isPaused)
    return `A run is on${by}; it is paused: no iteration begins until ralph resume.${stopping}`;
  if (run.waitsForPerson) return `A run is on${by}; it waits for you.${stopping}`;
  const doing = state.iterations.map((open) => `${open.task}, ${iterationInWords(open)}`).join("; ");
  return `A run is on${by}: ${doing === "" ? "between two iterations" : doing}.${stopping}`;
}

/** Beside what each task waits for. */
function nextOf(run: RunState, isDriven: boolean): string | null {
  const isShared = run.settings.shared === true;
  const goOn = isShared ? "go on: ralph submit" : "go on: ralph run";
  if (run.end === null && isShared) return isDriven ? "watch: ralph monitor" : "start a worker: ralph worker";
  if (run.end === null) return isDriven ? "watch: ralph logs --follow" : goOn;
  switch (run.end.outcome) {
    case "misconfigured":
      return "see what is missing: ralph doctor";
    case "stopped":
    case "limited":
      return goOn;
    case "stuck":
      return "see what it was doing: ralph logs";
    default:
      return null;
  }
}

/** The same for scripts. */
export function runJson({ exitCode, ...explanation }: RunExplanation): Record<string, unknown> {
  return { schema: "ralph.why.v1", kind: "run", ...explanation, exit_code: exitCode };
}

/** What was decided about a task, and from what. */
export type TaskExplanation = ReturnType<typeof explainTask>;

/** `events`: everything recorded about the task. `isDriven`: a process works on the run. */
export function explainTask(id: TaskId, events: readonly Recorded[], state: State, isDriven: boolean) {
  const { told, before } = lastChapter(events);
  const records = iterationRecords(told);
  const planned = state.plan?.tasks.find((task) => task.id === id);
  const wait = planned === undefined ? null : waitOf(state, planned, isDriven);
  const completion = records.map(completionOf).findLast((one) => one !== null) ?? null;
  const stands = standsInWords(state, id, isDriven);
  const earlier = `Before that: ${count(before, "iteration")} (ralph history --task ${asArgument(id)}).`;
  return {
    task: id,
    title: planned?.title ?? null,
    /** As in `ralph status`; null when the task is no longer in the source. */
    status: planned === undefined ? null : statusOf(state, planned),
    headline: completion === null ? stands : acceptedHeadline(completion, records, state, wait),
    steps: [...(before === 0 ? [] : [{ record: null, text: earlier }]), ...taskSteps(told, records)],
    next: wait?.next ?? (completion === null ? null : `ralph verify ${asArgument(id)}`),
  };
}

/** Where a task stands, as a sentence that begins with its id. */
export function standsInWords(state: State, id: TaskId, isDriven: boolean): string {
  const planned = state.plan?.tasks.find((task) => task.id === id);
  return planned === undefined
    ? `${id} is no longer in ${listInWords(state)}.`
    : `${id} ${asSentence(waitOf(state, planned, isDriven).what)}`;
}

function listInWords({ plan }: State): string {
  return plan?.source.label ?? "the task list";
}

/** An iteration, or something that happened between two. */
export interface TaskStep {
  readonly record: IterationRecord | null;
  readonly text: string;
}

/** What these facts about a task tell, in order; `records` are those of the same facts. */
export function taskSteps(
  events: readonly Recorded[],
  records: readonly IterationRecord[],
): readonly TaskStep[] {
  const byNumber = new Map(records.map((record) => [record.iteration, record]));
  const hasAgents = new Set(records.map(({ agent }) => agent)).size > 1;
  return events.flatMap((event): readonly TaskStep[] => {
    const record = event.type === "iteration.started" ? byNumber.get(event.iteration) : undefined;
    if (record !== undefined) return [{ record, text: iterationText(record, hasAgents) }];
    const text = betweenInWords(event);
    return text === null ? [] : [{ record: null, text }];
  });
}

/** A task that was completed, undone or reset and begun again is a new story; only the last one is told. */
function lastChapter(events: readonly Recorded[]): {
  readonly told: readonly Recorded[];
  readonly before: number;
} {
  const lastStart = events.findLastIndex(({ type }) => type === "iteration.started");
  const isEnd = ({ type }: Recorded, at: number): boolean => {
    if (type === "task.reset" || type === "task.undone") return true;
    return type === "task.completed" && at < lastStart && !comesBack(events.slice(at + 1));
  };
  const end = events.findLastIndex(isEnd);
  const before = events.slice(0, end + 1).filter(({ type }) => type === "iteration.started").length;
  const isUndone = events[end]?.type === "task.undone";
  return { told: events.slice(isUndone ? end : end + 1), before };
}

/** Accepted work that does not merge goes on where it was. */
function comesBack(after: readonly Recorded[]): boolean {
  return (
    after.find(({ type }) => type === "merge.failed" || type === "iteration.started")?.type === "merge.failed"
  );
}

function acceptedHeadline(
  { task, iteration, certificate }: EventOf<"task.completed">,
  records: readonly IterationRecord[],
  state: State,
  wait: Wait | null,
): string {
  const byPerson = certificate.person === undefined ? "" : " by a person";
  const said = `${task} was accepted${byPerson} in iteration ${iteration}, ${effort(records)}.`;
  if (wait === null) return `${said} It is no longer in ${listInWords(state)}.`;
  return wait.what.startsWith("was accepted") || wait.what.startsWith("is marked")
    ? said
    : `${said} It is open again: it ${asSentence(wait.what)}`;
}

/** "after 1 challenge, 1 rejection and 2 failures" */
function effort(records: readonly IterationRecord[]): string {
  const names = { challenged: "challenge", rejected: "rejection", failed: "failure" };
  const hurdles = Object.entries(names).flatMap(([verdict, name]) => {
    const times = records.filter((record) => record.verdict === verdict).length;
    return times === 0 ? [] : [count(times, name)];
  });
  if (hurdles.length > 0) return `after ${joined(hurdles)}`;
  return records.length === 1 ? "at the first attempt" : `after ${count(records.length, "iteration")}`;
}

/** What happened between two iterations; null: nothing to tell. */
function betweenInWords(event: Recorded): string | null {
  switch (event.type) {
    case "baseline.measured":
      return redBeforeInWords(event.gates);
    case "question.answered": {
      const who =
        event.by === "person" ? "A person answered" : "Nobody answered in time, so the default was taken";
      return `${who}: ${asSentence(event.answer)}`;
    }
    case "task.unblocked": {
      const who = event.by === "person" ? "A person unblocked it" : "It was unblocked by itself";
      return `${who}: ${asSentence(event.reason)}`;
    }
    case "work.left":
    case "work.stayed":
    case "work.returned":
    case "work.refused":
    case "work.discarded": {
      const words = workInWords(event);
      return words && asSentence(capital(words));
    }
    case "task.undone":
      return `A person undid its accepted work (${shortCommit(event.to)}).`;
    case "steer.given":
      return `A person said: ${asSentence(event.text)}`;
    default:
      return null;
  }
}

function iterationText(record: IterationRecord, withAgent: boolean): string {
  const claim = withAgent ? `${record.agent} ${claimOf(record)}` : claimOf(record);
  const after = [correctionsInWords(record), ...deniedInWords(record), ...consequencesOf(record)];
  const parts = [`${claim}.`, verdictInWords(record), ...after];
  return parts.filter((part) => part !== "").join(" ");
}

/** The same for scripts. */
export function taskJson(explanation: TaskExplanation): Record<string, unknown> {
  return {
    schema: "ralph.why.v1",
    kind: "task",
    ...explanation,
    steps: explanation.steps.map(({ record, text }) => ({
      iteration: record?.iteration ?? null,
      agent: record?.agent ?? null,
      claim: record?.report ? claimName(record.report.claim) : null,
      verdict: record?.verdict ?? null,
      reasons: record?.reasons ?? [],
      corrections: record === null ? [] : correctionsOf(record).map(correctionJson),
      consequences: record === null ? [] : consequencesOf(record),
      text,
    })),
  };
}

/** What a task is waiting for, as the end of a sentence that begins with its id, and what a person can do. */
export interface Wait {
  readonly what: string;
  /** A command to type, or what to do before it; null when there is nothing to do. */
  readonly next: string | null;
}

/** `isDriven`: a process works on the run, so that what is open comes up by itself. */
export function waitOf(state: State, task: Task, isDriven: boolean): Wait {
  const { what, next } = waitOfRun(state, task, isDriven);
  const { run } = state;
  if (run?.settings.shared !== true || next === null) return { what, next };
  if (run.end !== null) return { what, next: next.replace("ralph run", "ralph submit") };
  if (!isDriven) return { what, next: next.replace(/(?:^go on: |^try again: )?ralph run.*/, "ralph worker") };
  // Workers go on by themselves.
  return { what, next: next.includes("ralph run") ? (/^(.+) && ralph run/.exec(next)?.[1] ?? null) : next };
}

function waitOfRun(state: State, task: Task, isDriven: boolean): Wait {
  const known = taskState(state, task.id);
  const id = asArgument(task.id);
  switch (statusOf(state, task)) {
    case "done":
      return { what: doneInWords(state, known), next: null };
    case "doing": {
      const next = isDriven ? null : "ralph run";
      if (isAcceptedByPerson(known)) return { what: "was accepted by a person; the run completes it", next };
      if (known.completion === null) return doing(state, task, isDriven);
      return { what: "was accepted, and is on its way to the base", next };
    }
    case "blocked": {
      const goOn = isMergeHeld(known) ? "" : " && ralph run";
      return {
        what: `is blocked: ${whyBlocked(known) ?? ""}`,
        next: `settle it, then: ralph unblock ${id}${goOn}`,
      };
    }
    case "undecided": {
      const answer = known.question?.acceptance == null ? "…" : "accept";
      return {
        what: `waits for an answer: ${known.question?.text ?? ""}${defaultInWords(known)}`,
        next: `ralph decide ${id} "${answer}" && ralph run`,
      };
    }
    case "review":
      return {
        what: "is accepted and waits for your approval",
        next: `ralph diff ${id}, then: ralph approve ${id} && ralph run`,
      };
    case "skipped":
      return { what: "is skipped: no run works on it", next: `ralph skip ${id} --undo` };
    case "failed":
      return { what: "is given up for this run", next: "try again: ralph run" };
    case "cancelled":
      return { what: "is cancelled", next: null };
    case "todo": {
      const wait = openWait(state, task, known);
      return isDriven ? { ...wait, next: null } : wait;
    }
  }
}

function defaultInWords({ question }: TaskState): string {
  if (question?.default == null || question.deadlineAt === null) return "";
  return ` (from ${isoTime(question.deadlineAt)} on the answer is "${question.default}")`;
}

function doneInWords(state: State, { completion }: TaskState): string {
  if (completion !== null) return `was accepted in iteration ${completion.iteration}`;
  return `is marked as done in ${listInWords(state)}; Ralph did not verify it`;
}

/** Where the process of the run is gone, its agent is gone too; workers may be elsewhere. */
function doing({ iterations, run }: State, { id }: Task, isDriven: boolean): Wait {
  const open = iterations.filter((one) => one.task === id);
  if (isDriven || run?.settings.shared === true)
    return { what: `is being worked on: ${joined(open.map(iterationInWords))}`, next: null };
  const names = joined(open.map(({ number, agent }) => `iteration ${number} of ${agent}`));
  return { what: `was interrupted in ${names}, which costs no attempt`, next: "go on: ralph run" };
}

function iterationInWords(open: OpenIteration): string {
  const phases: Readonly<Record<OpenIteration["phase"]["is"], string>> = {
    running: "works",
    ended: "has ended, and its changes are read",
    observed: "has ended, and its work is checked",
  };
  return `iteration ${open.number} (${open.ordinal}/${open.maxIterations}) since ${clock(open.startedAt)}; ${open.agent} ${phases[open.phase.is]}`;
}

function openWait(state: State, task: Task, known: TaskState): Wait {
  const { run, plan } = state;
  const only = run?.settings.onlyTasks ?? null;
  if (only !== null && !only.includes(task.id))
    return { what: "was not part of the last run", next: `ralph run --task ${asArgument(task.id)}` };
  if (only === null && task.optional && run?.settings.includeOptional !== true)
    return { what: "is optional", next: "work on it too: ralph run --include-optional" };
  if (run !== null && known.exhaustedIn === run.id)
    return { what: "has used up its iterations of this run", next: "try again: ralph run" };
  const outside = plan && outsideInWords(plan, task);
  if (outside !== null) return { what: outside, next: "settle it, then: ralph run" };
  const needed = (plan?.tasks ?? []).filter(({ id }) => task.dependsOn.includes(id));
  const missing = needed.filter((other) => statusOf(state, other) !== "done").map(({ id }) => id);
  if (missing.length > 0)
    return { what: `waits for ${joined(missing)}`, next: `ralph why ${asArgument(missing[0] ?? "")}` };
  if (known.retryAt !== null)
    return { what: `is tried again from ${clock(known.retryAt)} on`, next: "ralph run" };
  if (known.question?.answer != null && known.question.usedIn === null)
    return { what: `has its answer (${known.question.answer}) and goes on`, next: "ralph run" };
  if (known.undoneBy !== null && known.iterations === 0)
    return {
      what: `was accepted and then undone (${shortCommit(known.undoneBy)}), and is open again`,
      next: "ralph run",
    };
  const { iterations, allIterations } = known;
  if (allIterations === 0) return { what: "has not been worked on yet", next: "ralph run" };
  return {
    what: `is open after ${count(iterations || allIterations, "iteration")}`,
    next: "go on: ralph run",
  };
}
