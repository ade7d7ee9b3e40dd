/** The four places where a process that is at work shows it. */
export interface LifeSigns {
  /** Bytes so far. */
  readonly output: () => number;
  readonly toolCalls: () => number;
  /** Of the whole family so far. */
  readonly cpuMs: () => number;
  /** Another text when the work tree has changed; null when nobody can tell. The only look that is costly. */
  readonly workTree: () => Promise<string | null>;
}

const POLLS = 20;
const POLL_MIN_MS = 50;
const POLL_MAX_MS = 30_000;
/** A part of one processor: what just waits uses less, since many programs wake up now and then to see if it is time. */
const CPU_SHARE = 0.002;
/** The part of the time after which a silence is worth a first look at the work tree. */
const FIRST_LOOK = 0.1;

/**
 * Calls back once when there was no sign of life for so long, on any channel. A silence is measured from a look at the
 * work tree to the next one, so that no change between them is missed; before a silence has begun nobody looks.
 */
export function watchForLife(afterMs: number, signs: LifeSigns, onIdle: () => void): AwakeTimer {
  const showsLife = createEar(signs);
  const pollMs = Math.min(Math.max(afterMs / POLLS, POLL_MIN_MS), POLL_MAX_MS);
  let silentMs = 0;
  let treeBefore: string | null = null;
  const isIdle = async (): Promise<boolean> => {
    if (showsLife()) {
      treeBefore = null;
      silentMs = 0;
      return false;
    }
    silentMs += pollMs;
    if (silentMs < (treeBefore === null ? FIRST_LOOK * afterMs : afterMs)) return false;
    const tree = await signs.workTree().catch(() => null);
    const isSame = tree !== null && tree === treeBefore;
    treeBefore = showsLife() ? null : tree;
    silentMs = 0;
    return isSame && treeBefore !== null;
  };
  return pollAwake(pollMs, isIdle, onIdle);
}

/** Asks again and again, in time in which we were awake, until the answer is yes. */
export function pollAwake(everyMs: number, isSo: () => Promise<boolean>, then: () => void): AwakeTimer {
  let isCancelled = false;
  let timer: AwakeTimer;
  const ask = async (): Promise<void> => {
    if (isCancelled) return;
    const answer = await isSo();
    if (isCancelled) return;
    if (answer) then();
    else schedule();
  };
  const schedule = (): void => {
    timer = startAwakeTimer(everyMs, () => void ask());
  };
  schedule();
  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}

/** Whether one of the three cheap channels has shown anything since it was asked last. */
function createEar({ output, toolCalls, cpuMs }: LifeSigns): () => boolean {
  let heard = output() + toolCalls();
  let cpu = { ms: 0, at: performance.now() };
  return () => {
    const before = { heard, cpu };
    heard = output() + toolCalls();
    if (heard !== before.heard) return true;
    cpu = { ms: cpuMs(), at: performance.now() };
    return cpu.ms - before.cpu.ms > CPU_SHARE * (cpu.at - before.cpu.at);
  };
}

export interface AwakeTimer {
  cancel(): void;
}

const TICK_MS = 1_000;
/** A tick that comes later than this means that we ourselves were stopped. */
const LATE_MS = 2_000;

/**
 * Calls back after so many milliseconds; time in which this process was stopped does not count, and news that came
 * meanwhile is heard first.
 */
export function startAwakeTimer(ms: number, onElapsed: () => void): AwakeTimer {
  let leftMs = ms;
  let seenMs = performance.now();
  let isCancelled = false;
  let timer: NodeJS.Timeout;
  const tick = (): void => {
    const nowMs = performance.now();
    const passedMs = nowMs - seenMs;
    seenMs = nowMs;
    leftMs -= passedMs > LATE_MS ? TICK_MS : passedMs;
    if (leftMs > 0) schedule();
    else
      afterPendingInput(() => {
        if (!isCancelled) onElapsed();
      });
  };
  const schedule = (): void => {
    timer = setTimeout(tick, Math.min(TICK_MS, Math.ceil(leftMs)));
  };
  schedule();
  return {
    cancel() {
      isCancelled = true;
      clearTimeout(timer);
    },
  };
}

/** Calls back once pending input and exits are delivered: after a pause, due timers run before them. */
export function afterPendingInput(then: () => void): void {
  setImmediate(() => setImmediate(then));
}
