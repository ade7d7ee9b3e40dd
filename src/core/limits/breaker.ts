import type { Instant } from "../time.ts";

/** CLOSED lets work through, OPEN does not, HALF_OPEN lets one more iteration show whether it helps. */
export type BreakerPosition = "CLOSED" | "HALF_OPEN" | "OPEN";

export interface BreakerSettings {
  /** Iterations in a row without progress; 0 is off. */
  readonly noProgress: number;
  /** The same error so many times without progress between; 0 is off. */
  readonly sameError: number;
  /** Per cent by which an output is shorter than usual; 0 is off. */
  readonly outputDecline: number;
  /** OPEN for so long, it is tried again; 0 is never. */
  readonly cooldownMs: number;
}

/** Kept across runs. */
export interface Breaker {
  readonly position: BreakerPosition;
  /** Why it is not CLOSED. */
  readonly reason: string | null;
  readonly movedAt: Instant | null;
  /** In a row; not counted while a run keeps going, where each task has its own count. */
  readonly noProgress: number;
  /** The same since it is HALF_OPEN. */
  readonly inVain: number;
  readonly sameError: { readonly signature: string; readonly times: number } | null;
  /** Bytes of the last outputs, newest last. */
  readonly outputs: readonly number[];
  /** Outputs in a row that were much shorter than usual. */
  readonly shrunk: number;
  /** Tasks in a row that were given up without any progress. */
  readonly fruitlessTasks: number;
  readonly history: readonly BreakerMove[];
}

export interface BreakerMove {
  readonly at: Instant;
  readonly from: BreakerPosition;
  readonly to: BreakerPosition;
  readonly reason: string;
}

/** What an iteration says to the breaker. */
export interface BreakerReading {
  readonly madeProgress: boolean;
  /** False: it is not the breaker's business, such as a timeout or a question. */
  readonly counts: boolean;
  readonly errorSignature: string | null;
  readonly outputBytes: number;
}

export const CLOSED_BREAKER: Breaker = {
  position: "CLOSED",
  reason: null,
  movedAt: null,
  noProgress: 0,
  inVain: 0,
  sameError: null,
  outputs: [],
  shrunk: 0,
  fruitlessTasks: 0,
  history: [],
};

const HISTORY_KEPT = 20;
const OUTPUTS_KEPT = 5;
const SHRUNK_MAX = 2;
const FRUITLESS_TASKS_MAX = 3;

/** The counters after an iteration. Nothing counts against one with progress. */
export function withReading(
  breaker: Breaker,
  reading: BreakerReading,
  { outputDecline }: BreakerSettings,
  keepGoing: boolean,
): Breaker {
  const outputs = [...breaker.outputs, reading.outputBytes].slice(-OUTPUTS_KEPT);
  if (reading.madeProgress) return { ...breaker, ...NO_COUNTS, outputs };
  if (!reading.counts) return breaker;
  const hasShrunk = isMuchShorter(reading.outputBytes, breaker.outputs, outputDecline);
  return {
    ...breaker,
    noProgress: keepGoing ? 0 : breaker.noProgress + 1,
    inVain: breaker.position === "HALF_OPEN" && !keepGoing ? breaker.inVain + 1 : 0,
    sameError: sameErrorAfter(breaker.sameError, reading.errorSignature),
    outputs,
    shrunk: hasShrunk ? breaker.shrunk + 1 : 0,
  };
}

const NO_COUNTS = { noProgress: 0, inVain: 0, sameError: null, shrunk: 0, fruitlessTasks: 0 } as const;

function sameErrorAfter(before: Breaker["sameError"], signature: string | null): Breaker["sameError"] {
  if (signature === null) return before;
  return { signature, times: before?.signature === signature ? before.times + 1 : 1 };
}

/** Less than five outputs say nothing about what is usual. */
function isMuchShorter(bytes: number, outputs: readonly number[], decline: number): boolean {
  if (decline === 0 || outputs.length < OUTPUTS_KEPT) return false;
  const usual = outputs.toSorted((a, b) => a - b)[Math.floor(OUTPUTS_KEPT / 2)] ?? 0;
  return bytes < usual * (1 - decline / 100);
}

/** Where it moves after the counters have changed, or null when it stays. */
export function nextMove(
  breaker: Breaker,
  settings: BreakerSettings,
  madeProgress: boolean,
): Pick<BreakerMove, "to" | "reason"> | null {
  if (breaker.position === "OPEN") return null;
  if (breaker.position === "HALF_OPEN" && madeProgress)
    return { to: "CLOSED", reason: "there is progress again" };
  const open = reasonToOpen(breaker, settings);
  if (open !== null) return { to: "OPEN", reason: open };
  const doubt = breaker.position === "CLOSED" ? reasonToDoubt(breaker, settings) : null;
  return doubt === null ? null : { to: "HALF_OPEN", reason: doubt };
}

function reasonToOpen(breaker: Breaker, { noProgress, sameError }: BreakerSettings): string | null {
  const { sameError: error } = breaker;
  if (sameError > 0 && error !== null && error.times >= sameError)
    return `the same error ${error.times} times: ${error.signature}`;
  if (breaker.fruitlessTasks >= FRUITLESS_TASKS_MAX)
    return `no progress at all in ${breaker.fruitlessTasks} tasks in a row`;
  if (noProgress > 0 && breaker.noProgress >= noProgress) return withoutProgress(breaker.noProgress);
  if (breaker.position !== "HALF_OPEN") return null;
  if (breaker.shrunk > SHRUNK_MAX)
    return "the output stays much shorter than usual, and there is no progress";
  return breaker.inVain === 0 ? null : "it was tried once more, and there was no progress";
}

function reasonToDoubt(breaker: Breaker, { noProgress }: BreakerSettings): string | null {
  if (breaker.shrunk >= SHRUNK_MAX) return "the output has become much shorter than usual, twice in a row";
  const isNear = noProgress > 1 && breaker.noProgress >= noProgress - 1;
  return isNear ? withoutProgress(breaker.noProgress) : null;
}

export function withoutProgress(iterations: number): string {
  return iterations === 1 ? "no progress in 1 iteration" : `no progress in ${iterations} iterations in a row`;
}

/** Leaving OPEN is a new chance: the counts begin anew. */
export function moved(breaker: Breaker, move: BreakerMove): Breaker {
  const counts = move.from === "OPEN" || move.to === "CLOSED" ? NO_COUNTS : { inVain: 0 };
  return {
    ...breaker,
    ...counts,
    position: move.to,
    reason: move.to === "CLOSED" ? null : move.reason,
    movedAt: move.at,
    history: [...breaker.history, move].slice(-HISTORY_KEPT),
  };
}

/** A task was given up, without any progress since the last one that was. */
export function withFruitlessTask(breaker: Breaker): Breaker {
  const inVain = breaker.position === "HALF_OPEN" ? breaker.inVain + 1 : 0;
  return { ...breaker, inVain, fruitlessTasks: breaker.fruitlessTasks + 1 };
}

/** Whether it was OPEN long enough. Once a clock is put back nobody knows, and a try costs one iteration. */
export function hasCooledDown(
  { position, movedAt }: Breaker,
  { cooldownMs }: BreakerSettings,
  now: Instant,
): boolean {
  if (position !== "OPEN" || cooldownMs === 0 || movedAt === null) return false;
  return now >= movedAt + cooldownMs || now < movedAt;
}
