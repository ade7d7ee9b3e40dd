import type { Recorded } from "../events.ts";
import { evolve } from "../loop/evolve.ts";
import { EMPTY_STATE, isOpen, type State } from "../state.ts";
import { statusOf } from "../loop/task-status.ts";
import type { Task } from "../plan.ts";
import { reviewCapOf, reviewMode, snapshotOf, UNTOUCHED } from "../review/story-review.ts";
import { isoTime } from "../time.ts";
import { isExpectedPromise } from "./iteration-entries.ts";
import {
  commitOf,
  completionOf,
  costOf,
  endedLoop,
  type IterationRecord,
  keepRecord,
  modeOf,
  tokensOf,
} from "./iteration-record.ts";

/** What lies in `.ralph/` and is not for the repository: views, letters, logs; as patterns of `.gitignore`. */
export const UNVERSIONED = [
  "active.json",
  "status.json",
  "progress.json",
  "metrics.json",
  "blocked*.txt",
  "decide*.txt",
  "interventions/",
  "logs/",
  "archive/",
  ".ralph-tmp-*",
];

/** Where the transcript of an iteration lies, relative to `.ralph/`. */
export function transcriptName(iteration: number): string {
  return `logs/iteration-${String(iteration).padStart(3, "0")}.log`;
}

/** What `active.json` tells hooks and scripts while a run is under way; null when none is. */
export function projectActive(state: State): object | null {
  const { run } = state;
  if (!isOpen(run)) return null;
  const { settings } = run;
  const open = state.iterations.at(-1);
  // Every story as it is before the iteration.
  const stories = (state.plan?.tasks ?? []).map(
    ({ id, done, review }) => review ?? { ...UNTOUCHED, id, passes: done, hasReviewFields: false },
  );
  const own = stories.filter(({ id }) => id === open?.task);
  const skipsReview = settings.skipReview === true;
  return {
    timestamp: isoTime(run.startedAt),
    run: run.id,
    pid: run.pid,
    max_iterations: settings.limits.maxIterations,
    mode: settings.mode,
    skip_review: skipsReview,
    review_cap: reviewCapOf(settings),
    story: open?.task ?? null,
    /** Of the iteration under way; before the first, of the next. */
    iteration_mode: skipsReview ? "implement" : reviewMode(own.length > 0 ? own : stories),
    stuck_count: run.stuckCount,
    source: settings.source.path,
    git_commit: settings.git.commit,
    snapshot: settings.source.kind === "tasks-json" ? snapshotOf(stories) : null,
  };
}

export const SUMMARY_HEADER =
  "iteration,mode,duration_seconds,commit_hash,stories_complete,stories_total,stuck_count,timestamp,task,stage,verdict,agent,cost_usd,tokens";

/** One line of `logs/summary.csv`; `state` is the state at the moment of the verdict. */
function summaryRow(record: IterationRecord, state: State): string {
  const tasks = state.plan?.tasks ?? [];
  const isDone = (task: Task): boolean =>
    task.id === record.task ? completionOf(record) !== null : statusOf(state, task) === "done";
  const cells = [
    record.iteration,
    modeOf(record),
    Math.round((record.report?.durationMs ?? 0) / 1_000),
    commitOf(record) ?? "",
    tasks.filter(isDone).length,
    tasks.length,
    state.run?.stuckCount ?? 0,
    isoTime(record.times["verdict.reached"] ?? record.startedAt),
    record.task,
    record.stage,
    record.verdict ?? "",
    record.agent,
    costOf(record) ?? "",
    record.report === null ? "" : (tokensOf(record.report.usage) ?? ""),
  ];
  return cells.map((cell) => csvCell(String(cell))).join(",");
}

/** One record of `logs/execution.jsonl`, made when everything that follows from the verdict is known. */
export function executionRow(record: IterationRecord): Record<string, unknown> {
  const { report } = record;
  return {
    task_id: record.task,
    stage: record.stage,
    ralph_iteration: record.ordinal,
    ralph_max: record.maxIterations,
    promise_found: report !== null && isExpectedPromise(report),
    continuing: !endedLoop(record),
    duration_ms: Math.round(report?.durationMs ?? 0),
    iteration: record.iteration,
    verdict: record.verdict,
    reasons: record.reasons.map(({ sentence }) => sentence),
    timed_out: report?.ending.is === "timed-out" || report?.ending.is === "idle",
    cost_usd: costOf(record),
  };
}

function csvCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The rows of iterations as their facts come, one after another. */
export class IterationRows {
  readonly #open = new Map<number, IterationRecord>();
  /** Iterations whose verdict is here, and perhaps not yet all that follows from it; with the state at the verdict. */
  #judged: { readonly iteration: number; readonly state: State }[] = [];

  /** True: a row is due, when everything that follows is here. */
  follow(event: Recorded, state: State): boolean {
    const isDue = this.remember(event) !== undefined && event.type === "verdict.reached";
    if (isDue) this.#judged.push({ iteration: event.iteration, state });
    return isDue;
  }

  /** A fact about an iteration that is still open. */
  remember(event: Recorded): IterationRecord | undefined {
    return keepRecord(this.#open, event);
  }

  /** Those that are due, each once: a line of the summary, and one with everything. */
  take(): readonly { readonly summary: string; readonly execution: string }[] {
    const judged = this.#judged;
    this.#judged = [];
    return judged.flatMap(({ iteration, state }) => {
      const record = this.#open.get(iteration);
      this.#open.delete(iteration);
      if (record === undefined) return [];
      return [{ summary: summaryRow(record, state), execution: JSON.stringify(executionRow(record)) }];
    });
  }
}

/** All rows of a log. */
export function rowsOf(events: readonly Recorded[]): ReturnType<IterationRows["take"]> {
  const keeper = new IterationRows();
  const rows: ReturnType<IterationRows["take"]>[number][] = [];
  let state = EMPTY_STATE;
  for (const event of events) {
    // What follows from a verdict is recorded with it, before anything else begins or a person says anything.
    if (event.type === "iteration.started" || event.type === "question.answered") rows.push(...keeper.take());
    state = evolve(state, event);
    keeper.follow(event, state);
  }
  return [...rows, ...keeper.take()];
}
