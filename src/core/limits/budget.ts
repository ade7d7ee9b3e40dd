import type { Usage } from "../report/agent-report.ts";
import type { Instant } from "../time.ts";

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
