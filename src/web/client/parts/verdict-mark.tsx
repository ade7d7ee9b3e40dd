import type { Ruling } from "../../../core/verdict/verdict.ts";
import { lookOf } from "../verdict-look.ts";

export function VerdictMark({ verdict }: { readonly verdict: Ruling | null }) {
  const { symbol, name } = lookOf(verdict);
  return (
    <span class={`verdict is-${verdict ?? "running"}`}>
      <span class="verdict-symbol" aria-hidden="true">
        {symbol}
      </span>
      {name}
    </span>
  );
}
