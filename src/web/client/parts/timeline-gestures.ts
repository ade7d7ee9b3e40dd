import { useEffect, useRef } from "preact/hooks";
import { moved, zoomed, type Span } from "../timeline-scale.ts";

/** How the time line is looked at. */
export interface TimelineLook {
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

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
