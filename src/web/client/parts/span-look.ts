import type { TimeSpan } from "../../../core/projections/timeline.ts";
import { lookOf } from "../verdict-look.ts";

/** How a span is drawn: `key` names its class and its pattern. */
export interface SpanLook {
  readonly key: string;
  readonly symbol: string;
  readonly name: string;
}

const OTHERS: Readonly<Record<Exclude<TimeSpan["is"], "agent">, SpanLook>> = {
  gates: { key: "gates", symbol: "≡", name: "gates" },
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
