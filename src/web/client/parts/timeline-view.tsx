import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TimeSpan, Timeline } from "../../../core/projections/timeline.ts";
import { now } from "../clock.ts";
import { clockTime, count, duration } from "../format.ts";
import { zoomed, type Span } from "../timeline-scale.ts";
import { Axis, AXIS, GUTTER, ROW, SpanBar } from "./timeline-drawing.tsx";
import { TimelineDefs } from "./timeline-defs.tsx";
import { TimelineLegend } from "./timeline-legend.tsx";
import { SpanTip } from "./span-tip.tsx";
import { spanKey } from "./span-look.ts";
import { useGestures } from "./timeline-gestures.ts";
import { keyAct, ZOOM_STEP } from "./timeline-keys.ts";

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

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
