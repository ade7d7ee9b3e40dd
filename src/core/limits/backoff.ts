import type { Instant } from "../time.ts";
import { SECOND_MS } from "../time.ts";

const FIRST_WAIT_MS = 2 * SECOND_MS;
const LONGEST_WAIT_MS = 120 * SECOND_MS;

/**
 * When to try again after the n-th transient failure in a row: four times as long each time, with a jitter drawn from the
 * iteration's number so that the same log always gives the same answer.
 */
export function retryAt(now: Instant, failuresInARow: number, iteration: number): Instant {
  const wait = Math.min(FIRST_WAIT_MS * 4 ** Math.max(0, failuresInARow - 1), LONGEST_WAIT_MS);
  const jitter = ((iteration * 2_654_435_761) % 1_000) / 1_000;
  return Math.round(now + wait * (0.75 + jitter / 2));
}
