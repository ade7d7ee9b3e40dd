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
