import { Random } from "./random.ts";

/** A mean over worlds, and where it lies with 95 % confidence. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** Worlds that have a value. */
  readonly worlds: number;
}

const RESAMPLES = 1_000;
const TAIL = 0.025;

/**
 * The mean with a percentile bootstrap interval: worlds are drawn again with replacement, by a seed of their own, and the
 * middle 95 % of the means are kept. It assumes no distribution, and a share never leaves 0 to 1. Null without values.
 */
export function estimate(values: readonly (number | null)[]): Estimate | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const random = new Random(known.length);
  const means = Array.from({ length: RESAMPLES }, () => meanOf(known.map(() => random.pick(known))));
  means.sort((a, b) => a - b);
  const at = (share: number): number => means[Math.round(share * (RESAMPLES - 1))] ?? Number.NaN;
  return { mean: meanOf(known), low: at(TAIL), high: at(1 - TAIL), worlds: known.length };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
