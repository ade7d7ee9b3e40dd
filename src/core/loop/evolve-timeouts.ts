import type { EventOf } from "../events.ts";
import { withAttempt } from "../limits/timed-out-attempts.ts";
import { taskState, type State, type TaskState } from "./state.ts";

/** `before`: with the iteration still open. */
export function timeoutsCounted(before: State, after: State, event: EventOf<"verdict.reached">): State {
  const open = before.iterations.find(({ number }) => number === event.iteration);
  if (open === undefined || !("report" in open.phase)) return after;
  const task = taskState(after, open.task);
  const isAttempt = task.attempts > taskState(before, open.task).attempts;
  const isTimeout = isAttempt && open.phase.report.ending.is === "timed-out";
  const { number, timeoutMs } = open;
  const timedOut = withAttempt(task.timedOut, task.attempts, { number, timeoutMs, isTimeout });
  return { ...after, tasks: { ...after.tasks, [open.task]: { ...task, timedOut } } };
}

/** Whether a block came from `max_attempts`, and each of these attempts was a timeout. */
export function timeoutBlockOf(state: State, event: EventOf<"task.blocked">): TaskState["timeoutBlock"] {
  const { attempts, timedOut } = taskState(state, event.task);
  const maxAttempts = state.run?.settings.limits.maxAttempts ?? 0;
  if (timedOut === null || timedOut.iteration !== event.iteration || timedOut.count < attempts) return null;
  return maxAttempts > 0 && attempts >= maxAttempts
    ? { run: event.run, timeoutMs: timedOut.timeoutMs }
    : null;
}
