/** What would not have been spent. */
export interface Saving {
  readonly iterations: number;
  readonly seconds: number;
  /** As far as it is known; null when it is of none. */
  readonly costUsd: number | null;
}

interface Spent {
  readonly durationMs: number;
  readonly costUsd: number | null;
}

export function savingOf(iterations: readonly Spent[]): Saving {
  const costs = iterations.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  return {
    iterations: iterations.length,
    seconds: Math.round(iterations.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1_000),
    costUsd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}
