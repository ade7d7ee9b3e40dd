import type { Usage } from "../streams/agent-report.ts";
import type { EventOf, Recorded } from "../events.ts";
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

export type BreakerMove = Pick<Recorded<EventOf<"breaker.moved">>, "at" | "from" | "to" | "reason">;

/** What an iteration says to the breaker. */
export interface BreakerReading {
  readonly madeProgress: boolean;
  /** False: it is not the breaker's business, such as a timeout or a question. */
  readonly counts: boolean;
  readonly errorSignature: string | null;
  readonly outputBytes: number;
}

/** Kept across runs. */
export const CLOSED_BREAKER = {
  position: "CLOSED" as BreakerPosition,
  /** Why it is not CLOSED. */
  reason: null as string | null,
  movedAt: null as Instant | null,
  /** In a row; not counted while a run keeps going, where each task has its own count. */
  noProgress: 0,
  /** The same since it is HALF_OPEN. */
  triedWithoutProgress: 0,
  sameError: null as { readonly signature: string; readonly times: number } | null,
  /** Bytes of the last outputs, newest last. */
  outputs: [] as readonly number[],
  /** Outputs in a row that were much shorter than usual. */
  shrunk: 0,
  /** Tasks in a row that were given up without any progress. */
  tasksWithoutProgress: 0,
  history: [] as readonly BreakerMove[],
};

export type Breaker = Readonly<typeof CLOSED_BREAKER>;

const HISTORY_KEPT = 20;
const OUTPUTS_KEPT = 5;
const SHRUNK_MAX = 2;
const TASKS_WITHOUT_PROGRESS_MAX = 3;

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
  // Less than five outputs say nothing about what is usual.
  const median = breaker.outputs.toSorted((a, b) => a - b)[Math.floor(OUTPUTS_KEPT / 2)] ?? 0;
  const usual = breaker.outputs.length < OUTPUTS_KEPT ? 0 : median;
  const hasShrunk = outputDecline > 0 && reading.outputBytes < usual * (1 - outputDecline / 100);
  const { errorSignature: signature } = reading;
  const times = breaker.sameError?.signature === signature ? (breaker.sameError?.times ?? 0) + 1 : 1;
  return {
    ...breaker,
    noProgress: keepGoing ? 0 : breaker.noProgress + 1,
    triedWithoutProgress:
      breaker.position === "HALF_OPEN" && !keepGoing ? breaker.triedWithoutProgress + 1 : 0,
    sameError: signature === null ? breaker.sameError : { signature, times },
    outputs,
    shrunk: hasShrunk ? breaker.shrunk + 1 : 0,
  };
}

const NO_COUNTS = {
  noProgress: 0,
  triedWithoutProgress: 0,
  sameError: null,
  shrunk: 0,
  tasksWithoutProgress: 0,
} as const;

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
  if (breaker.position === "HALF_OPEN") return null;
  if (breaker.shrunk >= SHRUNK_MAX)
    return { to: "HALF_OPEN", reason: "the output has become much shorter than usual, twice in a row" };
  const isNear = settings.noProgress > 1 && breaker.noProgress >= settings.noProgress - 1;
  return isNear ? { to: "HALF_OPEN", reason: withoutProgress(breaker.noProgress) } : null;
}

function reasonToOpen(breaker: Breaker, { noProgress, sameError }: BreakerSettings): string | null {
  const { sameError: error } = breaker;
  if (sameError > 0 && error !== null && error.times >= sameError)
    return `the same error ${error.times} times: ${error.signature}`;
  if (breaker.tasksWithoutProgress >= TASKS_WITHOUT_PROGRESS_MAX)
    return `no progress at all in ${breaker.tasksWithoutProgress} tasks in a row`;
  if (noProgress > 0 && breaker.noProgress >= noProgress) return withoutProgress(breaker.noProgress);
  if (breaker.position !== "HALF_OPEN") return null;
  if (breaker.shrunk > SHRUNK_MAX)
    return "the output stays much shorter than usual, and there is no progress";
  return breaker.triedWithoutProgress === 0 ? null : "it was tried once more, and there was no progress";
}

export function withoutProgress(iterations: number): string {
  return iterations === 1 ? "no progress in 1 iteration" : `no progress in ${iterations} iterations in a row`;
}

/** Leaving OPEN is a new chance: the counts begin anew. */
export function moved(breaker: Breaker, move: BreakerMove): Breaker {
  const counts = move.from === "OPEN" || move.to === "CLOSED" ? NO_COUNTS : { triedWithoutProgress: 0 };
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
export function withTaskWithoutProgress(breaker: Breaker): Breaker {
  const triedWithoutProgress = breaker.position === "HALF_OPEN" ? breaker.triedWithoutProgress + 1 : 0;
  return { ...breaker, triedWithoutProgress, tasksWithoutProgress: breaker.tasksWithoutProgress + 1 };
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

/** What was spent: by iterations whose cost is known, and how many others there are. */
export interface Spend {
  /** Null as long as no cost is known. */
  readonly usd: number | null;
  readonly known: number;
  readonly unknown: number;
  /** The dearest iteration so far. */
  readonly highest: number | null;
}

export const NOTHING_SPENT: Spend = { usd: null, known: 0, unknown: 0, highest: null };

/** Where a warning is due. */
const WARNING_SHARE = 0.8;

export function withCost(spend: Spend, usd: number | null): Spend {
  return usd === null
    ? { ...spend, unknown: spend.unknown + 1 }
    : {
        ...spend,
        usd: (spend.usd ?? 0) + usd,
        known: spend.known + 1,
        highest: Math.max(spend.highest ?? 0, usd),
      };
}

/** What was paid beside an iteration, for reading it: it is spent, and says nothing of what the next one costs. */
export function withExtraCost(spend: Spend, usd: number | null): Spend {
  return usd === null ? spend : { ...spend, usd: (spend.usd ?? 0) + usd };
}

export function averageCost({ usd, known }: Spend): number | null {
  return usd === null || known === 0 ? null : usd / known;
}

/** Unknown is not nothing: an iteration of which nobody knows the cost is taken for an average one. */
export function likelySpent(spend: Spend): number {
  return (spend.usd ?? 0) + spend.unknown * (averageCost(spend) ?? 0);
}

/** Whether one more iteration of this cost would pass the budget. */
export function wouldPass(spentUsd: number, nextUsd: number, budgetUsd: number): boolean {
  return spentUsd >= budgetUsd || spentUsd + nextUsd > budgetUsd;
}

export function isWarningDue(spentUsd: number, budgetUsd: number): boolean {
  return spentUsd >= budgetUsd * WARNING_SHARE;
}

/** What the whole plan will have cost if it goes on like this; null as long as nothing is done. */
export function forecast(spend: Spend, done: number, total: number): number | null {
  return spend.usd === null || done === 0 ? null : (likelySpent(spend) / done) * total;
}

/** "the budget of $5.00 for this run would be passed: $4.80 are spent" */
export function budgetInWords(budget: "run" | "day", spentUsd: number, budgetUsd: number): string {
  const whose = budget === "run" ? "for this run" : "for a day";
  return `one more iteration would pass the budget of ${dollars(budgetUsd)} ${whose}: ${dollars(spentUsd)} are spent`;
}

export function dollars(usd: number): string {
  return `$${usd.toFixed(2)}`;
}

const HOUR_MS = 3_600_000;

/** Calls are counted by the clock hour, so that everybody who shares them agrees on it. */
export function hourOf(now: Instant): { readonly since: Instant; readonly until: Instant } {
  const since = Math.floor(now / HOUR_MS) * HOUR_MS;
  return { since, until: since + HOUR_MS };
}

/** Dollars for a million tokens. */
export interface Price {
  readonly inputPerMtok: number;
  readonly outputPerMtok: number;
  readonly cacheReadPerMtok: number;
}

/** By the name of a model. */
export type Prices = Readonly<Record<string, Price>>;

const MTOK = 1_000_000;

/** The usage with its cost: what the agent says, else what its tokens cost. Unknown stays unknown. */
export function priced(usage: Usage, model: string | null, prices: Prices): Usage {
  if (usage.costUsd !== null || model === null || !Object.hasOwn(prices, model)) return usage;
  const price = prices[model];
  const { inputTokens, outputTokens, cacheReadTokens } = usage;
  if (price === undefined || inputTokens === null || outputTokens === null) return usage;
  const millionths =
    inputTokens * price.inputPerMtok +
    outputTokens * price.outputPerMtok +
    (cacheReadTokens ?? 0) * price.cacheReadPerMtok;
  return { ...usage, costUsd: millionths / MTOK };
}

/** What one iteration of an open-ended task says about its end. */
export interface ExitSignal {
  readonly iteration: number;
  /** A claim that was accepted, or words sure enough of it with a change and green gates. */
  readonly done: boolean;
  /** It only ran tests. */
  readonly testOnly: boolean;
  /** Words that speak of completion, whatever the evidence says. */
  readonly indicator: boolean;
}

const WINDOW = 5;
const DONE_IN_A_ROW = 2;
const TEST_ONLY_IN_A_ROW = 3;

/** Words this sure count as a signal when evidence stands behind them. */
export const CONFIDENT = 75;

export function withSignal(window: readonly ExitSignal[], signal: ExitSignal): readonly ExitSignal[] {
  return [...window, signal].slice(-WINDOW);
}

/** How the rolling window ends an open-ended task: it is complete, or it goes round in circles. */
export function exitRule(window: readonly ExitSignal[]): "complete" | "only-tests" | null {
  const inARow = (count: number, is: "done" | "testOnly"): boolean =>
    window.length >= count && window.slice(-count).every((signal) => signal[is]);
  if (inARow(DONE_IN_A_ROW, "done")) return "complete";
  return inARow(TEST_ONLY_IN_A_ROW, "testOnly") ? "only-tests" : null;
}
