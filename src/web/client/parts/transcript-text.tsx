import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Goal, Reading, TranscriptReader } from "../transcript-reader.ts";
import { rowsOf } from "../transcript-window.ts";
import { VirtualRows } from "./virtual-rows.tsx";

const ROW_PX = 18;
const NEAR_ROWS = 60;
const PADDING_PX = 28;
const ABOVE_HIT = 3;

interface TranscriptTextProps {
  readonly reader: TranscriptReader;
  readonly reading: Reading;
  readonly isFollowing: boolean;
}

/** The lines in sight, as text, whatever is in them. */
export function TranscriptText({ reader, reading, isFollowing }: TranscriptTextProps) {
  const { window, goal } = reading;
  const scroller = useRef<HTMLDivElement | null>(null);
  const columns = useColumns(scroller);
  const hit = goal === null || goal.to === "end" ? null : goal.to;
  const { rows, anchorRow } = useMemo(() => rowsOf(window, columns, hit), [window, columns, hit]);
  useKeptPlace({ scroller, from: window.from, rows: rows.length, isFollowing, goal, goalRow: anchorRow });
  return (
    <VirtualRows
      class="transcript-text"
      label="Transcript"
      count={rows.length}
      rowPx={ROW_PX}
      scroller={scroller}
      onRange={(first, last) => {
        if (first < NEAR_ROWS && window.from > 0) reader.before();
        if (last > rows.length - NEAR_ROWS && window.to < window.bytes) reader.after();
      }}
      render={(index) => (
        <div key={index} class={index === anchorRow && hit !== 0 ? "text-row is-hit" : "text-row"}>
          {rows[index]?.text}
        </div>
      )}
    />
  );
}

interface Place {
  readonly scroller: { readonly current: HTMLDivElement | null };
  readonly from: number;
  readonly rows: number;
  readonly isFollowing: boolean;
  readonly goal: Goal | null;
  readonly goalRow: number | null;
}

/** What is looked at stays where it is when text comes in before it; a goal and the end are gone to. */
function useKeptPlace({ scroller, from, rows, isFollowing, goal, goalRow }: Place): void {
  const before = useRef({ from, rows, turn: 0 });
  useLayoutEffect(() => {
    const last = before.current;
    before.current = { from, rows, turn: goal?.turn ?? 0 };
    const element = scroller.current;
    if (element === null) return;
    const isNewGoal = goal !== null && goal.turn !== last.turn;
    if (isFollowing || (isNewGoal && goal.to === "end")) {
      element.scrollTop = element.scrollHeight;
    } else if (isNewGoal) {
      element.scrollTop = Math.max(0, ((goalRow ?? 0) - ABOVE_HIT) * ROW_PX);
    } else if (from < last.from && rows > last.rows) {
      element.scrollTop += (rows - last.rows) * ROW_PX;
    }
  }, [from, rows, goal, isFollowing]);
}

/** How many letters a line has room for. */
function useColumns(scroller: { readonly current: HTMLDivElement | null }): number {
  const [columns, setColumns] = useState(100);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const ruler = document.createElement("span");
    ruler.className = "ruler";
    ruler.textContent = "0".repeat(100);
    const measure = (): void => {
      element.append(ruler);
      const letter = ruler.getBoundingClientRect().width / 100;
      ruler.remove();
      if (letter > 0) setColumns(Math.max(20, Math.floor((element.clientWidth - PADDING_PX) / letter)));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return columns;
}
