import type { TimeRange } from "../../core/report/svg.ts";
import type { Instant } from "../../core/time.ts";

const SHORTEST_MS = 1_000;

/** `factor` below 1 shows less time, around the instant `at`. Null: all of it. */
export function zoomed(range: TimeRange, whole: TimeRange, factor: number, at: Instant): TimeRange | null {
  const length = (range.to - range.from) * factor;
  if (length >= whole.to - whole.from) return null;
  const next = Math.max(SHORTEST_MS, length);
  const share = (at - range.from) / (range.to - range.from);
  return within({ from: at - next * share, to: at + next * (1 - share) }, whole);
}

export function moved(range: TimeRange, whole: TimeRange, byMs: number): TimeRange {
  return within({ from: range.from + byMs, to: range.to + byMs }, whole);
}

function within({ from, to }: TimeRange, whole: TimeRange): TimeRange {
  const length = to - from;
  const start = Math.min(Math.max(from, whole.from), Math.max(whole.from, whole.to - length));
  return { from: start, to: start + length };
}
