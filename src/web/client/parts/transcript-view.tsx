import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TextHit } from "../../../core/views/overview.ts";
import { get, withQuery } from "../api-client.ts";
import { bytes, count } from "../format.ts";
import { EMPTY_WINDOW, type Goal, type Reading, rowsOf, TranscriptReader } from "../transcript-reader.ts";
import { Loading, Trouble } from "./notices.tsx";
import { VirtualRows } from "./virtual-rows.tsx";

export function TranscriptView(props: { readonly iteration: number; readonly isRunning: boolean }) {
  const { iteration, isRunning } = props;
  const { reader, reading } = useTranscript(iteration, isRunning);
  const [isFollowing, follow] = useState(isRunning);
  const window = reading?.window ?? EMPTY_WINDOW;
  const problem = reading?.problem ?? null;
  const goTo = (byte: number): void => {
    follow(false);
    reader.jump(byte);
  };
  return (
    <section class="panel transcript" aria-labelledby="transcript-title">
      <div class="list-bar">
        <h2 id="transcript-title">
          Transcript <span class="muted">{bytes(window.bytes)}</span>
        </h2>
        <TranscriptSearch iteration={iteration} onJump={goTo} />
        <div class="transcript-ends">
          <button type="button" class="small" onClick={() => goTo(0)}>
            Start
          </button>
          <button
            type="button"
            class="small"
            onClick={() => {
              follow(isRunning);
              reader.toEnd();
            }}
          >
            End
          </button>
          {isRunning && (
            <label class="follow">
              <input
                type="checkbox"
                checked={isFollowing}
                onChange={(event) => follow(event.currentTarget.checked)}
              />{" "}
              follow
            </label>
          )}
        </div>
      </div>
      {problem !== null && <Trouble problem={problem} />}
      {reading === null && <Loading />}
      {reading !== null && (
        <TranscriptText reader={reader} reading={reading} isFollowing={isFollowing && isRunning} />
      )}
    </section>
  );
}

/** Looks for a text in the whole transcript, and goes from place to place. */
function TranscriptSearch({
  iteration,
  onJump,
}: {
  readonly iteration: number;
  readonly onJump: (byte: number) => void;
}) {
  const field = useId();
  const [text, setText] = useState("");
  const search = useSearch(iteration, onJump);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void search.look(text);
      }}
    >
      <label for={field} class="unseen">
        Search the transcript
      </label>
      <input
        id={field}
        type="search"
        data-search
        placeholder="search ( / )"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <span class="search-count" role="status">
        {search.says}
      </span>
      {search.hits > 1 && (
        <>
          <button type="button" class="small" aria-label="Place before" onClick={() => search.step(-1)}>
            ↑
          </button>
          <button type="button" class="small" aria-label="Next place" onClick={() => search.step(1)}>
            ↓
          </button>
        </>
      )}
    </form>
  );
}

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
function TranscriptText({ reader, reading, isFollowing }: TranscriptTextProps) {
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

interface Search {
  readonly hits: number;
  /** How it went, in few words. */
  readonly says: string;
  /** Looks for it, or goes on to the next place of the same. */
  look(text: string): Promise<void>;
  /** To the next place, or with -1 to the one before. */
  step(by: number): void;
}

interface Found {
  readonly text: string;
  readonly hits: readonly TextHit[];
  readonly at: number;
}

function useSearch(iteration: number, onJump: (byte: number) => void): Search {
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const go = (next: Found): void => {
    setFound(next);
    const hit = next.hits[next.at];
    if (hit !== undefined) onJump(hit.at);
  };
  const step = (by: number): void => {
    if (found === null || found.hits.length === 0) return;
    go({ ...found, at: (found.at + by + found.hits.length) % found.hits.length });
  };
  const look = async (text: string): Promise<void> => {
    if (text === "") return;
    if (found?.text === text) {
      step(1);
      return;
    }
    const path = withQuery(`/api/iterations/${iteration}/search`, { q: text });
    const answer = await get<readonly TextHit[]>(path);
    setProblem(answer.is === "problem" ? answer.problem.message : null);
    if (answer.is === "ok") go({ text, hits: answer.value, at: 0 });
  };
  return { hits: found?.hits.length ?? 0, says: problem ?? saysOf(found), look, step };
}

function saysOf(found: Found | null): string {
  if (found === null) return "";
  const { hits, at } = found;
  return hits.length === 0 ? "nothing found" : `${at + 1} of ${count(hits.length, "place")}`;
}

const FOLLOW_MS = 1_500;

/** A text of any size; at its end it is followed while it grows. Null until something is loaded. */
function useTranscript(
  iteration: number,
  isRunning: boolean,
): { readonly reader: TranscriptReader; readonly reading: Reading | null } {
  const [reading, setReading] = useState<Reading | null>(null);
  const reader = useMemo(() => new TranscriptReader(iteration, setReading), [iteration]);
  useEffect(() => {
    if (isRunning) reader.toEnd();
    else reader.jump(0);
  }, [reader]);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden && reader.isAtEnd) reader.after();
    }, FOLLOW_MS);
    return () => {
      clearInterval(timer);
      // Its last words.
      reader.after();
    };
  }, [reader, isRunning]);
  return { reader, reading };
}
