import type { Series } from "../views/run-list.ts";
import { VERDICT_SIGNS } from "../views/signs.ts";
import type { Timeline, TimeSpan } from "../views/timeline.ts";
import { formatDuration, type Instant, isoTime } from "../time.ts";
import { markup, type Markup, NOTHING } from "./page.ts";
import { SPANS, timeOfDay } from "./words.ts";

/** How a time line is drawn: all of it, or the part that a person looks at. */
export interface TimelineLook {
  /** Where what is still under way ends. */
  readonly until: Instant;
  readonly shown?: TimeRange;
  readonly width?: number;
  readonly selected?: TimeSpan | null;
  readonly timeLabel?: TimeLabel;
}

export interface TimeRange {
  readonly from: Instant;
  readonly to: Instant;
}

type TimeLabel = (at: Instant, step: number) => string;

/** Beside it are the names of the lanes. */
export const LEFT = 66;
export const RIGHT = 10;
export const TOP = 8;
export const LANE = 58;
const AXIS = 26;
const TICK_WIDTH = 90;
const NARROWEST = 1.5;
/** Narrower bars have no line around them: it would be all there is to see. */
const THIN = 4;
const LETTER = 7;
const TOLD = 300;

/** Where the bars of a lane lie. Merges go on while the next agent works: they have a line of their own. */
const PLACES: Readonly<Partial<Record<TimeSpan["is"], readonly [top: number, height: number]>>> = {
  agent: [18, 26],
  merge: [46, 5],
};
const BESIDE_AGENTS = [25, 12] as const;

/** Every lane as a row of bars. */
export function timelineSvg(timeline: Timeline, look: TimelineLook): Markup {
  const { lanes, spans } = timeline;
  const { until, width = 1_000, timeLabel = utcLabel } = look;
  const shown = look.shown ?? { from: timeline.from, to: Math.max(until, timeline.from + 1) };
  const floor = TOP + lanes * LANE;
  const right = width - RIGHT;
  const numbers = new Map(spans.map((span, index) => [span, index]));
  const x = (at: Instant): number =>
    LEFT + Math.min(1, Math.max(0, (at - shown.from) / (shown.to - shown.from))) * (right - LEFT);
  const bar = (span: TimeSpan, y: number, height: number): Markup => {
    const left = x(span.from);
    const wide = Math.max(NARROWEST, x(span.to ?? until) - left);
    const kind = `span is-${kindOf(span)}${span.iteration === null ? "" : " is-link"}${wide < THIN ? " thin" : ""}${span === look.selected ? " is-selected" : ""}`;
    return markup`<rect class="${kind}" data-span="${numbers.get(span) ?? 0}" x="${place(left)}" y="${y}" width="${place(wide)}" height="${height}"${span.is === "agent" ? markup` rx="2"` : NOTHING}><title>${spanInWords(span, until)}</title></rect>`;
  };
  const row = (lane: number): Markup => {
    const top = TOP + (lane - 1) * LANE;
    const own = visible(spans, lane, { shown, until, width });
    return markup`<text class="lane-name" x="0" y="${top + 36}">Lane ${lane}</text><line class="rule" x1="${LEFT}" x2="${right}" y1="${top + LANE - 8}" y2="${top + LANE - 8}"/>
${own.map((span) => {
  const [y, height] = PLACES[span.is] ?? BESIDE_AGENTS;
  return bar(span, top + y, height);
})}
${labels(own, { x, until, y: top + 13 })}`;
  };
  const ticks = timeTicks(shown.from, shown.to, Math.max(1, (right - LEFT) / TICK_WIDTH), timeLabel);
  return markup`<svg class="timeline" viewBox="0 0 ${width} ${floor + AXIS}" role="img" aria-label="Time line of ${lanes} ${lanes === 1 ? "lane" : "lanes"} over ${formatDuration(shown.to - shown.from)}">
${PATTERNS}
${ticks.map(
  ({ at, label }) =>
    markup`<line class="grid-line" x1="${place(x(at))}" x2="${place(x(at))}" y1="${TOP}" y2="${floor + 4}"/><text class="tick" text-anchor="middle" x="${place(Math.min(x(at), width - 26))}" y="${floor + 19}">${label}</text>`,
)}
${visible(spans, null, { shown, until, width }).map((span) => bar(span, TOP, floor - TOP))}
${Array.from({ length: lanes }, (_, index) => row(index + 1))}
</svg>`;
}

/** The class of a span, and what it is called. */
function kindOf({ is, verdict }: Pick<TimeSpan, "is" | "verdict">): string {
  return is === "agent" ? (verdict ?? "running") : is;
}

/** Those of a lane that can be seen; of what falls into the same pixel, the first. */
function visible(
  spans: readonly TimeSpan[],
  lane: number | null,
  { shown, until, width }: { readonly shown: TimeRange; readonly until: Instant; readonly width: number },
): readonly TimeSpan[] {
  const msPerPixel = (shown.to - shown.from) / width;
  const drawnTo = { merge: -Infinity, other: -Infinity };
  return spans.filter((span) => {
    const to = span.to ?? until;
    if (span.lane !== lane || to < shown.from || span.from > shown.to) return false;
    const kind = span.is === "merge" ? "merge" : "other";
    if (to < drawnTo[kind] + msPerPixel) return false;
    drawnTo[kind] = to;
    return true;
  });
}

/** Sign and task above the bars of agents, so that a short one has its mark, too; where there is no room they are left out. */
function labels(
  spans: readonly TimeSpan[],
  { x, until, y }: { readonly x: (at: Instant) => number; readonly until: Instant; readonly y: number },
): readonly Markup[] {
  let takenTo = -Infinity;
  return spans.flatMap((span) => {
    const left = x(span.from);
    if (span.is !== "agent" || left < takenTo) return [];
    const kind = span.verdict ?? "running";
    const { sign } = VERDICT_SIGNS[kind];
    const letters = Math.floor((x(span.to ?? until) - left) / LETTER);
    const label = letters < Math.min((span.task ?? "").length + 2, 8) ? sign : `${sign} ${span.task ?? ""}`;
    const text = label.length <= letters || label === sign ? label : `${label.slice(0, letters - 1)}…`;
    takenTo = left + Math.max(2, text.length) * LETTER;
    return [markup`<text class="mark t-${kind}" x="${place(left)}" y="${y}">${text}</text>`];
  });
}

function spanInWords(span: TimeSpan, until: Instant): string {
  const { is, from, to, task, iteration, agent, says } = span;
  const what =
    is === "agent"
      ? `Iteration ${iteration ?? 0} on ${task ?? ""} by ${agent ?? ""}: ${kindOf(span)}`
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
  const kinds = new Map(spans.map((span) => [kindOf(span), span]));
  const entries = [...kinds].map(([kind, { is, verdict }]) => {
    const label = is === "agent" ? `${VERDICT_SIGNS[verdict ?? "running"].sign} ${kind}` : SPANS[is];
    return markup`<li><svg viewBox="0 0 22 14" width="22" height="14" aria-hidden="true"><rect class="span is-${kind}" x="0.5" y="0.5" width="21" height="13"/></svg> ${label}</li>`;
  });
  return markup`<ul class="legend" aria-label="Legend">${entries}</ul>`;
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
  readonly timeLabel?: TimeLabel;
}

/** What grew with time, in steps; `limit` is a line that it should not pass. */
export function lineChart({ x, y }: Series, limit: number | null, words: ChartWords): Markup {
  const { timeLabel = utcLabel } = words;
  const known = x.flatMap((at, index) => {
    const value = y[index] ?? null;
    return value === null ? [] : [{ at, value }];
  });
  const [from, to] = [known[0]?.at ?? 0, known.at(-1)?.at ?? 1];
  const largest = known.reduce((most, { value }) => Math.max(most, value), limit ?? 0);
  const right = (at: number): number => BOX.left + ((at - from) / Math.max(1, to - from)) * INNER_WIDTH;
  return frame(words, largest, (up) => {
    const points = known.map(({ at, value }) => ({
      left: place(right(at)),
      top: place(up(value)),
      says: `${timeLabel(at, SECOND_MS)}: ${words.value(value)}`,
    }));
    const path = points
      .map(({ left, top }, index) => (index === 0 ? `M${left} ${top}` : `H${left}V${top}`))
      .join("");
    const dots = points.length > DOTS_MAX ? [] : points.slice(1);
    return markup`${timeTicks(from, to, 5, timeLabel).map(({ at, label }) => below(right(at), label))}
<path class="chart-area" d="${path}V${FLOOR}H${points[0]?.left ?? BOX.left}Z"/><path class="chart-line" d="${path}"/>
${dots.map(({ left, top, says }) => markup`<circle class="chart-dot" cx="${left}" cy="${top}" r="2.6"><title>${says}</title></circle>`)}
${limit === null ? NOTHING : limitLine(up(limit), words.value(limit))}`;
  });
}

function limitLine(top: number, label: string): Markup {
  const beside = top > FLOOR - 20 ? top - 6 : top + 14;
  return markup`<line class="chart-limit" x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${place(top)}" y2="${place(top)}"/><text class="tick" x="${BOX.left + 6}" y="${place(beside)}">budget ${label}</text>`;
}

/** One bar for each iteration; of very many, the highest of some neighbours. */
export function barChart({ x, y }: Series, words: ChartWords): Markup {
  const size = Math.max(1, Math.ceil(x.length / BARS_MAX));
  const bars = Array.from({ length: Math.ceil(x.length / size) }, (_, index) => {
    const values = y.slice(index * size, (index + 1) * size).filter((value) => value !== null);
    return { name: String(x[index * size] ?? ""), value: values.length === 0 ? null : Math.max(...values) };
  });
  const largest = bars.reduce((most, { value }) => Math.max(most, value ?? 0), 0);
  const slot = INNER_WIDTH / Math.max(1, bars.length);
  const width = Math.min(34, slot * 0.72);
  const every = Math.ceil(bars.length / 10);
  const chart = frame(words, largest, (up) => {
    const drawn = bars.map(({ name, value }, index) => {
      const middle = BOX.left + slot * (index + 0.5);
      const label = index % every === 0 ? below(middle, name) : NOTHING;
      if (value === null) return label;
      const top = up(value);
      const height = place(Math.max(0.5, FLOOR - top));
      return markup`<rect class="chart-bar" x="${place(middle - width / 2)}" y="${place(top)}" width="${place(width)}" height="${height}"><title>${name}: ${words.value(value)}</title></rect>${label}`;
    });
    return markup`${drawn}`;
  });
  return size === 1
    ? chart
    : markup`${chart}<p class="quiet">Each bar is the highest of ${size} iterations.</p>`;
}

/** Horizontal bars, labelled above. */
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
      return markup`<text class="name" x="0" y="${top + 11}">${name}</text><rect class="chart-bar" x="0" y="${top + 16}" width="${width}" height="11"/><text class="tick" x="${width + 6}" y="${top + 26}">${count}</text>`;
    },
  )}</svg>`;
}

/** Lines in the background, up to at least the largest value, and what is drawn on them. */
function frame(
  { label, value, closest }: ChartWords,
  largest: number,
  draw: (up: (value: number) => number) => Markup,
): Markup {
  const ticks = numberTicks(largest, value, closest);
  const top = ticks.at(-1)?.at || 1;
  const up = (amount: number): number => FLOOR - (amount / top) * INNER_HEIGHT;
  return markup`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
${ticks.map(
  ({ at, label: text }) =>
    markup`<line class="grid-line" x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${place(up(at))}" y2="${place(up(at))}"/><text class="tick" text-anchor="end" x="${BOX.left - 7}" y="${place(up(at) + 4)}">${text}</text>`,
)}
${draw(up)}
</svg>`;
}

function below(middle: number, label: string): Markup {
  return markup`<text class="tick" text-anchor="middle" x="${place(Math.min(middle, WIDTH - 22))}" y="${FLOOR + 18}">${label}</text>`;
}

interface Tick {
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
export function timeTicks(
  from: Instant,
  to: Instant,
  most: number,
  timeLabel: TimeLabel = utcLabel,
): readonly Tick[] {
  const step = STEPS.find((size) => (to - from) / size <= most) ?? to - from;
  const first = Math.ceil(from / step) * step;
  const number = Math.max(0, Math.floor((to - first) / step) + 1);
  return Array.from({ length: number }, (_, index) => {
    const at = first + index * step;
    return { at, label: timeLabel(at, step) };
  });
}

function utcLabel(at: Instant, step: number): string {
  const iso = isoTime(at);
  if (step >= DAY_MS) return iso.slice(5, 10);
  return step < MINUTE_MS ? iso.slice(11, 19) : iso.slice(11, 16);
}

/** A place in a drawing, with one digit. */
export function place(value: number): number {
  return Math.round(value * 10) / 10;
}
