import type { Series } from "../projections/run-list.ts";
import type { Timeline, TimeSpan } from "../projections/timeline.ts";
import { formatDuration, type Instant, isoTime } from "../time.ts";
import type { Ruling } from "../verdict/verdict.ts";
import { markup, type Markup, NOTHING } from "./page.ts";
import { MARKS, RULINGS, SPANS, timeOfDay } from "./words.ts";

const TIMELINE_WIDTH = 1_000;
const LEFT = 66;
const RIGHT = 10;
const TOP = 8;
const LANE = 58;
const AXIS = 26;
const NARROWEST = 1;
/** Narrower bars have no line around them: it would be all there is to see. */
const THIN = 4;
const MARK_SPACE = 13;
const TOLD = 300;

/** Every lane as a row of bars, from the run's beginning to its end. */
export function timelineSvg(timeline: Timeline, now: Instant): Markup {
  const { from, lanes, spans } = timeline;
  const to = Math.max(timeline.to ?? now, from + 1);
  const height = TOP + lanes * LANE + AXIS;
  const x = (at: Instant): number =>
    LEFT + ((Math.min(at, to) - from) / (to - from)) * (TIMELINE_WIDTH - LEFT - RIGHT);
  const drawn = { x, until: to, bottom: TOP + lanes * LANE };
  const ofLane = (lane: number): readonly TimeSpan[] => spans.filter((span) => span.lane === lane);
  const numbers = Array.from({ length: lanes }, (_, index) => index + 1);
  return markup`<svg class="timeline" viewBox="0 0 ${TIMELINE_WIDTH} ${height}" role="img" aria-label="Time line of ${lanes} ${lanes === 1 ? "lane" : "lanes"} over ${formatDuration(to - from)}">
${PATTERNS}
${timeTicks(from, to, 9).map(
  ({ at, label }) =>
    markup`<line class="grid" x1="${place(x(at))}" x2="${place(x(at))}" y1="${TOP}" y2="${drawn.bottom + 4}"/><text class="tick" text-anchor="middle" x="${place(Math.min(x(at), TIMELINE_WIDTH - 26))}" y="${drawn.bottom + 19}">${label}</text>`,
)}
${spans.filter(({ lane }) => lane === null).map((span) => acrossLanes(span, drawn))}
${numbers.map((lane) => laneMarkup(lane, ofLane(lane), drawn))}
</svg>`;
}

interface Drawn {
  readonly x: (at: Instant) => number;
  /** Where what is still under way ends. */
  readonly until: Instant;
  readonly bottom: number;
}

function acrossLanes(span: TimeSpan, drawn: Drawn): Markup {
  return bar(span, drawn, TOP, drawn.bottom - TOP);
}

function laneMarkup(lane: number, spans: readonly TimeSpan[], drawn: Drawn): Markup {
  const top = TOP + (lane - 1) * LANE;
  return markup`<text class="lane" x="0" y="${top + 36}">Lane ${lane}</text><line class="rule" x1="${LEFT}" x2="${TIMELINE_WIDTH - RIGHT}" y1="${top + LANE - 8}" y2="${top + LANE - 8}"/>
${spans.map((span) => inLane(span, drawn, top))}
${marksOf(spans, drawn, top)}`;
}

/** Merges go on while the next agent works: they have a line of their own. */
function inLane(span: TimeSpan, drawn: Drawn, top: number): Markup {
  switch (span.is) {
    case "agent":
      return bar(span, drawn, top + 18, 26);
    case "merge":
      return bar(span, drawn, top + 46, 5);
    default:
      return bar(span, drawn, top + 25, 12);
  }
}

function bar(span: TimeSpan, { x, until }: Drawn, y: number, height: number): Markup {
  const left = x(span.from);
  const width = Math.max(NARROWEST, x(span.to ?? until) - left);
  const verdict = span.is === "agent" ? ` v-${span.verdict ?? "open"}` : "";
  const kind = `${span.is}${verdict}${width < THIN ? " thin" : ""}`;
  return markup`<rect class="${kind}" x="${place(left)}" y="${y}" width="${place(width)}" height="${height}"${span.is === "agent" ? markup` rx="2"` : NOTHING}><title>${spanInWords(span, until)}</title></rect>`;
}

/** Above the bars, so that a short one has its mark, too; where there is no room they are left out. */
function marksOf(spans: readonly TimeSpan[], { x, until }: Drawn, top: number): readonly Markup[] {
  let last = -Infinity;
  return spans
    .filter(({ is }) => is === "agent")
    .flatMap(({ from, to, verdict }) => {
      const middle = (x(from) + x(to ?? until)) / 2;
      if (middle - last < MARK_SPACE) return [];
      last = middle;
      const kind: Ruling | "open" = verdict ?? "open";
      return [
        markup`<text class="mark t-${kind}" text-anchor="middle" x="${place(middle)}" y="${top + 13}">${MARKS[kind]}</text>`,
      ];
    });
}

function spanInWords(span: TimeSpan, until: Instant): string {
  const { is, from, to, task, iteration, agent, verdict, says } = span;
  const what =
    is === "agent"
      ? `Iteration ${iteration ?? 0} on ${task ?? ""} by ${agent ?? ""}: ${RULINGS[verdict ?? "open"]}`
      : `${SPANS[is]}${task === null ? "" : ` of ${task}`}`;
  const told = says.length > TOLD ? `${says.slice(0, TOLD)}…` : says;
  return `${what}\n${timeOfDay(from)}, ${formatDuration((to ?? until) - from)}\n${told}`;
}

const PATTERNS = markup`<defs>
<pattern id="p-gates" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="p-back" width="6" height="6"/><rect class="p-gates" width="2.4" height="6"/></pattern>
<pattern id="p-baseline" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="p-back" width="6" height="6"/><circle class="p-gates" cx="3" cy="3" r="1.5"/></pattern>
<pattern id="p-wait" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="p-wait" width="1.5" height="9"/></pattern>
</defs>`;

/** What the bars and marks mean. */
export function timelineLegend({ spans }: Timeline): Markup {
  const verdicts = new Set<Ruling | "open">(
    spans.flatMap(({ is, verdict }) => (is === "agent" ? [verdict ?? "open"] : [])),
  );
  const kinds = new Set(spans.map(({ is }) => is).filter((is) => is !== "agent"));
  const sample = (kind: string, label: string, mark: string): Markup =>
    markup`<li><svg viewBox="0 0 22 14" width="22" height="14" aria-hidden="true"><rect class="${kind}" x="0.5" y="0.5" width="21" height="13"/></svg> ${mark} ${label}</li>`;
  return markup`<ul class="legend">${[...verdicts].map((verdict) =>
    sample(`agent v-${verdict}`, RULINGS[verdict], MARKS[verdict]),
  )}${[...kinds].map((kind) => sample(kind, SPANS[kind], ""))}</ul>`;
}

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
