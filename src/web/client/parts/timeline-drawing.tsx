import type { TimeSpan } from "../../../core/projections/timeline.ts";
import { clockTime } from "../format.ts";
import { navigate } from "../router.ts";
import { ticksOf, type Span } from "../timeline-scale.ts";
import { lookOfSpan } from "./span-look.ts";
import { PATTERNED } from "./timeline-defs.tsx";

export const ROW = 40;
export const AXIS = 26;
export const GUTTER = 58;
const BAR = 26;
/** Merges go on beside the next work of their lane. */
const MERGE_BAR = 7;
const TICK_LABEL = 22;

export function Axis(props: {
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

export function SpanBar(props: {
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
