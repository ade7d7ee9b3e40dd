import type { Usage } from "./agent-report.ts";

/** What only one of them knows is what is known. */
export function usageWith(one: Usage, other: Usage): Usage {
  return combined(one, other, (a, b) => (a === null ? b : a + (b ?? 0)));
}

/** What is left of a total when an earlier part is taken out; what nobody knows stays unknown. */
export function usageWithout(total: Usage, part: Usage): Usage {
  return combined(total, part, (a, b) => (a === null ? null : Math.max(0, a - (b ?? 0))));
}

function combined(
  one: Usage,
  other: Usage,
  combine: (a: number | null, b: number | null) => number | null,
): Usage {
  return {
    inputTokens: combine(one.inputTokens, other.inputTokens),
    outputTokens: combine(one.outputTokens, other.outputTokens),
    cacheReadTokens: combine(one.cacheReadTokens, other.cacheReadTokens),
    costUsd: combine(one.costUsd, other.costUsd),
  };
}
