import type { TimeSpan } from "../../core/projections/timeline.ts";
import type { Ruling } from "../../core/verdict/verdict.ts";

/** How a span is drawn: `key` names its class and its pattern. */
export interface SpanLook {
  readonly key: string;
  readonly symbol: string;
  readonly name: string;
}

/** In the order of the legend. */
export const OTHERS: Readonly<Record<Exclude<TimeSpan["is"], "agent">, SpanLook>> = {
  gates: { key: "gates", symbol: "≡", name: "gates" },
  "old-checks": { key: "old-checks", symbol: "≡", name: "old checks" },
  reader: { key: "reader", symbol: "⊙", name: "reader" },
  baseline: { key: "baseline", symbol: "≡", name: "gates before" },
  merge: { key: "merge", symbol: "⇢", name: "merge" },
  wait: { key: "wait", symbol: "◔", name: "wait" },
};

export function lookOfSpan({ is, verdict }: Pick<TimeSpan, "is" | "verdict">): SpanLook {
  if (is !== "agent") return OTHERS[is];
  return { key: verdict ?? "running", ...lookOf(verdict) };
}

/** The same for the same span of a later answer. */
export function spanKey({ is, lane, from, iteration }: TimeSpan): string {
  return `${is} ${lane} ${from} ${iteration}`;
}

/** How a verdict is shown: never by its colour alone. */
interface Look {
  readonly symbol: string;
  readonly name: string;
}

const LOOKS: Readonly<Record<Ruling | "running", Look>> = {
  accepted: { symbol: "✔", name: "accepted" },
  continue: { symbol: "·", name: "continue" },
  challenged: { symbol: "~", name: "challenged" },
  rejected: { symbol: "✗", name: "rejected" },
  failed: { symbol: "!", name: "failed" },
  decide: { symbol: "?", name: "asks" },
  blocked: { symbol: "■", name: "blocked" },
  running: { symbol: "▸", name: "running" },
};

export function lookOf(verdict: Ruling | null): Look {
  return LOOKS[verdict ?? "running"];
}
