import type { Instant } from "../time.ts";

const HOUR_MS = 3_600_000;

/** Calls are counted by the clock hour, so that everybody who shares them agrees on it. */
export function hourOf(now: Instant): { readonly since: Instant; readonly until: Instant } {
  const since = Math.floor(now / HOUR_MS) * HOUR_MS;
  return { since, until: since + HOUR_MS };
}
