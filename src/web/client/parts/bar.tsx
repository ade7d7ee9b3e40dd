import { useEffect, useRef } from "preact/hooks";

interface BarProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** Where it is going, drawn as a tick. */
  readonly expected?: number | null;
  readonly children: string;
}

/** How much of a limit is used. */
export function Bar({ label, value, max, expected, children }: BarProps) {
  const fill = useRef<HTMLSpanElement>(null);
  const tick = useRef<HTMLSpanElement>(null);
  const share = max > 0 ? Math.min(1, value / max) : 0;
  const there = expected == null || max <= 0 ? null : Math.min(1, expected / max);
  useEffect(() => {
    if (fill.current !== null) fill.current.style.inlineSize = `${share * 100}%`;
    if (tick.current !== null && there !== null) {
      tick.current.style.insetInlineStart = `calc(${there * 100}% - 2px)`;
    }
  }, [share, there]);
  const level = share >= 1 ? "is-full" : share >= 0.8 ? "is-near" : "";
  return (
    <div class="bar-line">
      <span class="label">{label}</span>
      <div
        class={`bar ${level}`}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuenow={Math.min(value, max)}
        aria-valuetext={children}
      >
        <span ref={fill} class="bar-fill" />
        {there !== null && <span ref={tick} class="bar-tick" title="forecast" />}
      </div>
      <span class="bar-says">{children}</span>
    </div>
  );
}
