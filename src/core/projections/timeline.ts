import type { EventOf, Recorded } from "../events.ts";
import { few } from "../text.ts";
import type { Instant } from "../time.ts";
import type { Ruling } from "../verdict/verdict.ts";
import { lanesOf } from "./run-list.ts";
import { mergeInWords } from "./explain-iteration.ts";
import { asSentence, gatesInWords, readingInWords, redBeforeInWords } from "./explain-words.ts";

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

/** The events of which a time line is made. */
export const TIMELINE_EVENTS = [
  "run.started",
  "run.resumed",
  "run.ended",
  "tasks.observed",
  "wait.started",
  "calls.exhausted",
  "retry.requested",
  "baseline.measured",
  "iteration.started",
  "iteration.ended",
  "evidence.collected",
  "gates.checked",
  "old-checks.ran",
  "reader.asked",
  "reader.answered",
  "verdict.reached",
  "task.completed",
  "worktree.opened",
  "worktree.removed",
  "merge.prepared",
  "merge.failed",
  "merge.held",
  "task.proposed",
  "task.merged",
] as const;

/** Null when there is no such run. `events` may hold those of other runs, too. */
export function timelineOf(events: readonly Recorded[], run: string): Timeline | null {
  const drawing = new Drawing();
  let line: Timeline | null = null;
  for (const event of events) {
    if (event.type === "worktree.opened") drawing.beside.add(event.task);
    if (event.type === "worktree.removed") drawing.beside.delete(event.task);
    if (!("run" in event) || event.run !== run) continue;
    if (event.type === "run.started")
      line = { run, from: event.at, to: null, lanes: lanesOf(event.settings), spans: [] };
    if (line === null) continue;
    drawing.add(event);
    if (event.type === "run.resumed")
      line = { ...line, to: null, lanes: Math.max(line.lanes, lanesOf(event.settings)) };
    if (event.type === "run.ended") line = { ...line, to: event.at };
  }
  if (line === null) return null;
  const lanes = Math.max(line.lanes, ...drawing.lanes);
  return { ...line, lanes, spans: drawing.spans.toSorted((a, b) => a.from - b.from) };
}

type Draft = { -readonly [Key in keyof TimeSpan]: TimeSpan[Key] };

class Drawing {
  readonly spans: Draft[] = [];
  /** Those that were used. */
  readonly lanes = new Set<number>();
  /** Tasks that have a worktree: only these are merged. */
  readonly beside = new Set<string>();
  readonly #agents = new Map<number, Draft>();
  readonly #gates = new Map<number, Draft>();
  readonly #readings = new Map<number, Draft>();
  readonly #merges = new Map<string, Draft>();
  readonly #baselines = new Map<string, Draft>();
  /** Where a task was worked on last. */
  readonly #places = new Map<string, Partial<Draft>>();
  readonly #lastOfTask = new Map<string, Instant>();
  #lastOfRun: Instant = 0;
  #lastMergeEnd: Instant = 0;
  #wait: Draft | null = null;

  add(event: Recorded): void {
    this.#draw(event);
    this.#lastOfRun = event.at;
    if ("task" in event && event.task !== null) this.#lastOfTask.set(event.task, event.at);
  }

  #draw(event: Recorded): void {
    switch (event.type) {
      case "wait.started":
        return this.#startWait(event.at, asSentence(event.why));
      case "calls.exhausted":
        return this.#startWait(event.at, "The calls of this hour are used up.");
      case "retry.requested":
        return this.#endWait(event.at);
      case "baseline.measured":
        return this.#baseline(event);
      case "run.resumed":
        return this.#resume(event.at);
      case "run.ended":
        return this.#closeAll(event.at);
      default:
        return this.#work(event);
    }
  }

  #work(event: Recorded): void {
    switch (event.type) {
      case "iteration.started":
        return this.#start(event);
      case "iteration.ended":
        return close(this.#agents.get(event.iteration), event.at);
      case "evidence.collected":
        return this.#startGates(event.iteration, event.at);
      case "gates.checked":
        return this.#endGates(event);
      case "old-checks.ran":
      case "reader.asked":
      case "reader.answered":
        return this.#look(event);
      case "verdict.reached":
        return this.#judge(event);
      case "task.completed":
        return this.beside.has(event.task) ? this.#startMerge(event.task, event.at) : undefined;
      case "merge.prepared":
        return this.#startMerge(event.task, event.at);
      case "merge.failed":
      case "merge.held":
      case "task.proposed":
      case "task.merged":
        return this.#endMerge(event);
      default:
    }
  }

  #start(event: Recorded<EventOf<"iteration.started">>): void {
    const { task, lane, agent, iteration, worker, at } = event;
    this.#endWait(at);
    this.lanes.add(lane);
    this.#places.set(task, { lane, agent, iteration });
    const baseline = this.#baselines.get(task);
    if (baseline !== undefined) baseline.lane = lane;
    this.#baselines.delete(task);
    const about = { lane, task, iteration, agent, ...(worker !== undefined && { worker }) };
    this.#agents.set(iteration, this.#open("agent", at, about));
  }

  #startGates(iteration: number, at: Instant): void {
    const agent = this.#agents.get(iteration);
    if (agent === undefined) return;
    const { lane, task } = agent;
    this.#gates.set(iteration, this.#open("gates", at, { lane, task, iteration, agent: agent.agent }));
  }

  /** What is looked at after the gates. Nobody records when old checks begin, only how long they took. */
  #look(event: Recorded<EventOf<"old-checks.ran" | "reader.asked" | "reader.answered">>): void {
    const { iteration, at } = event;
    const { lane = null, task = null, agent = null } = this.#agents.get(iteration) ?? {};
    const about = { lane, task, iteration, agent };
    if (event.type === "reader.asked")
      this.#readings.set(iteration, this.#open("reader", at, { ...about, agent: event.agent }));
    else if (event.type === "old-checks.ran") {
      const span = this.#open("old-checks", at - event.durationMs, about);
      span.says = `With ${few(event.oldChecks.files)} as before the task: ${gatesInWords(event.oldChecks.gates)}`;
      close(span, at);
    } else {
      const span = this.#readings.get(iteration);
      if (span !== undefined) span.says = readingInWords(event.reading);
      close(span, at);
    }
  }

  #endGates({ iteration, at, gates }: Recorded<EventOf<"gates.checked">>): void {
    const span = this.#gates.get(iteration);
    this.#gates.delete(iteration);
    if (span === undefined) return;
    if (gates.length === 0) return this.#drop(span);
    span.says = gatesInWords(gates);
    close(span, at);
  }

  /** Of a run that asks no gates about it, nothing was waited for after the evidence. */
  #judge({ iteration, verdict, reasons }: Recorded<EventOf<"verdict.reached">>): void {
    const unasked = this.#gates.get(iteration);
    if (unasked !== undefined) this.#drop(unasked);
    this.#gates.delete(iteration);
    const span = this.#agents.get(iteration);
    this.#agents.delete(iteration);
    if (span === undefined) return;
    span.verdict = verdict;
    span.says = asSentence(reasons.map(({ sentence }) => sentence).join("; "));
  }

  /** Nobody records its beginning: gates took so long, and what was before was over. */
  #baseline({ task, gates, at }: Recorded<EventOf<"baseline.measured">>): void {
    if (gates.length === 0) return;
    const tookMs = gates.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const before = this.beside.has(task) ? this.#lastOfTask.get(task) : this.#lastOfRun;
    const from = Math.min(at, Math.max(before ?? this.#lastOfRun, at - tookMs));
    const span = this.#open("baseline", from, { task });
    span.says = redBeforeInWords(gates) ?? "Every gate was green before the task began.";
    close(span, at);
    this.#baselines.set(task, span);
  }

  /** One at a time: whoever is accepted while another is merged waits for that. */
  #startMerge(task: string, at: Instant): void {
    if (this.#merges.has(task)) return;
    this.#merges.set(task, this.#open("merge", at, { task, ...this.#places.get(task) }));
  }

  #endMerge(event: Recorded<EventOf<"merge.failed" | "merge.held" | "task.proposed" | "task.merged">>): void {
    this.#startMerge(event.task, event.at);
    const span = this.#merges.get(event.task);
    this.#merges.delete(event.task);
    if (span === undefined) return;
    span.from = Math.min(event.at, Math.max(span.from, this.#lastMergeEnd));
    span.says = mergeInWords(event) ?? "";
    close(span, event.at);
    this.#lastMergeEnd = event.at;
  }

  #startWait(at: Instant, says: string): void {
    this.#endWait(at);
    this.#wait = this.#open("wait", at, {});
    this.#wait.says = says;
  }

  #endWait(at: Instant): void {
    close(this.#wait ?? undefined, at);
    this.#wait = null;
  }

  /** What was under way when the process died was interrupted; gates and merges begin anew. */
  #resume(at: Instant): void {
    const unchecked = [...this.#gates.keys()];
    const unmerged = [...this.#merges.keys()];
    this.#closeAll(at);
    for (const iteration of unchecked) this.#startGates(iteration, at);
    for (const task of unmerged) this.#startMerge(task, at);
  }

  #closeAll(at: Instant): void {
    this.#endWait(at);
    const drafts = [this.#agents, this.#gates, this.#readings, this.#merges];
    for (const open of drafts.flatMap((some) => [...some.values()])) close(open, at);
    this.#gates.clear();
    this.#merges.clear();
  }

  #open(is: TimeSpan["is"], from: Instant, about: Partial<Draft>): Draft {
    const nothing = { lane: null, task: null, iteration: null, agent: null, verdict: null };
    const span: Draft = { ...nothing, says: UNDER_WAY[is], ...about, is, from, to: null };
    this.spans.push(span);
    return span;
  }

  #drop(span: Draft): void {
    const at = this.spans.lastIndexOf(span);
    if (at >= 0) this.spans.splice(at, 1);
  }
}

const UNDER_WAY: Readonly<Record<TimeSpan["is"], string>> = {
  agent: "It has no verdict.",
  gates: "The gates are asked.",
  "old-checks": "The gates are asked with the checks as before the task.",
  reader: "The claim is being read.",
  baseline: "The gates are asked before the task begins.",
  merge: "It is on its way to the base.",
  wait: "The run waits.",
};

function close(span: Draft | undefined, at: Instant): void {
  if (span !== undefined) span.to ??= at;
}
