import { asArgument, closest } from "../text.ts";
import type { Event } from "../events.ts";
import { isOpen, taskState, type State } from "../state.ts";
import { formatDuration } from "../time.ts";
import { STEER_LENGTH_MAX } from "./steer.ts";
import { isAcceptance, isMergeHeld, statusOf, whyBlocked } from "./task-status.ts";
import type { TaskId } from "../plan.ts";
import { unreachable } from "../unreachable.ts";
import { activeLoops } from "../views/status.ts";

/** What a person may do about a run, from whichever screen, command or program. */
export type OperatorAct =
  | { readonly do: "decide"; readonly task: TaskId; readonly answer: string }
  /** Null: the agent that works next. */
  | { readonly do: "steer"; readonly task: TaskId | null; readonly text: string }
  /** Null: every loop, and the run with them. */
  | { readonly do: "cancel"; readonly task: TaskId | null }
  /** A timeout is exact; without one it is as before. `runs`: a run follows that merges what waits for it. */
  | {
      readonly do: "unblock";
      readonly task: TaskId;
      readonly reason: string;
      readonly timeoutMs?: number | null | undefined;
      readonly runs?: boolean;
    }
  /** Accepted work that waits for a person's look. */
  | { readonly do: "approve"; readonly task: TaskId }
  | { readonly do: "send-back"; readonly task: TaskId; readonly words: string }
  /** `undo`: runs work on it again. */
  | { readonly do: "skip"; readonly task: TaskId; readonly undo?: boolean | undefined }
  | { readonly do: "pause" }
  | { readonly do: "resume" }
  /** `now`: as Ctrl-C, and not after the iterations under way. */
  | { readonly do: "stop"; readonly now?: boolean }
  | { readonly do: "retry" };

/** What an act is judged by, besides the state. */
export interface Circumstances {
  /** A run or a worker is at work. */
  readonly isDriven: boolean;
  /** Workers on several machines drive it, from a queue. */
  readonly isShared?: boolean;
  /** Of a message. */
  readonly id: string;
  /** Tasks that the list has by now, whether or not a run has seen them. */
  readonly listed?: readonly TaskId[];
}

export interface Refused {
  readonly is: "refused";
  readonly why: string;
  readonly hint?: string;
  /** What was wanted is so already. */
  readonly isMoot?: true;
}

export type Planned =
  | {
      readonly is: "possible";
      readonly events: readonly Event[];
      /** Nothing may have come between about this task. */
      readonly about: TaskId | null;
      readonly said: string;
    }
  | Refused;

/** What became of an act. */
export type Acted = { readonly is: "done"; readonly said: string } | Refused;

/** The facts that an act would be, or why it is not possible now. */
export function planAct(state: State, act: OperatorAct, around: Circumstances): Planned {
  const { isDriven } = around;
  switch (act.do) {
    case "decide":
      return decide(state, act.task, act.answer.trim());
    case "steer":
      return steer(state, act.task, act.text.replaceAll("\r\n", "\n").trim(), around);
    case "cancel":
      return cancel(state, act.task, around);
    case "unblock":
      return unblock(state, act, isDriven);
    case "approve":
      return approve(state, act.task, "accept", `${act.task} is approved`);
    case "send-back":
      return sendBack(state, act.task, act.words.replaceAll("\r\n", "\n").trim());
    case "skip":
      return skip(state, act.task, act.undo === true, around);
    case "pause":
      return pause(state, around);
    case "resume":
      return resume(state, around);
    case "stop":
      return stop(state, around, act.now === true);
    case "retry":
      return retry(state, around);
    default:
      return unreachable(act);
  }
}

function decide(state: State, task: TaskId, answer: string): Planned {
  const { question } = taskState(state, task);
  const hint = "what waits for you: ralph inbox";
  if (question === null) return refused(`${task} asks no question`, hint);
  if (question.answer !== null)
    return refused(`${task} asks no question any more: it has its answer, "${question.answer}"`, hint);
  if (answer === "") return refused("the answer is empty");
  const event = { type: "question.answered", task, answer, by: "person" } as const;
  return possible(event, `${task} is answered: ${answer}`, task);
}

function approve(state: State, task: TaskId, answer: string, said: string): Planned {
  const { question } = taskState(state, task);
  if (question?.answer != null || question?.acceptance?.isApproval !== true)
    return refused(`${task} does not wait for an approval`, "what waits for you: ralph inbox");
  return possible({ type: "question.answered", task, answer, by: "person" }, said, task);
}

function sendBack(state: State, task: TaskId, words: string): Planned {
  const hint = `say it: ralph send-back ${asArgument(task)} "what is to be changed"`;
  if (words === "") return refused("nothing says what is to be changed", hint);
  // These words at the beginning approve, wherever an answer is written.
  const answer = isAcceptance(words) ? `To be changed: ${words}` : words;
  return approve(state, task, answer, `${task} is sent back; its next iteration has what you said`);
}

function skip(state: State, task: TaskId, undo: boolean, around: Circumstances): Planned {
  const planned = state.plan?.tasks.find(({ id }) => id === task);
  const { isSkipped } = taskState(state, task);
  if (undo) {
    if (!isSkipped) return { ...refused(`${task} is not skipped`), isMoot: true };
    return possible({ type: "task.unskipped", task }, `${task} is worked on again`, task);
  }
  if (planned === undefined && around.listed?.includes(task) !== true)
    return refused(`there is no task "${task}"`, "ralph status lists the tasks");
  if (isSkipped) return { ...refused(`${task} is skipped already`), isMoot: true };
  if (planned !== undefined && statusOf(state, planned) === "done")
    return refused(`${task} is done`, `take it back: ralph undo ${asArgument(task)}`);
  const skipped: Event = { type: "task.skipped", task };
  const { run } = state;
  const isUnderWay = activeLoops(state).some((loop) => loop.task === task);
  if (!around.isDriven || !isOpen(run) || !isUnderWay)
    return possible(skipped, `${task} is skipped: no run works on it`, task);
  const cancelled: Event = { type: "task.cancelled", run: run.id, task };
  return possible([cancelled, skipped], `${task} is skipped, and its agent is ended`);
}

function pause(state: State, around: Circumstances): Planned {
  const { run } = state;
  if (!around.isDriven || !isOpen(run)) return noRun(around, "nothing to pause: ");
  if (run.isPaused) return { ...refused("the run is paused already", "go on: ralph resume"), isMoot: true };
  const said = "paused: what is under way goes on, and no further iteration begins (ralph resume)";
  return possible({ type: "run.paused", run: run.id }, said);
}

function resume(state: State, around: Circumstances): Planned {
  const { run } = state;
  if (!around.isDriven || !isOpen(run)) return noRun(around, "nothing to resume: ");
  if (!run.isPaused) return { ...refused("the run is not paused"), isMoot: true };
  return possible({ type: "run.unpaused", run: run.id }, "the run goes on");
}

function steer(state: State, task: TaskId | null, text: string, { id, listed = [] }: Circumstances): Planned {
  const planned = state.plan?.tasks.find(({ id: known }) => known === task);
  if (task !== null && planned === undefined && !listed.includes(task)) {
    const meant = closest(task, [...(state.plan?.tasks ?? []).map(({ id: known }) => known), ...listed]);
    const question = meant === null ? "" : `. Did you mean "${meant}"?`;
    return refused(`there is no task "${task}"${question}`, "ralph status lists the tasks");
  }
  if (planned !== undefined && statusOf(state, planned) === "done")
    return refused(
      `${planned.id} is done, so no agent would read it`,
      "take its mark back in the task list, and say it again",
    );
  if (text === "")
    return refused(
      "the message is empty",
      'say what the agent should know: ralph steer "use the v2 API", or for one task: ralph steer TASK "…"',
    );
  if (text.length > STEER_LENGTH_MAX)
    return refused(
      `the message has ${text.length} characters, and a prompt has room for ${STEER_LENGTH_MAX}`,
      "shorten it, or put it into a file of the repository and name that",
    );
  const said = task === null ? "the agent that works next is told" : `the agent of ${task} is told`;
  return possible({ type: "steer.given", task, id, text }, said);
}

function cancel(state: State, task: TaskId | null, around: Circumstances): Planned {
  const { run } = state;
  if (!around.isDriven || !isOpen(run)) return noRun(around, "nothing to cancel: ");
  const loops = activeLoops(state).filter((loop) => task === null || loop.task === task);
  if (task !== null && loops.length === 0)
    return refused(`the task "${task}" has no loop under way`, "what is under way: ralph ralph-status");
  const cancelled = loops.map((loop): Event => ({ type: "task.cancelled", run: run.id, task: loop.task }));
  if (task !== null) return possible(cancelled, `${task} is cancelled`);
  const stopping: Event = { type: "stop.requested", run: run.id, urgency: "after-iteration" };
  return possible([...cancelled, stopping], "every loop is cancelled, and the run with them");
}

function unblock(
  state: State,
  { task, reason, timeoutMs = null, runs = false }: Extract<OperatorAct, { do: "unblock" }>,
  isDriven: boolean,
): Planned {
  const known = taskState(state, task);
  if (whyBlocked(known) === null) {
    const planned = state.plan?.tasks.find(({ id }) => id === task);
    const status = planned === undefined ? "not in the task list" : statusOf(state, planned);
    const waits = `it waits for an answer: ralph decide ${asArgument(task)} "…"`;
    const hint = status === "undecided" ? waits : `ralph why ${asArgument(task)}`;
    return refused(`${task} is not blocked: it is ${status}`, hint);
  }
  const isHeld = isMergeHeld(known);
  if (isHeld && !isDriven && !runs)
    return refused(`no run is under way to merge it; type: ralph unblock ${asArgument(task)}`);
  const why = reason.trim() || "no reason given";
  const event = { type: "task.unblocked", task, reason: why, timeoutMs, by: "person" } as const;
  const timeout = timeoutMs === null ? "" : `; ${formatDuration(timeoutMs)} each from now on`;
  const said = isHeld ? `the merge of ${task} is tried again` : `${task} is no longer blocked${timeout}`;
  return possible(event, said, task);
}

function retry(state: State, around: Circumstances): Planned {
  const { run } = state;
  if (!around.isDriven || !isOpen(run)) return noRun(around);
  if (run.waitsForPerson) return refused("the run waits for you: ralph inbox");
  if (run.waitingUntil === null) return refused("the run does not wait for anything");
  return possible({ type: "retry.requested", run: run.id }, "it is tried again now");
}

function stop(state: State, around: Circumstances, now: boolean): Planned {
  const { run } = state;
  if (!around.isDriven || !isOpen(run)) return noRun(around, "nothing to stop: ");
  if (run.stop === "now" || (run.stop !== null && !now))
    return { ...refused("the run is asked to stop already"), isMoot: true };
  const urgency = now ? "now" : "after-iteration";
  const said = now ? "the run stops now" : "the run stops after the iterations under way";
  return possible({ type: "stop.requested", run: run.id, urgency }, said);
}

function possible(events: Event | readonly Event[], said: string, about: TaskId | null = null): Planned {
  return { is: "possible", events: [events].flat(), about, said };
}

function refused(why: string, hint?: string): Refused {
  return { is: "refused", why, ...(hint !== undefined && { hint }) };
}

function noRun({ isShared = false }: Circumstances, what = ""): Refused {
  const why = isShared ? "no worker is here" : "no run is under way";
  return { ...refused(`${what}${why}`, isShared ? "ralph worker" : "ralph run"), isMoot: true };
}
