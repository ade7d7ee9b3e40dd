export interface AwakeTimer {
  cancel(): void;
}

const TICK_MS = 1_000;
/** A tick that comes later than this means that we ourselves were stopped. */
const LATE_MS = 2_000;

/**
 * Calls back after so many milliseconds in which we were awake. It looks at the monotonic clock only, and time
 * in which this process was stopped does not count: meanwhile nobody read what the other side had to say.
 */
export function startAwakeTimer(ms: number, onElapsed: () => void): AwakeTimer {
  let leftMs = ms;
  let seenMs = performance.now();
  let timer: NodeJS.Timeout;
  const tick = (): void => {
    const nowMs = performance.now();
    const passedMs = nowMs - seenMs;
    seenMs = nowMs;
    leftMs -= passedMs > LATE_MS ? TICK_MS : passedMs;
    if (leftMs > 0) schedule();
    else onElapsed();
  };
  const schedule = (): void => {
    timer = setTimeout(tick, Math.min(TICK_MS, Math.ceil(leftMs)));
  };
  schedule();
  return { cancel: () => clearTimeout(timer) };
}

/**
 * Calls back when everything that had already happened outside was delivered. Timers that are due run before
 * waiting input and news of exited children, so after a pause they would decide on old knowledge.
 */
export function afterPendingInput(then: () => void): void {
  setImmediate(() => setImmediate(then));
}
