import type { Ruling } from "../../../core/verdict/verdict.ts";
import { VERDICT_SIGNS } from "../../../core/views/signs.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Problem } from "../api-client.ts";
import { sentence } from "../format.ts";

/** What the server could not do, where it was asked for. */
export function Trouble({ problem }: { readonly problem: Problem }) {
  return (
    <p class="trouble" role="alert">
      <span aria-hidden="true">! </span>
      {sentence(problem.message)} {problem.hint !== null && sentence(problem.hint)}
    </p>
  );
}

export function Empty({
  title,
  command,
  children,
}: {
  readonly title: string;
  readonly command?: string | null;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
      {command != null && (
        <p>
          Next: <code>{command}</code>
        </p>
      )}
    </div>
  );
}

export function Loading() {
  return <p class="loading">Loading…</p>;
}

interface BarProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** Where it is going, drawn as a tick. */
  readonly expected?: number | null;
  readonly children: string;
}

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

interface Shown {
  readonly verdict: Ruling | null;
  /** Instead of the verdict's name. */
  readonly label?: string;
}

export function VerdictMark({ verdict, label }: Shown) {
  const kind = verdict ?? "running";
  return (
    <span class={`verdict is-${kind}`}>
      <span class="verdict-symbol" aria-hidden="true">
        {VERDICT_SIGNS[kind].sign}
      </span>
      {label ?? kind}
    </span>
  );
}
