import type { Instant } from "../time.ts";

/** A line or bars: the same number of moments (or iterations) and values. Null: not known. */
export interface Series {
  readonly name: string;
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
}

export interface Charts {
  /** Dollars spent so far, by time. */
  readonly cost: Series;
  /** Dollars for each accepted task so far, by time. */
  readonly costPerTask: Series;
  /** Minutes, by iteration. */
  readonly duration: Series;
  /** Files changed, by iteration. */
  readonly files: Series;
  /** How often each type of intervention was chosen, the most frequent first. */
  readonly interventions: readonly { readonly type: string; readonly count: number }[];
  /** Where the budget will be at this rate. */
  readonly forecast: Forecast | null;
}

export interface Forecast {
  readonly budgetUsd: number;
  readonly spentUsd: number;
  /** Of the whole plan, if it goes on like this; null: too early to tell. */
  readonly planUsd: number | null;
  /** When the budget is used up at this rate; null: not before the plan is done, or nothing is spent. */
  readonly reachedAt: Instant | null;
}
