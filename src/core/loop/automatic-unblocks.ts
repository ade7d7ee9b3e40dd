import type { Event } from "../events.ts";
import { formatDuration } from "../duration.ts";
import type { Plan } from "../plan/task.ts";
import type { Effect } from "./effects.ts";
import { tasksInScope } from "./select-tasks.ts";
import { taskState, type RunState, type State } from "./state.ts";
import { statusOf } from "./task-status.ts";

/** How much more time a task gets that timeouts have blocked. */
const RAISE = 2;

/** Tasks that timeouts blocked in an earlier run are tried again with more time, but not for ever. */
export function automaticUnblocks(state: State, run: RunState, plan: Plan): readonly Effect[] {
  if (run.stop !== null) return [];
  return tasksInScope(run, plan).flatMap((task): Effect[] => {
    const { timeoutBlock, autoUnblocks } = taskState(state, task.id);
    const isDue = timeoutBlock !== null && timeoutBlock.run !== run.id;
    const mayTry = autoUnblocks < run.settings.unblock.maxAutoAttempts;
    if (!isDue || !mayTry || statusOf(state, task) !== "blocked") return [];
    const unblocked = withMoreTime(task.id, timeoutBlock.timeoutMs * RAISE);
    return [{ kind: "record", key: `unblock:${task.id}`, task: task.id, events: [unblocked] }];
  });
}

function withMoreTime(task: string, timeoutMs: number): Event {
  const reason = `blocked by timeouts; tried again with ${formatDuration(timeoutMs)}`;
  return { type: "task.unblocked", task, reason, timeoutMs, by: "ralph" };
}
