import { markup, NOTHING, type Markup } from "../../core/run-report/html/markup.ts";
import { numberTicks, place } from "../../core/run-report/svg/scale.ts";
import { inWords, withInterval, type MeasureWords } from "../measure-words.ts";
import type { Estimate } from "../statistics.ts";

export interface EstimateBar {
  readonly name: string;
  readonly estimate: Estimate | null;
}

const WIDTH = 480;
const LEFT = 150;
const RIGHT = 16;
const ROW = 20;
const TOP = 6;

/** Lying bars with their intervals; `limit` is a line that they should not cross. */
export function estimateChart(
  bars: readonly EstimateBar[],
  { long, form }: MeasureWords,
  limit: number | null,
): Markup {
  const largest = Math.max(limit ?? 0, ...bars.map(({ estimate }) => estimate?.high ?? 0));
  const unit = form === "percent" ? " %" : "";
  const label = (value: number): string => `${inWords(value, form)}${unit}`;
  const ticks = numberTicks(largest === 0 ? 1 : largest, label, form === "percent" ? 0.1 : 0);
  const right = across(ticks.at(-1)?.at ?? 1);
  const floor = TOP + bars.length * ROW;
  return markup`<svg class="chart" viewBox="0 0 ${WIDTH} ${floor + 22}" role="img" aria-label="${long}">
${ticks.map(
  ({ at, label: text }) =>
    markup`<line class="grid" x1="${right(at)}" x2="${right(at)}" y1="${TOP}" y2="${floor}"/><text class="tick" text-anchor="middle" x="${right(at)}" y="${floor + 16}">${text}</text>`,
)}
${bars.map(({ name, estimate }, row) => barMarkup(name, estimate, TOP + row * ROW, right, form))}
${limit === null ? NOTHING : markup`<line class="limit" x1="${right(limit)}" x2="${right(limit)}" y1="${TOP}" y2="${floor}"/>`}
</svg>`;
}

function barMarkup(
  name: string,
  estimate: Estimate | null,
  top: number,
  right: (value: number) => number,
  form: MeasureWords["form"],
): Markup {
  const title = markup`<text class="name" x="0" y="${top + 14}">${name}</text>`;
  if (estimate === null) return title;
  const { mean, low, high } = estimate;
  const middle = top + ROW / 2;
  return markup`${title}<rect class="bar" x="${LEFT}" y="${top + 4}" width="${place(Math.max(0.5, right(mean) - LEFT))}" height="${ROW - 8}"><title>${name}: ${withInterval(estimate, form)}</title></rect><line class="whisker" x1="${right(low)}" x2="${right(high)}" y1="${middle}" y2="${middle}"/>`;
}

export interface Spread {
  readonly name: string;
  /** The least and the most that came of it. */
  readonly before: readonly [number, number];
  readonly after: readonly [number, number];
}

/** For each name two lines from the least to the most, of shares. */
export function spreadChart(spreads: readonly Spread[], label: string): Markup {
  const right = across(1);
  const floor = TOP + spreads.length * ROW;
  const line = (kind: string, [low, high]: readonly [number, number], y: number): Markup =>
    markup`<line class="${kind}" x1="${right(low)}" x2="${place(Math.max(right(high), right(low) + 2))}" y1="${y}" y2="${y}"/>`;
  return markup`<svg class="chart" viewBox="0 0 ${WIDTH} ${floor + 22}" role="img" aria-label="${label}">
${[0, 0.2, 0.4, 0.6, 0.8, 1].map(
  (at) =>
    markup`<line class="grid" x1="${right(at)}" x2="${right(at)}" y1="${TOP}" y2="${floor}"/><text class="tick" text-anchor="middle" x="${right(at)}" y="${floor + 16}">${Math.round(at * 100)} %</text>`,
)}
${spreads.map(({ name, before, after }, row) => {
  const middle = TOP + row * ROW + ROW / 2;
  return markup`<text class="name" x="0" y="${middle + 4}">${name}</text>${line("spread before", before, middle)}${line("spread", after, middle)}`;
})}
</svg>`;
}

function across(most: number): (value: number) => number {
  return (value) => place(LEFT + (value / most) * (WIDTH - LEFT - RIGHT));
}
