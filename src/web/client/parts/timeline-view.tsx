import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Timeline, TimeSpan } from "../../../core/projections/timeline.ts";
import { clockTime, count, duration, sentence } from "../format.ts";
import { now } from "../overview-store.ts";
import { navigate } from "../router.ts";
import { type Span, ticksOf, zoomed } from "../timeline-scale.ts";
import { lookOfSpan, spanKey, type SpanLook, OTHERS } from "../verdict-look.ts";
import { RULINGS } from "../../../core/verdict/verdict.ts";
import { clamp, keyAct, useGestures, ZOOM_STEP } from "./timeline-gestures.ts";

/** What happened when, a row for each lane; zoomed by wheel and keys, moved by dragging. */
export function TimelineView({ timeline, isOn }: { readonly timeline: Timeline; readonly isOn: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [chosen, choose] = useState<Span | null>(null);
  const [selected, select] = useState<TimeSpan | null>(null);
  const end = timeline.to ?? (isOn ? now.value : lastKnown(timeline));
  const whole = { from: timeline.from, to: Math.max(end, timeline.from + 1_000) };
  const shown = chosen ?? whole;
  const inner = Math.max(50, width - GUTTER);
  const x = (at: number): number => GUTTER + ((at - shown.from) / (shown.to - shown.from)) * inner;
  const rows = rowsOf(timeline);
  useGestures(frame, { shown, whole, inner, gutter: GUTTER, choose });
  const zoomBy = (factor: number): void => choose(zoomed(shown, whole, factor, (shown.from + shown.to) / 2));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const act = keyAct(event.key, { shown, whole, zoomBy, choose, selected, select, spans: timeline.spans });
    if (act === null) return;
    event.preventDefault();
    act();
  };
  return (
    <section class="timeline" aria-label="Time line">
      <div class="timeline-bar">
        <TimelineLegend spans={timeline.spans} />
        <Zoom zoomBy={zoomBy} all={chosen === null ? null : () => choose(null)} />
      </div>
      <div
        ref={frame}
        class="timeline-frame"
        role="application"
        tabIndex={0}
        aria-label={`Time line of ${count(timeline.spans.length, "span")}. Arrow keys move, plus and minus zoom, up and down choose a span, Enter opens it.`}
        onKeyDown={onKeyDown}
        onPointerLeave={() => select(null)}
      >
        <Lanes
          {...{
            timeline,
            rows,
            shown,
            end: whole.to,
            x,
            width,
            isLive: isOn && chosen === null,
            selected,
            select,
          }}
        />
        {selected !== null && (
          <SpanTip
            span={selected}
            end={whole.to}
            left={clamp((x(selected.from) + x(selected.to ?? whole.to)) / 2, GUTTER, width)}
            top={(rows.indexOf(selected.lane) + 1) * ROW}
            width={width}
          />
        )}
      </div>
      <p class="muted timeline-range">
        {clockTime(shown.from, true)} –{" "}
        {isOn && timeline.to === null && chosen === null ? "now" : clockTime(shown.to, true)} (
        {duration(shown.to - shown.from)})
      </p>
    </section>
  );
}

function rowsOf({ spans, lanes }: Timeline): readonly (number | null)[] {
  const hasAll = spans.some(({ lane }) => lane === null);
  return [...(hasAll ? [null] : []), ...Array.from({ length: lanes }, (_, index) => index + 1)];
}

function Zoom(props: { readonly zoomBy: (factor: number) => void; readonly all: (() => void) | null }) {
  const { zoomBy, all } = props;
  return (
    <div class="timeline-zoom" role="group" aria-label="Zoom">
      <button type="button" class="small" aria-label="Zoom in" onClick={() => zoomBy(1 / ZOOM_STEP)}>
        +
      </button>
      <button type="button" class="small" aria-label="Zoom out" onClick={() => zoomBy(ZOOM_STEP)}>
        −
      </button>
      <button type="button" class="small" disabled={all === null} onClick={() => all?.()}>
        All
      </button>
    </div>
  );
}

interface LanesProps {
  readonly timeline: Timeline;
  readonly rows: readonly (number | null)[];
  readonly shown: Span;
  readonly end: number;
  readonly x: (at: number) => number;
  readonly width: number;
  readonly isLive: boolean;
  readonly selected: TimeSpan | null;
  readonly select: (span: TimeSpan | null) => void;
}

function Lanes({ timeline, rows, shown, end, x, width, isLive, selected, select }: LanesProps) {
  const height = rows.length * ROW + AXIS;
  const inner = width - GUTTER;
  return (
    <svg width={width} height={height} aria-hidden="true">
      <TimelineDefs />
      <Axis shown={shown} x={x} inner={inner} height={height} />
      {rows.map((lane, row) => (
        <g key={String(lane)}>
          <text class="lane-name" x={8} y={row * ROW + ROW / 2}>
            {lane === null ? "all" : `Slot ${lane}`}
          </text>
          {visible(timeline.spans, lane, shown, end, inner).map((span) => (
            <SpanBar
              key={spanKey(span)}
              span={span}
              left={Math.max(GUTTER, x(span.from))}
              right={Math.min(width, x(span.to ?? end))}
              row={row}
              isSelected={selected !== null && spanKey(span) === spanKey(selected)}
              onSelect={select}
            />
          ))}
        </g>
      ))}
      {timeline.to === null && isLive && (
        <line class="now-line" x1={x(end) - 0.5} x2={x(end) - 0.5} y1={0} y2={height - AXIS} />
      )}
    </svg>
  );
}

/** An interrupted run did nothing any more after this. */
function lastKnown({ from, spans }: Timeline): number {
  return spans.reduce((latest, span) => Math.max(latest, span.to ?? span.from), from);
}

/** Those of a lane that can be seen; of what falls into the same pixel, the first. */
function visible(
  spans: readonly TimeSpan[],
  lane: number | null,
  shown: Span,
  end: number,
  inner: number,
): readonly TimeSpan[] {
  const msPerPixel = (shown.to - shown.from) / inner;
  const drawnTo = { merge: Number.NEGATIVE_INFINITY, other: Number.NEGATIVE_INFINITY };
  return spans.filter((span) => {
    const to = span.to ?? end;
    if (span.lane !== lane || to < shown.from || span.from > shown.to) return false;
    const kind = span.is === "merge" ? "merge" : "other";
    if (to < drawnTo[kind] + msPerPixel) return false;
    drawnTo[kind] = to;
    return true;
  });
}

function useWidth(frame: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return width;
}

const ROW = 40;
const AXIS = 26;
const GUTTER = 58;
const BAR = 26;
/** Merges go on beside the next work of their lane. */
const MERGE_BAR = 7;
const TICK_LABEL = 22;

function Axis(props: {
  readonly shown: Span;
  readonly x: (at: number) => number;
  readonly inner: number;
  readonly height: number;
}) {
  const { shown, x, inner, height } = props;
  const withSeconds = shown.to - shown.from < 10 * 60_000;
  return (
    <g class="axis">
      {ticksOf(shown, inner).map((at) => (
        <g key={at}>
          <line x1={x(at)} x2={x(at)} y1={0} y2={height - AXIS + 4} />
          {x(at) < GUTTER + inner - TICK_LABEL && (
            <text x={x(at)} y={height - 8}>
              {clockTime(at, withSeconds)}
            </text>
          )}
        </g>
      ))}
    </g>
  );
}

function SpanBar(props: {
  readonly span: TimeSpan;
  readonly left: number;
  readonly right: number;
  readonly row: number;
  readonly isSelected: boolean;
  readonly onSelect: (span: TimeSpan) => void;
}) {
  const { span, left, right, isSelected, onSelect } = props;
  const isMerge = span.is === "merge";
  const y = props.row * ROW + (isMerge ? BAR + 5 : 3);
  const { key, symbol } = lookOfSpan(span);
  const wide = Math.max(1.5, right - left - 1);
  const letters = Math.floor((wide - 10) / 7);
  const label = isMerge ? "" : labelOf(symbol, span.task, letters);
  const { iteration } = span;
  return (
    <g
      class={`span is-${key} ${isSelected ? "is-selected" : ""} ${iteration === null ? "" : "is-link"}`}
      onPointerEnter={() => onSelect(span)}
      onClick={() => {
        if (iteration !== null) navigate(`/iterations/${iteration}`);
      }}
    >
      <rect
        class="span-shape"
        x={left}
        y={y}
        width={wide}
        height={isMerge ? MERGE_BAR : BAR}
        rx={Math.min(4, wide / 2)}
        {...(PATTERNED.has(key) && { fill: `url(#p-${key})` })}
      />
      {label !== "" && (
        <>
          <rect
            class="span-plate"
            x={left + 4}
            y={y + 5}
            width={Math.min(wide - 8, label.length * 7 + 6)}
            height={16}
            rx={3}
          />
          <text class="span-label" x={left + 7} y={y + BAR / 2 + 4}>
            {label}
          </text>
        </>
      )}
    </g>
  );
}

/** As much as can be read: a name of three letters says nothing. */
function labelOf(symbol: string, task: string | null, letters: number): string {
  if (letters < 1) return "";
  if (task === null || letters < Math.min(task.length + 2, 8)) return symbol;
  const whole = `${symbol} ${task}`;
  return whole.length <= letters ? whole : `${whole.slice(0, letters - 1)}…`;
}

const bar = (width: number, height: number, y = 0): JSX.Element => (
  <rect class="p-mark" y={y} width={width} height={height} />
);
const dot = (at: number, r: number): JSX.Element => <circle class="p-mark" cx={at} cy={at} r={r} />;

/** What is drawn on the ground of a span: its size, its marks and how it is turned. */
const PATTERNS: Readonly<Record<string, readonly [size: number, marks: JSX.Element, turn?: number]>> = {
  rejected: [7, bar(2.5, 7), 45],
  challenged: [7, bar(7, 2.5)],
  failed: [7, bar(2.5, 7), -45],
  decide: [6, dot(3, 1.2)],
  blocked: [8, <path class="p-mark" d="M0 0H4V8H8V4H0Z" />],
  continue: [6, bar(6, 1, 4.5)],
  gates: [5, bar(1, 5)],
  "old-checks": [5, bar(5, 1)],
  reader: [7, dot(3.5, 1.5)],
  baseline: [5, bar(1, 5)],
  wait: [9, bar(1, 9), 45],
};

/** What is drawn plain has its class only. */
const PATTERNED: ReadonlySet<string> = new Set(Object.keys(PATTERNS));

/** The patterns by which spans are told apart where colours are not. */
function TimelineDefs() {
  return (
    <defs>
      {Object.entries(PATTERNS).map(([key, [size, marks, turn = 0]]) => (
        <pattern
          key={key}
          id={`p-${key}`}
          width={size}
          height={size}
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${turn})`}
        >
          <rect class={`p-ground is-${key}`} width={size} height={size} />
          {marks}
        </pattern>
      ))}
    </defs>
  );
}

const ORDER: readonly SpanLook[] = [
  ...[...RULINGS, null].map((verdict) => lookOfSpan({ is: "agent", verdict })),
  ...Object.values(OTHERS),
];

/** Only what can be seen is explained. */
function TimelineLegend({ spans }: { readonly spans: readonly TimeSpan[] }) {
  const keys = new Set(spans.map((span) => lookOfSpan(span).key));
  return (
    <ul class="legend" aria-label="Legend">
      {ORDER.filter(({ key }) => keys.has(key)).map(({ key, symbol, name }) => (
        <li key={key}>
          <svg width="20" height="12" aria-hidden="true" class={`span is-${key}`}>
            <rect
              class="span-shape"
              width="20"
              height="12"
              rx="3"
              {...(PATTERNED.has(key) && { fill: `url(#p-${key})` })}
            />
          </svg>
          <span aria-hidden="true">{symbol}</span> {name}
        </li>
      ))}
    </ul>
  );
}

interface SpanTipProps {
  readonly span: TimeSpan;
  readonly end: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

function SpanTip({ span, end, left, top, width }: SpanTipProps) {
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = tip.current;
    if (element === null) return;
    const half = element.offsetWidth / 2;
    element.style.left = `${Math.min(Math.max(left - half, 4), Math.max(4, width - half * 2 - 4))}px`;
    element.style.top = `${top}px`;
  });
  const { symbol, name } = lookOfSpan(span);
  const iteration = span.iteration === null ? null : `iteration ${span.iteration}`;
  const who = [span.task, iteration, span.agent, span.worker ?? null];
  return (
    <div ref={tip} class="tip" role="status">
      <p>
        <strong>
          {symbol} {name}
        </strong>{" "}
        {who.filter((part) => part !== null).join(" · ")}
      </p>
      {span.says !== "" && <p>{sentence(span.says)}</p>}
      <p class="muted">
        {clockTime(span.from, true)}
        {span.to === null ? ", goes on" : ` – ${clockTime(span.to, true)}`} ·{" "}
        {duration((span.to ?? end) - span.from)}
      </p>
    </div>
  );
}
