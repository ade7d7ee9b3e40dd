import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EntryHit } from "../../../core/views/overview.ts";
import { get, withQuery } from "../api-client.ts";
import { bytes, clockTime, count, dollars, fullMoment } from "../format.ts";
import { liveProgress } from "../overview-store.ts";
import { EMPTY_WINDOW, entriesOf, type Goal, type Reading, TranscriptReader } from "../transcript-reader.ts";
import { Loading, Trouble } from "./notices.tsx";

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
        <TranscriptEntries reader={reader} reading={reading} isFollowing={isFollowing && isRunning} />
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

const NEAR_PX = 800;
const ABOVE_HIT_PX = 60;

interface TranscriptEntriesProps {
  readonly reader: TranscriptReader;
  readonly reading: Reading;
  readonly isFollowing: boolean;
}

/** The entries that are loaded; more come when somebody scrolls near an end. */
function TranscriptEntries({ reader, reading, isFollowing }: TranscriptEntriesProps) {
  const { window, goal } = reading;
  const scroller = useRef<HTMLDivElement | null>(null);
  const entries = useMemo(() => entriesOf(window), [window]);
  const wanted = goal === null || goal.to === "end" ? -1 : goal.to;
  const hit = wanted <= 0 ? undefined : entries.find(({ place }) => place >= wanted);
  const loadMore = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (element.scrollTop < NEAR_PX && window.from > 0) reader.before();
    if (below < NEAR_PX && !window.isEnd) reader.after();
  };
  const remember = useKeptPlace({ scroller, entries, isFollowing, goal, hit: hit?.key });
  useEffect(loadMore, [entries]);
  return (
    <div
      ref={scroller}
      class="transcript-entries"
      role="region"
      aria-label="Transcript"
      tabIndex={0}
      onScroll={() => {
        remember();
        loadMore();
      }}
    >
      {entries.map((entry) => (
        <EntryView key={entry.key} entry={entry} isHit={entry === hit} />
      ))}
      {window.isEnd && entries.length === 0 && <p class="muted">Nothing yet.</p>}
    </div>
  );
}

type Shown = ReturnType<typeof entriesOf>[number];

function EntryView({ entry, isHit }: { readonly entry: Shown; readonly isHit: boolean }) {
  const { kind, at, costUsd, state, isNested } = entry;
  const classes = [
    "entry",
    `is-${kind}`,
    isNested && "is-nested",
    state === "bad" && "is-bad",
    isHit && "is-hit",
  ];
  return (
    <div class={classes.filter(Boolean).join(" ")} data-key={entry.key}>
      <div class="entry-margin" title={at === null ? undefined : fullMoment(at)}>
        {at !== null && <time>{clockTime(at, true)}</time>}
        {costUsd !== null && costUsd > 0 && <span>{dollars(costUsd)}</span>}
      </div>
      <div class="entry-body">
        <EntryBody entry={entry} />
      </div>
    </div>
  );
}

const OPEN_DIFF_LINES = 30;

function EntryBody({ entry }: { readonly entry: Shown }) {
  const { kind, title, state, input, result, diff } = entry;
  if (kind === "text") return <div class="entry-words">{title}</div>;
  if (kind === "error") return <div class="entry-words">✗ {title}</div>;
  if (kind === "note" && title.trim().includes("\n")) return <Folded first="Output" rest={title} />;
  if (kind === "note") return <div class="entry-words">{title}</div>;
  if (kind === "thinking") return <Folded first="Thinking" rest={title} />;
  const hasMore = input !== "" || result !== "" || diff !== "";
  if (!hasMore) return <CallLine entry={entry} />;
  const isShort = diff !== "" && diff.split("\n").length <= OPEN_DIFF_LINES;
  return (
    <details open={isShort}>
      <summary>
        <CallLine entry={entry} />
      </summary>
      {input !== "" && (
        <pre class="entry-input" tabIndex={0} aria-label="Input">
          {input}
        </pre>
      )}
      {diff !== "" && <DiffText diff={diff} />}
      {result !== "" && (diff === "" || state === "bad") && (
        <pre tabIndex={0} aria-label="Result">
          {result}
        </pre>
      )}
    </details>
  );
}

function CallLine({ entry: { title, brief, state } }: { readonly entry: Shown }) {
  const [verb = "", ...rest] = title.split(" ");
  const came = state === "open" ? "…" : state === "bad" ? `✗ ${brief}` : brief;
  return (
    <>
      <b>{verb}</b> <code>{rest.join(" ")}</code> <span class="entry-brief">{came}</span>
    </>
  );
}

function Folded({ first, rest }: { readonly first: string; readonly rest: string }) {
  const [line = ""] = rest.trim().split("\n");
  return (
    <details>
      <summary>
        {first} <span class="entry-brief">{line}</span>
      </summary>
      <pre tabIndex={0} aria-label={first}>
        {rest.trimEnd()}
      </pre>
    </details>
  );
}

const LINE_LOOKS: Readonly<Record<string, string>> = { "+": "is-added", "-": "is-removed", "@": "is-place" };

function DiffText({ diff }: { readonly diff: string }) {
  return (
    <pre class="entry-diff" tabIndex={0} aria-label="Change">
      {diff.split("\n").map((line, index) => (
        <span key={index} class={`line ${LINE_LOOKS[line.charAt(0)] ?? ""}`}>
          {line}
        </span>
      ))}
    </pre>
  );
}

interface Place {
  readonly scroller: { readonly current: HTMLDivElement | null };
  readonly entries: readonly Shown[];
  readonly isFollowing: boolean;
  readonly goal: Goal | null;
  readonly hit: string | undefined;
}

/** What is looked at stays where it is when entries come or go before it; a goal and the end are gone to. */
function useKeptPlace({ scroller, entries, isFollowing, goal, hit }: Place): () => void {
  const seen = useRef<{ readonly key: string; readonly top: number } | null>(null);
  const turn = useRef(0);
  const elementOf = (key: string): HTMLElement | null =>
    scroller.current?.querySelector<HTMLElement>(`[data-key="${key}"]`) ?? null;
  const remember = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const first = [...element.querySelectorAll<HTMLElement>("[data-key]")].find(
      (one) => one.offsetTop + one.offsetHeight > element.scrollTop,
    );
    const key = first?.dataset["key"];
    seen.current = key === undefined ? null : { key, top: (first?.offsetTop ?? 0) - element.scrollTop };
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const isNewGoal = goal !== null && goal.turn !== turn.current;
    turn.current = goal?.turn ?? 0;
    const kept = seen.current === null ? null : elementOf(seen.current.key);
    if (isFollowing || (isNewGoal && goal.to === "end")) element.scrollTop = element.scrollHeight;
    else if (isNewGoal) {
      const target = hit === undefined ? null : elementOf(hit);
      element.scrollTop = Math.max(0, (target?.offsetTop ?? 0) - ABOVE_HIT_PX);
    } else if (kept !== null) element.scrollTop = kept.offsetTop - (seen.current?.top ?? 0);
    remember();
  }, [entries, goal, isFollowing]);
  return remember;
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
  readonly hits: readonly EntryHit[];
  readonly at: number;
}

function useSearch(iteration: number, onJump: (byte: number) => void): Search {
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isLooking, setLooking] = useState(false);
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
    setLooking(true);
    const answer = await get<readonly EntryHit[]>(path);
    setLooking(false);
    setProblem(answer.is === "problem" ? answer.problem.message : null);
    if (answer.is === "ok") go({ text, hits: answer.value, at: 0 });
  };
  return {
    hits: found?.hits.length ?? 0,
    says: isLooking ? "searching…" : (problem ?? saysOf(found)),
    look,
    step,
  };
}

function saysOf(found: Found | null): string {
  if (found === null) return "";
  const { hits, at } = found;
  return hits.length === 0 ? "nothing found" : `${at + 1} of ${count(hits.length, "place")}`;
}

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
    // The server tells of progress while an agent works.
    const leave = liveProgress.subscribe(() => {
      if (!document.hidden && reader.isAtEnd) reader.after();
    });
    return () => {
      leave();
      // Its last words.
      reader.after();
    };
  }, [reader, isRunning]);
  return { reader, reading };
}
