import type { Series } from "../../projections/charts.ts";
import { markup, NOTHING, type Markup } from "../html/markup.ts";
import { numberTicks, place, timeTicks, type Tick } from "./scale.ts";

const WIDTH = 480;
const HEIGHT = 220;
const BOX = { left: 50, right: 12, top: 12, bottom: 28 };
const INNER_WIDTH = WIDTH - BOX.left - BOX.right;
const INNER_HEIGHT = HEIGHT - BOX.top - BOX.bottom;
const FLOOR = HEIGHT - BOX.bottom;
const BARS_MAX = 120;
const DOTS_MAX = 60;

export interface ChartWords {
  /** For those who hear it. */
  readonly label: string;
  readonly value: (value: number) => string;
  /** Of two lines in the background. */
  readonly closest?: number;
}

/** What grew with time, in steps; `limit` is a line that it should not pass. */
export function lineChart({ x, y }: Series, limit: number | null, words: ChartWords): Markup {
  const known = x.flatMap((at, index) => {
    const value = y[index] ?? null;
    return value === null ? [] : [{ at, value }];
  });
  const [from, to] = [known[0]?.at ?? 0, known.at(-1)?.at ?? 1];
  const largest = known.reduce((most, { value }) => Math.max(most, value), limit ?? 0);
  const ticks = numberTicks(largest, words.value, words.closest);
  const right = (at: number): number => BOX.left + ((at - from) / Math.max(1, to - from)) * INNER_WIDTH;
  const up = heightOf(ticks);
  const points = known.map(({ at, value }) => ({ left: place(right(at)), top: place(up(value)) }));
  const path = points
    .map(({ left, top }, index) => (index === 0 ? `M${left} ${top}` : `H${left}V${top}`))
    .join("");
  const dots = points.length > DOTS_MAX ? [] : points.slice(1);
  return frame(
    words.label,
    ticks,
    markup`${timeTicks(from, to, 5).map(({ at, label }) => below(right(at), label))}
<path class="area" d="${path}V${FLOOR}H${points[0]?.left ?? BOX.left}Z"/><path class="line" d="${path}"/>
${dots.map(({ left, top }) => markup`<circle class="dot" cx="${left}" cy="${top}" r="2.6"/>`)}
${limit === null ? NOTHING : limitLine(up(limit), words.value(limit))}`,
  );
}

function limitLine(top: number, label: string): Markup {
  const beside = top > FLOOR - 20 ? top - 6 : top + 14;
  return markup`<line class="limit" x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${place(top)}" y2="${place(top)}"/><text class="tick" x="${BOX.left + 6}" y="${place(beside)}">budget ${label}</text>`;
}

/** One bar for each iteration; of very many, the highest of some neighbours. */
export function barChart(series: Series, words: ChartWords): Markup {
  const size = Math.max(1, Math.ceil(series.x.length / BARS_MAX));
  const bars = grouped(series, size);
  const ticks = numberTicks(
    bars.reduce((most, { value }) => Math.max(most, value ?? 0), 0),
    words.value,
    words.closest,
  );
  const up = heightOf(ticks);
  const slot = INNER_WIDTH / Math.max(1, bars.length);
  const width = Math.min(34, slot * 0.72);
  const every = Math.ceil(bars.length / 10);
  const chart = frame(
    words.label,
    ticks,
    markup`${bars.map(({ name, value }, index) => {
      const middle = BOX.left + slot * (index + 0.5);
      const label = index % every === 0 ? below(middle, name) : NOTHING;
      return value === null
        ? label
        : markup`${column(middle - width / 2, up(value), width, `${name}: ${words.value(value)}`)}${label}`;
    })}`,
  );
  return size === 1
    ? chart
    : markup`${chart}<p class="quiet">Each bar is the highest of ${size} iterations.</p>`;
}

function column(left: number, top: number, width: number, title: string): Markup {
  return markup`<rect class="bar" x="${place(left)}" y="${place(top)}" width="${place(width)}" height="${place(Math.max(0.5, FLOOR - top))}"><title>${title}</title></rect>`;
}

interface Bar {
  readonly name: string;
  readonly value: number | null;
}

function grouped({ x, y }: Series, size: number): readonly Bar[] {
  return Array.from({ length: Math.ceil(x.length / size) }, (_, index) => {
    const values = y.slice(index * size, (index + 1) * size).filter((value) => value !== null);
    return { name: String(x[index * size] ?? ""), value: values.length === 0 ? null : Math.max(...values) };
  });
}

/** Lying bars, with their names above them. */
export function countChart(
  counts: readonly { readonly name: string; readonly count: number }[],
  label: string,
): Markup {
  const most = counts.reduce((largest, { count }) => Math.max(largest, count), 1);
  const height = Math.max(60, counts.length * 34 + 8);
  return markup`<svg class="chart" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">${counts.map(
    ({ name, count }, index) => {
      const top = 4 + index * 34;
      const width = place(Math.max(2, (count / most) * (WIDTH - 60)));
      return markup`<text class="name" x="0" y="${top + 11}">${name}</text><rect class="bar" x="0" y="${top + 16}" width="${width}" height="11"/><text class="tick" x="${width + 6}" y="${top + 26}">${count}</text>`;
    },
  )}</svg>`;
}

function frame(label: string, ticks: readonly Tick[], content: Markup): Markup {
  const up = heightOf(ticks);
  return markup`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
${ticks.map(
  ({ at, label: text }) =>
    markup`<line class="grid" x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${place(up(at))}" y2="${place(up(at))}"/><text class="tick" text-anchor="end" x="${BOX.left - 7}" y="${place(up(at) + 4)}">${text}</text>`,
)}
${content}
</svg>`;
}

function below(middle: number, label: string): Markup {
  return markup`<text class="tick" text-anchor="middle" x="${place(Math.min(middle, WIDTH - 22))}" y="${FLOOR + 18}">${label}</text>`;
}

function heightOf(ticks: readonly Tick[]): (value: number) => number {
  const top = ticks.at(-1)?.at ?? 1;
  return (value) => FLOOR - (value / (top === 0 ? 1 : top)) * INNER_HEIGHT;
}
