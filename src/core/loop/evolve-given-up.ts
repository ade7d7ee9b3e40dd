import type { EventOf } from "../events.ts";
import { BUILD } from "../stages/stages.ts";
import type { TaskState } from "./state.ts";

/** The rest is in the log and in the transcript. */
const OUTPUT_LENGTH_MAX = 500;

/** A loop came to its end without success; in a later run the task begins another one. */
export function loopGivenUp(
  task: TaskState,
  event: EventOf<"task.exhausted"> | EventOf<"task.failed">,
): Partial<TaskState> {
  const isExhausted = event.type === "task.exhausted";
  const { reason = "its iterations are used up", lastOutput = "" } = event;
  const failure = {
    stage: event.stage ?? task.stage ?? BUILD.name,
    iterations: isExhausted ? event.iterations : task.iterations,
    lastOutput: lastOutput.slice(-OUTPUT_LENGTH_MAX).toWellFormed(),
    reason,
  };
  return isExhausted
    ? { iterations: 0, failure, exhaustedRuns: task.exhaustedRuns + 1, exhaustedIn: event.run }
    : { iterations: 0, failure, failedIn: event.run };
}
