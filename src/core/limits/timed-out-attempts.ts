/** Failed iterations of a task that ran out of time, of those that count towards `max_attempts`. */
export interface TimedOutAttempts {
  readonly count: number;
  /** The last of them. */
  readonly iteration: number;
  readonly timeoutMs: number;
}

/** After one more iteration; `attempts` are those that count now, whatever they failed of. */
export function withAttempt(
  before: TimedOutAttempts | null,
  attempts: number,
  last: { readonly number: number; readonly timeoutMs: number; readonly isTimeout: boolean },
): TimedOutAttempts | null {
  if (attempts === 0) return null;
  if (!last.isTimeout) return before;
  return { count: (before?.count ?? 0) + 1, iteration: last.number, timeoutMs: last.timeoutMs };
}
