import { isoTime, type Instant } from "../../time.ts";

export interface Tick {
  readonly at: number;
  readonly label: string;
}

const NUMBERS_MOST = 5;
const TINY = 1e-6;

/** Round numbers from 0 to at least the largest value, no closer than `closest`. */
export function numberTicks(largest: number, label: (value: number) => string, closest = 0): readonly Tick[] {
  const rough = Math.max(largest / (NUMBERS_MOST - 1), closest, TINY);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough) ?? rough;
  const steps = Math.max(1, Math.ceil(largest / step - 1e-9));
  return Array.from({ length: steps + 1 }, (_, index) => {
    const at = index * step;
    return { at, label: label(at) };
  });
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const STEPS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * DAY_MS),
];

/** Round moments between two others, at most so many. */
export function timeTicks(from: Instant, to: Instant, most: number): readonly Tick[] {
  const step = STEPS.find((size) => (to - from) / size <= most) ?? to - from;
  const first = Math.ceil(from / step) * step;
  const number = Math.max(0, Math.floor((to - first) / step) + 1);
  return Array.from({ length: number }, (_, index) => {
    const at = first + index * step;
    return { at, label: timeLabel(at, step) };
  });
}

function timeLabel(at: Instant, step: number): string {
  const iso = isoTime(at);
  if (step >= DAY_MS) return iso.slice(5, 10);
  return step < MINUTE_MS ? iso.slice(11, 19) : iso.slice(11, 16);
}

/** A place in a drawing, with one digit. */
export function place(value: number): number {
  return Math.round(value * 10) / 10;
}
