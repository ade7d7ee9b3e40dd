import type { Instant } from "../../core/time.ts";

export interface Span {
  readonly from: Instant;
  readonly to: Instant;
}

const SHORTEST_MS = 1_000;
const STEPS_MS = [
  1_000, 5_000, 15_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000,
  43_200_000, 86_400_000,
];
const TICK_PX = 90;

/** `factor` below 1 shows less time, around the instant `at`. */
export function zoomed(span: Span, whole: Span, factor: number, at: Instant): Span | null {
  const length = (span.to - span.from) * factor;
  if (length >= whole.to - whole.from) return null;
  const next = Math.max(SHORTEST_MS, length);
  const share = (at - span.from) / (span.to - span.from);
  return within({ from: at - next * share, to: at + next * (1 - share) }, whole);
}

export function moved(span: Span, whole: Span, byMs: number): Span {
  return within({ from: span.from + byMs, to: span.to + byMs }, whole);
}

export function ticksOf(span: Span, width: number): readonly Instant[] {
  const length = span.to - span.from;
  const most = Math.max(1, width / TICK_PX);
  const step =
    STEPS_MS.find((one) => length / one <= most) ?? Math.ceil(length / most / 86_400_000) * 86_400_000;
  const offset = new Date(span.from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((span.from - offset) / step) * step + offset;
  const ticks: Instant[] = [];
  for (let at = first; at <= span.to; at += step) ticks.push(at);
  return ticks;
}

function within({ from, to }: Span, whole: Span): Span {
  const length = to - from;
  const start = Math.min(Math.max(from, whole.from), Math.max(whole.from, whole.to - length));
  return { from: start, to: start + length };
}
