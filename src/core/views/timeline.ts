import type { EventType, Recorded } from "../events.ts";
import { few } from "../text.ts";
import type { Instant } from "../time.ts";
import type { Ruling } from "../verdict/verdict.ts";
import { mergeInWords } from "./explain-iteration.ts";
import { asSentence, gatesInWords, readingInWords, redBeforeInWords } from "./explain-words.ts";
import { type IterationRecord, iterationRecords } from "./iteration-record.ts";
import { lanesOf } from "./run-list.ts";

/** What happened when, in each lane of one run. */
export interface Timeline {
  readonly run: string;
  readonly from: Instant;
  /** Null: it goes on. */
  readonly to: Instant | null;
  /** Of a run that workers share: as many as there were at a time. */
  readonly lanes: number;
  readonly spans: readonly TimeSpan[];
}

export interface TimeSpan {
  readonly is: "agent" | "gates" | "old-checks" | "reader" | "baseline" | "merge" | "wait";
  /** Null: it concerns all. */
  readonly lane: number | null;
  readonly from: Instant;
  readonly to: Instant | null;
  readonly task: string | null;
  readonly iteration: number | null;
  readonly agent: string | null;
  /** Which of several workers it was; missing where one machine works alone. */
  readonly worker?: string;
  /** Of an agent's span, when it is judged. */
  readonly verdict: Ruling | null;
  /** One sentence: the verdict's reasons, what is waited for, which gates are red. */
  readonly says: string;
}

/** Null when there is no such run. `events` may hold those of other runs, too. */
export function timelineOf(events: readonly Recorded[], run: string): Timeline | null {
  const begin = events.findIndex((event) => event.type === "run.started" && event.run === run);
  const start = events[begin];
  if (start?.type !== "run.started") return null;
  const isOwn = (event: Recorded, at: number): boolean => at >= begin && "run" in event && event.run === run;
  const own = events.filter(isOwn);
  const records = iterationRecords(own);
  const resumed = own.filter((event) => event.type === "run.resumed");
  const last = own.findLast(({ type }) => type === "run.resumed" || type === "run.ended");
  const to = last?.type === "run.ended" ? last.at : null;
  const drawing = { resumedAt: resumed.map(({ at }) => at), to };
  const spans = [
    ...records.flatMap((record) => iterationSpans(record, drawing)),
    ...waitSpans(own),
    ...taskSpans(events, isOwn, records, drawing),
  ];
  const lanes = [start, ...resumed].map(({ settings }) => lanesOf(settings));
  return {
    run,
    from: start.at,
    to,
    lanes: Math.max(...lanes, ...new Set(records.map(({ lane }) => lane))),
    spans: spans.toSorted((a, b) => a.from - b.from),
  };
}

/** What cuts spans off: the process died and another went on, or the run ended. */
interface Drawing {
  readonly resumedAt: readonly Instant[];
  readonly to: Instant | null;
}

type About = Partial<TimeSpan> & Pick<TimeSpan, "is">;

const NOTHING = { lane: null, task: null, iteration: null, agent: null, verdict: null };

const UNDER_WAY: Readonly<Record<TimeSpan["is"], string>> = {
  agent: "It has no verdict.",
  gates: "The gates are asked.",
  "old-checks": "The gates are asked with the checks as before the task.",
  reader: "The claim is being read.",
  baseline: "The gates are asked before the task begins.",
  merge: "It is on its way to the base.",
  wait: "The run waits.",
};

function span(from: Instant, to: Instant | null, about: About): TimeSpan {
  return { ...NOTHING, says: UNDER_WAY[about.is], ...about, from, to };
}

/** What was under way when the process died was interrupted; gates and merges begin anew, an agent does not. */
function pieces(
  from: Instant,
  end: Instant | undefined,
  about: About,
  drawing: Drawing,
): readonly TimeSpan[] {
  const cuts = drawing.resumedAt.filter((at) => at > from && at < (end ?? Infinity));
  const ends = [...cuts, end ?? drawing.to];
  const all = ends.map((to, index) => span(cuts[index - 1] ?? from, to, about));
  return about.is === "gates" || about.is === "merge" ? all : all.slice(0, 1);
}

/** The agent, and what was asked about its work. Nobody records when old checks begin, only how long they took. */
function iterationSpans(record: IterationRecord, drawing: Drawing): readonly TimeSpan[] {
  const { lane, task, iteration, agent, worker, verdict, reasons, times, gates, oldChecks, reading } = record;
  const about = { lane, task, iteration, agent };
  const spans: TimeSpan[] = [];
  const add = (is: TimeSpan["is"], from: Instant, to: Instant | undefined, more: Partial<TimeSpan>): void => {
    spans.push(...pieces(from, to, { is, ...about, ...more }, drawing));
  };
  const why = asSentence(reasons.map(({ sentence }) => sentence).join("; "));
  add("agent", record.startedAt, times["iteration.ended"], {
    ...(worker !== undefined && { worker }),
    verdict,
    ...(verdict !== null && { says: why }),
  });
  const seenAt = times["evidence.collected"];
  const checkedAt = times["gates.checked"];
  // Of a run that asks no gates about it, nothing was waited for after the evidence.
  const hasGates = checkedAt === undefined ? verdict === null : gates.length > 0;
  if (seenAt !== undefined && hasGates)
    add("gates", seenAt, checkedAt, checkedAt === undefined ? {} : { says: gatesInWords(gates) });
  if (oldChecks !== null) {
    const at = times["old-checks.ran"] ?? 0;
    const says = `With ${few(oldChecks.files)} as before the task: ${gatesInWords(oldChecks.gates)}`;
    spans.push(span(at - oldChecks.durationMs, at, { is: "old-checks", ...about, says }));
  }
  const asked = record.followed.findLast((event) => event.type === "reader.asked");
  if (asked !== undefined) {
    const says = reading === null ? {} : { says: readingInWords(reading) };
    add("reader", asked.at, times["reader.answered"], { agent: asked.agent, ...says });
  }
  return spans;
}

const ENDS_WAIT: ReadonlySet<EventType> = new Set([
  "wait.started",
  "calls.exhausted",
  "iteration.started",
  "retry.requested",
  "run.resumed",
  "run.ended",
]);

function waitSpans(own: readonly Recorded[]): readonly TimeSpan[] {
  const turns = own.filter(({ type }) => ENDS_WAIT.has(type));
  return turns.flatMap((event, index) => {
    if (event.type !== "wait.started" && event.type !== "calls.exhausted") return [];
    const says =
      event.type === "wait.started" ? asSentence(event.why) : "The calls of this hour are used up.";
    return [span(event.at, turns[index + 1]?.at ?? null, { is: "wait", says })];
  });
}

/** Gates before a task, and merges of tasks that have a worktree. One is merged at a time: the next waits for it. */
function taskSpans(
  events: readonly Recorded[],
  isOwn: (event: Recorded, at: number) => boolean,
  records: readonly IterationRecord[],
  drawing: Drawing,
): readonly TimeSpan[] {
  const spans: TimeSpan[] = [];
  const beside = new Set<string>();
  const merging = new Map<string, Instant>();
  const lastOfTask = new Map<string, Instant>();
  let lastOfRun: Instant = 0;
  let lastMergeEnd: Instant = 0;
  const placeOf = (task: string, at: Instant) => {
    const { lane, agent, iteration } =
      records.findLast((record) => record.task === task && record.startedAt <= at) ?? NOTHING;
    return { task, lane, agent, iteration };
  };
  for (const [index, event] of events.entries()) {
    if (event.type === "worktree.opened") beside.add(event.task);
    if (event.type === "worktree.removed") beside.delete(event.task);
    if (!isOwn(event, index)) continue;
    const { at } = event;
    switch (event.type) {
      case "baseline.measured": {
        const { task, gates } = event;
        // Nobody records its beginning: gates took so long, and what was before was over.
        const tookMs = gates.reduce((sum, { durationMs }) => sum + durationMs, 0);
        const before = (beside.has(task) ? lastOfTask.get(task) : undefined) ?? lastOfRun;
        const next = records.find((record) => record.task === task && record.startedAt >= at);
        const says = redBeforeInWords(gates) ?? "Every gate was green before the task began.";
        const about = { is: "baseline", task, lane: next?.lane ?? null, says } as const;
        if (gates.length > 0) spans.push(span(Math.min(at, Math.max(before, at - tookMs)), at, about));
        break;
      }
      case "task.completed":
      case "merge.prepared":
        if (event.type === "merge.prepared" || beside.has(event.task))
          merging.set(event.task, merging.get(event.task) ?? at);
        break;
      case "merge.failed":
      case "merge.held":
      case "task.proposed":
      case "task.merged": {
        const from = Math.min(at, Math.max(merging.get(event.task) ?? at, lastMergeEnd));
        const says = mergeInWords(event) ?? "";
        spans.push(...pieces(from, at, { is: "merge", ...placeOf(event.task, at), says }, drawing));
        merging.delete(event.task);
        lastMergeEnd = at;
        break;
      }
      default:
    }
    lastOfRun = at;
    if ("task" in event && event.task !== null) lastOfTask.set(event.task, at);
  }
  const open = [...merging].flatMap(([task, from]) =>
    pieces(from, undefined, { is: "merge", ...placeOf(task, from) }, drawing),
  );
  return [...spans, ...open];
}
