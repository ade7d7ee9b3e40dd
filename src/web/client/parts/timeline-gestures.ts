import { useEffect, useRef } from "preact/hooks";
import type { TimeSpan } from "../../../core/projections/timeline.ts";
import { navigate } from "../router.ts";
import { moved, type Span, zoomed } from "../timeline-scale.ts";
import { spanKey } from "../verdict-look.ts";

interface TimelineLook {
  readonly shown: Span;
  readonly whole: Span;
  readonly inner: number;
  /** Left of it are the names. */
  readonly gutter: number;
  readonly choose: (span: Span | null) => void;
}

/** The wheel zooms, or moves with shift; dragging moves. */
export function useGestures(frame: { readonly current: HTMLElement | null }, view: TimelineLook): void {
  const latest = useRef(view);
  latest.current = view;
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent): void => {
      const { shown, whole, inner, gutter, choose } = latest.current;
      const isAll = shown.from === whole.from && shown.to === whole.to;
      const msPerPixel = (shown.to - shown.from) / inner;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        if (isAll) return;
        event.preventDefault();
        choose(moved(shown, whole, (event.deltaX || event.deltaY) * msPerPixel));
        return;
      }
      // Nothing is left to zoom out of: the page scrolls.
      if (isAll && event.deltaY > 0) return;
      event.preventDefault();
      const at = shown.from + (event.clientX - element.getBoundingClientRect().left - gutter) * msPerPixel;
      choose(zoomed(shown, whole, Math.exp(event.deltaY * 0.002), clamp(at, shown.from, shown.to)));
    };
    let dragFrom: { readonly x: number; readonly shown: Span } | null = null;
    const onDown = (event: PointerEvent): void => {
      dragFrom = { x: event.clientX, shown: latest.current.shown };
    };
    const onMove = (event: PointerEvent): void => {
      if (dragFrom === null || event.buttons === 0) return;
      const { whole, inner, choose } = latest.current;
      const { shown, x } = dragFrom;
      if (Math.abs(event.clientX - x) < 4) return;
      if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      if (shown.to - shown.from >= whole.to - whole.from) return;
      choose(moved(shown, whole, ((x - event.clientX) * (shown.to - shown.from)) / inner));
    };
    const onUp = (): void => {
      dragFrom = null;
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    return () => {
      element.removeEventListener("wheel", onWheel);
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onUp);
    };
  }, []);
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

export const ZOOM_STEP = 1.6;

/** What a key does on the time line; null: nothing. */
export function keyAct(
  key: string,
  at: Pick<TimelineLook, "shown" | "whole" | "choose"> & {
    readonly zoomBy: (factor: number) => void;
    readonly selected: TimeSpan | null;
    readonly select: (span: TimeSpan | null) => void;
    readonly spans: readonly TimeSpan[];
  },
): (() => void) | null {
  const { shown, whole, choose, zoomBy, selected, select, spans } = at;
  const step = (shown.to - shown.from) / 5;
  const near = (by: number): void => {
    const index = selected === null ? -1 : spans.findIndex((span) => spanKey(span) === spanKey(selected));
    const next = spans[index < 0 ? (by > 0 ? 0 : spans.length - 1) : clamp(index + by, 0, spans.length - 1)];
    if (next === undefined) return;
    select(next);
    if (next.from < shown.from || next.from > shown.to) {
      choose(moved(shown, whole, next.from - (shown.from + shown.to) / 2));
    }
  };
  switch (key) {
    case "ArrowLeft":
      return () => choose(moved(shown, whole, -step));
    case "ArrowRight":
      return () => choose(moved(shown, whole, step));
    case "ArrowDown":
      return () => near(1);
    case "ArrowUp":
      return () => near(-1);
    case "+":
    case "=":
      return () => zoomBy(1 / ZOOM_STEP);
    case "-":
      return () => zoomBy(ZOOM_STEP);
    case "0":
      return () => choose(null);
    case "Escape":
      return () => select(null);
    case "Enter":
      return selected?.iteration == null ? null : () => navigate(`/iterations/${selected.iteration}`);
    default:
      return null;
  }
}
