import { asArgument } from "../text.ts";
import type { Event } from "../events.ts";
import { isOpen, taskState, type State } from "../loop/state.ts";
import { STEER_LENGTH_MAX } from "../loop/steer.ts";
import { isMergeHeld, statusOf, whyBlocked } from "../loop/task-status.ts";
import type { Task, TaskId } from "../plan/task.ts";
import { unreachable } from "../unreachable.ts";

/** What a person may do from a screen, as by command. */
export type OperatorAct =
  | { readonly do: "decide"; readonly task: TaskId; readonly answer: string }
  /** Null: whoever works next. */
  | { readonly do: "steer"; readonly task: TaskId | null; readonly text: string }
  | { readonly do: "cancel"; readonly task: TaskId }
  /** A timeout is exact; without one it is as before. */
  | {
      readonly do: "unblock";
      readonly task: TaskId;
      readonly reason: string;
      readonly timeoutMs?: number | null;
    }
  /** `now`: as Ctrl-C, and not after the iterations under way. */
  | { readonly do: "stop"; readonly now?: boolean }
  | { readonly do: "retry" };

export type Planned =
  | {
      readonly is: "possible";
      readonly event: Event;
      /** Nothing may have come between about this task. */
      readonly about: TaskId | null;
      readonly said: string;
    }
  | { readonly is: "refused"; readonly why: string };

/** What became of an act. */
export type Acted =
  { readonly is: "done"; readonly said: string } | { readonly is: "refused"; readonly why: string };

/** The fact that an act would be, or why it cannot be now. `id` names a message. */
export function planAct(state: State, act: OperatorAct, isDriven: boolean, id: string): Planned {
  switch (act.do) {
    case "decide":
      return decide(state, act.task, act.answer.trim());
    case "steer":
      return steer(state, act.task, act.text.replaceAll("\r\n", "\n").trim(), id);
    case "cancel":
      return cancel(state, act.task, isDriven);
    case "unblock":
      return unblock(state, act, isDriven);
    case "stop":
      return stop(state, isDriven, act.now === true);
    case "retry":
      return retry(state, isDriven);
    default:
      return unreachable(act);
  }
}

function decide(state: State, task: TaskId, answer: string): Planned {
  const { question } = taskState(state, task);
  if (question === null) return refused(`${task} asks no question`);
  if (question.answer !== null) return refused(`${task} has its answer: "${question.answer}"`);
  if (answer === "") return refused("the answer is empty");
  const event = { type: "question.answered", task, answer, by: "person" } as const;
  return { is: "possible", event, about: task, said: `${task} is answered: ${answer}` };
}

function steer(state: State, task: TaskId | null, text: string, id: string): Planned {
  const planned = task === null ? null : plannedTask(state, task);
  if (planned === undefined) return refused(`there is no task ${task}`);
  if (planned !== null && statusOf(state, planned) === "done")
    return refused(`${planned.id} is done, so no agent would read it`);
  if (text === "") return refused("the message is empty");
  if (text.length > STEER_LENGTH_MAX)
    return refused(
      `the message has ${text.length} characters, and a prompt has room for ${STEER_LENGTH_MAX}`,
    );
  const said = task === null ? "whoever works next is told" : `the agent of ${task} is told`;
  return { is: "possible", event: { type: "steer.given", task, id, text }, about: null, said };
}

function cancel(state: State, task: TaskId, isDriven: boolean): Planned {
  const { run, iterations } = state;
  if (!isDriven || !isOpen(run)) return refused("no run is under way");
  if (!iterations.some((open) => open.task === task)) return refused(`nobody works on ${task} right now`);
  const event = { type: "task.cancelled", run: run.id, task } as const;
  return { is: "possible", event, about: null, said: `${task} is cancelled` };
}

function unblock(
  state: State,
  { task, reason, timeoutMs = null }: Extract<OperatorAct, { do: "unblock" }>,
  isDriven: boolean,
): Planned {
  const known = taskState(state, task);
  if (whyBlocked(known) === null) return refused(`${task} is not blocked`);
  const isHeld = isMergeHeld(known);
  if (isHeld && !isDriven)
    return refused(`no run is under way to merge it; type: ralph unblock ${asArgument(task)}`);
  const why = reason.trim() || "no reason given";
  const event = { type: "task.unblocked", task, reason: why, timeoutMs, by: "person" } as const;
  return {
    is: "possible",
    event,
    about: task,
    said: isHeld ? `the merge of ${task} is tried again` : `${task} is no longer blocked`,
  };
}

function retry({ run }: State, isDriven: boolean): Planned {
  if (!isDriven || !isOpen(run)) return refused("no run is under way");
  if (run.waitsForPerson) return refused("the run waits for you: ralph inbox");
  if (run.waitingUntil === null) return refused("the run does not wait for anything");
  const event = { type: "retry.requested", run: run.id } as const;
  return { is: "possible", event, about: null, said: "it is tried again now" };
}

function stop({ run }: State, isDriven: boolean, now: boolean): Planned {
  if (!isDriven || !isOpen(run)) return refused("no run is under way");
  if (run.stop === "now" || (run.stop !== null && !now)) return refused("the run is asked to stop already");
  const event = { type: "stop.requested", run: run.id, urgency: now ? "now" : "after-iteration" } as const;
  const said = now ? "the run stops now" : "the run stops after the iterations under way";
  return { is: "possible", event, about: null, said };
}

function plannedTask({ plan }: State, id: TaskId): Task | undefined {
  return plan?.tasks.find((task) => task.id === id);
}

function refused(why: string): Planned {
  return { is: "refused", why };
}
