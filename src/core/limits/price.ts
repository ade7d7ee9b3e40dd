import type { Usage } from "../report/agent-report.ts";

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
