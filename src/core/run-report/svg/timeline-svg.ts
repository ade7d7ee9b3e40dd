import { formatDuration } from "../../duration.ts";
import type { TimeSpan, Timeline } from "../../projections/timeline.ts";
import type { Instant } from "../../time.ts";
import type { Ruling } from "../../verdict/verdict.ts";
import { markup, NOTHING, type Markup } from "../html/markup.ts";
import { MARKS, RULINGS, SPANS, timeOfDay } from "../words.ts";
import { place, timeTicks } from "./scale.ts";

const WIDTH = 1_000;
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
    LEFT + ((Math.min(at, to) - from) / (to - from)) * (WIDTH - LEFT - RIGHT);
  const drawn = { x, until: to, bottom: TOP + lanes * LANE };
  const ofLane = (lane: number): readonly TimeSpan[] => spans.filter((span) => span.lane === lane);
  const numbers = Array.from({ length: lanes }, (_, index) => index + 1);
  return markup`<svg class="timeline" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Time line of ${lanes} ${lanes === 1 ? "lane" : "lanes"} over ${formatDuration(to - from)}">
${PATTERNS}
${timeTicks(from, to, 9).map(
  ({ at, label }) =>
    markup`<line class="grid" x1="${place(x(at))}" x2="${place(x(at))}" y1="${TOP}" y2="${drawn.bottom + 4}"/><text class="tick" text-anchor="middle" x="${place(Math.min(x(at), WIDTH - 26))}" y="${drawn.bottom + 19}">${label}</text>`,
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
  return markup`<text class="lane" x="0" y="${top + 36}">Lane ${lane}</text><line class="rule" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${top + LANE - 8}" y2="${top + LANE - 8}"/>
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
