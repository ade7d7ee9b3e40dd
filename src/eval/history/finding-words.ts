import { formatDuration } from "../../core/duration.ts";
import type { LimitFinding, LimitValue } from "./limit-findings.ts";
import type { RecoveryFinding } from "./recovery-findings.ts";
import type { Saving } from "./saving.ts";
import type { TimeoutFinding } from "./timeout-findings.ts";

/** "4 iterations, 12m, $0.80" */
export function savingInWords({ iterations, seconds, costUsd }: Saving): string {
  if (iterations === 0) return "nothing";
  const cost = costUsd === null ? [] : [`$${costUsd.toFixed(2)}`];
  const many = iterations === 1 ? "1 iteration" : `${iterations} iterations`;
  return [many, durationInWords(seconds), ...cost].join(", ");
}

export function durationInWords(seconds: number): string {
  return formatDuration(seconds * 1_000);
}

/** The sentence that a limit comes to. */
export function limitInWords({ setting, current, values, best }: LimitFinding): string {
  if (values.length === 0) return `No value of ${setting} would have changed anything.`;
  const value = values.find((one) => one.value === best);
  if (value === undefined || best === null)
    return `No value of ${setting} would have saved anything without losing a task.`;
  const now = current === null ? "" : current === 0 ? " (now: off)" : ` (now: ${current})`;
  return `${setting} = ${best}${now} would have saved ${savingInWords(value.saved)}, and lost no task.`;
}

export function lossInWords({ tasksLost }: LimitValue): string {
  return tasksLost === 0 ? "none" : tasksLost === 1 ? "1 task" : `${tasksLost} tasks`;
}

/** The sentences that the times of one complexity come to. */
export function timeoutInWords({
  complexity,
  accepted,
  timedOut,
  timedOutInVain,
  needed,
}: TimeoutFinding): readonly string[] {
  const done =
    accepted === null
      ? `No ${complexity} iteration was accepted.`
      : `Accepted ${complexity} iterations took ${durationInWords(accepted.median)} (median), ${durationInWords(accepted.p95)} (95 of 100) and at most ${durationInWords(accepted.longest)}.`;
  if (timedOut === 0) return [done, "None timed out."];
  const later = timedOut === 1 ? "1 timed out" : `${timedOut} timed out`;
  if (needed === null) return [done, `${later}, none of them on a task that was done later: ${MORE_TIME}`];
  return [
    done,
    `${later}, ${timedOutInVain} of them on tasks that were done later: the longest needed ${durationInWords(needed.atLeast)} in its last iteration, ${durationInWords(needed.atMost)} in all.`,
  ];
}

const MORE_TIME = "a longer timeout may be what they need (ralph blocked names the command).";

export function recoveryInWords({ setting, what, current, after }: RecoveryFinding): readonly string[] {
  const now = current === null ? "" : ` (now: ${current})`;
  if (after.length === 0) return [`${setting}${now}: ${what} was never followed by another iteration.`];
  return after.map(({ inARow, times, recovered }) => {
    const many = inARow === 1 ? what : `${inARow} in a row`;
    return `${setting}${now}: after ${many}, the next one was better ${recovered} of ${times} times.`;
  });
}
