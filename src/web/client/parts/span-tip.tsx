import { useLayoutEffect, useRef } from "preact/hooks";
import type { TimeSpan } from "../../../core/projections/timeline.ts";
import { clockTime, duration, sentence } from "../format.ts";
import { lookOfSpan } from "./span-look.ts";

interface SpanTipProps {
  readonly span: TimeSpan;
  readonly end: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

export function SpanTip({ span, end, left, top, width }: SpanTipProps) {
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
