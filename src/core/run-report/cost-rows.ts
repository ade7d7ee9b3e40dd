import type { Recorded } from "../events.ts";
import { tokensOf } from "../projections/history.ts";

/** What one agent cost on one task. */
export interface CostRow {
  readonly task: string;
  readonly agent: string;
  readonly iterations: number;
  readonly durationMs: number;
  /** Null: nobody told. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
}

/** In the order in which they began to work. */
export function costRows(events: readonly Recorded[]): readonly CostRow[] {
  const rows = new Map<string, CostRow>();
  const keys = new Map<number, string>();
  for (const event of events) {
    if (event.type === "iteration.started") {
      const { task, agent, iteration } = event;
      const key = JSON.stringify([task, agent]);
      const row = rows.get(key) ?? { task, agent, ...NOTHING };
      keys.set(iteration, key);
      rows.set(key, { ...row, iterations: row.iterations + 1 });
    }
    if (event.type !== "iteration.ended") continue;
    const key = keys.get(event.iteration) ?? "";
    const row = rows.get(key);
    if (row === undefined) continue;
    const { durationMs, usage } = event.report;
    rows.set(key, {
      ...row,
      durationMs: row.durationMs + durationMs,
      tokens: sum(row.tokens, tokensOf(usage)),
      costUsd: sum(row.costUsd, usage.costUsd),
    });
  }
  return [...rows.values()];
}

const NOTHING = { iterations: 0, durationMs: 0, tokens: null, costUsd: null };

function sum(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
}
