import type { TimeSpan } from "../../../core/projections/timeline.ts";
import { navigate } from "../router.ts";
import { moved } from "../timeline-scale.ts";
import { spanKey } from "./span-look.ts";
import type { TimelineLook } from "./timeline-gestures.ts";

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

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
