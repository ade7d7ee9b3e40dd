import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { LEFT, RIGHT, type TimeRange, timelineLegend, timelineSvg } from "../../../core/report/svg.ts";
import { SPANS } from "../../../core/report/words.ts";
import type { Timeline, TimeSpan } from "../../../core/views/timeline.ts";
import { clockTime, count, duration, sentence, tickLabel } from "../format.ts";
import { now } from "../overview-store.ts";
import { navigate } from "../router.ts";
import { moved, zoomed } from "../timeline-scale.ts";
import { VerdictMark } from "./notices.tsx";

const ZOOM_STEP = 1.6;
/** A press that moves less is a click. */
const DRAG_PX = 4;

/** What happened when, a row for each lane; zoomed by wheel and keys, moved by dragging. */
export function TimelineView({ timeline, isOn }: { readonly timeline: Timeline; readonly isOn: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  const dragged = useRef(0);
  const width = useWidth(frame);
  const [key, select] = useState<string | null>(null);
  const { spans } = timeline;
  const selected = spans.find((span) => keyOf(span) === key) ?? null;
  const view = useRange(timeline, isOn);
  const { whole, shown, chosen } = view;
  const msPerPixel = (shown.to - shown.from) / Math.max(50, width - LEFT - RIGHT);
  const walk = (by: number): void => {
    const index = selected === null ? -1 : spans.indexOf(selected);
    const next = spans[index < 0 ? (by > 0 ? 0 : spans.length - 1) : index + by];
    if (next === undefined) return;
    select(keyOf(next));
    if (next.from < shown.from || next.from > shown.to) view.moveBy(next.from - middleOf(shown));
  };
  const spanAt = ({ target }: Event): TimeSpan | null => {
    const element = target instanceof Element ? target.closest<SVGElement>("[data-span]") : null;
    return spans[Number(element?.dataset["span"] ?? -1)] ?? null;
  };
  const keys: Readonly<Record<string, () => void>> = {
    ...view.keys,
    ArrowDown: () => walk(1),
    ArrowUp: () => walk(-1),
    Escape: () => select(null),
    Enter: () => open(selected),
  };
  const svg = timelineSvg(timeline, { until: whole.to, shown, width, selected, timeLabel: tickLabel });
  return (
    <section class="timeline-panel" aria-label="Time line">
      <div class="timeline-bar">
        <div class="drawn" dangerouslySetInnerHTML={{ __html: timelineLegend(timeline).markup }} />
        <Zoom zoomBy={view.zoomBy} all={chosen === null ? null : view.showAll} />
      </div>
      <div
        ref={frame}
        class="timeline-frame"
        role="application"
        tabIndex={0}
        aria-label={`Time line of ${count(spans.length, "span")}. Arrow keys move, plus and minus zoom, up and down choose a span, Enter opens it.`}
        onKeyDown={(event) => {
          const act = event.ctrlKey || event.metaKey ? undefined : keys[event.key];
          if (act === undefined) return;
          event.preventDefault();
          act();
        }}
        onWheel={(event) => {
          view.wheel(event, event.currentTarget.getBoundingClientRect().left, msPerPixel);
        }}
        onPointerDown={() => (dragged.current = 0)}
        onPointerMove={(event) => {
          if (event.buttons === 0) return select(keyOf(spanAt(event)));
          dragged.current += Math.abs(event.movementX);
          view.moveBy(-event.movementX * msPerPixel);
        }}
        onPointerLeave={() => select(null)}
        onClick={(event) => {
          if (dragged.current < DRAG_PX) open(spanAt(event));
        }}
      >
        <div class="drawn" dangerouslySetInnerHTML={{ __html: svg.markup }} />
        {selected !== null && <SpanTip span={selected} end={whole.to} />}
      </div>
      <Range shown={shown} isNow={isOn && timeline.to === null && chosen === null} />
    </section>
  );
}

function open(span: TimeSpan | null): void {
  if (span?.iteration != null) navigate(`/iterations/${span.iteration}`);
}

function middleOf({ from, to }: TimeRange): number {
  return (from + to) / 2;
}

/** The part of the run that is shown, and how a person changes it. */
function useRange(timeline: Timeline, isOn: boolean) {
  const [chosen, choose] = useState<TimeRange | null>(null);
  const until = timeline.to ?? (isOn ? now.value : lastKnown(timeline));
  const whole = { from: timeline.from, to: Math.max(until, timeline.from + 1_000) };
  const shown = chosen ?? whole;
  const showAll = (): void => choose(null);
  const zoomBy = (factor: number, at = middleOf(shown)): void => choose(zoomed(shown, whole, factor, at));
  const moveBy = (ms: number): void => {
    if (chosen !== null) choose(moved(shown, whole, ms));
  };
  const wheel = (event: WheelEvent, frameLeft: number, msPerPixel: number): void => {
    const isMove = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    // Nothing is left to zoom out of, or to move: the page scrolls.
    if (chosen === null && (isMove || event.deltaY > 0)) return;
    event.preventDefault();
    if (isMove) return moveBy((event.deltaX || event.deltaY) * msPerPixel);
    const pixels = event.clientX - frameLeft - LEFT;
    const at = Math.min(Math.max(shown.from + pixels * msPerPixel, shown.from), shown.to);
    zoomBy(Math.exp(event.deltaY * 0.002), at);
  };
  const keys = {
    ArrowLeft: () => moveBy((shown.from - shown.to) / 5),
    ArrowRight: () => moveBy((shown.to - shown.from) / 5),
    "+": () => zoomBy(1 / ZOOM_STEP),
    "=": () => zoomBy(1 / ZOOM_STEP),
    "-": () => zoomBy(ZOOM_STEP),
    "0": showAll,
  };
  return { whole, shown, chosen, showAll, zoomBy, moveBy, wheel, keys };
}

function Range({ shown, isNow }: { readonly shown: TimeRange; readonly isNow: boolean }) {
  return (
    <p class="muted timeline-range">
      {clockTime(shown.from, true)} – {isNow ? "now" : clockTime(shown.to, true)} (
      {duration(shown.to - shown.from)})
    </p>
  );
}

/** The same for the same span of a later answer. */
function keyOf(span: TimeSpan | null): string | null {
  return span && `${span.is} ${span.lane} ${span.from} ${span.iteration}`;
}

/** An interrupted run did nothing any more after this. */
function lastKnown({ from, spans }: Timeline): number {
  return spans.reduce((latest, span) => Math.max(latest, span.to ?? span.from), from);
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

/** What the span is about, below its bar. */
function SpanTip({ span, end }: { readonly span: TimeSpan; readonly end: number }) {
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [element, frame] = [tip.current, tip.current?.parentElement];
    const bar = frame?.querySelector(".is-selected")?.getBoundingClientRect();
    if (element == null || frame == null || bar === undefined) return;
    const box = frame.getBoundingClientRect();
    const left = (bar.left + bar.right - element.offsetWidth) / 2 - box.left;
    element.style.left = `${Math.min(Math.max(left, 4), Math.max(4, box.width - element.offsetWidth - 4))}px`;
    element.style.top = `${bar.bottom - box.top + 6}px`;
  });
  const iteration = span.iteration === null ? null : `iteration ${span.iteration}`;
  const who = [span.task, iteration, span.agent, span.worker ?? null];
  return (
    <div ref={tip} class="tip" role="status">
      <p>
        <strong>{span.is === "agent" ? <VerdictMark verdict={span.verdict} /> : SPANS[span.is]}</strong>{" "}
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
