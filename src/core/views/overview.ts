import type { TranscriptEntry } from "./transcript.ts";
import { nextLook } from "../loop/judge-iteration.ts";
import { isOpen, type OpenIteration, type RunState, type State, taskState } from "../state.ts";
import { statusOf, type TaskStatus } from "../loop/task-status.ts";
import type { Task } from "../plan.ts";
import { REVIEW_MODES, reviewOf } from "../review/story-review.ts";
import { stagesOf } from "../loop/stages.ts";
import { capital } from "../text.ts";
import type { Instant } from "../time.ts";
import { projectStatus, taskRow, type WorkerRow } from "./status.ts";

/** What an agent is doing right now. */
export interface LiveProgress {
  readonly iteration: number;
  readonly task: string;
  readonly elapsedSeconds: number;
  readonly timeoutSeconds: number;
  readonly currentFile: string | null;
  readonly lastTool: string | null;
  readonly toolCalls: number;
  readonly filesTouched: number;
  readonly costUsd: number | null;
}

export interface LogLine {
  readonly position: number;
  readonly at: Instant;
  readonly text: string;
}

/** What is known beside the state. */
export interface Around {
  /** The folder's name. */
  readonly project: string;
  readonly now: Instant;
  /** False: the screen is there to look only. */
  readonly mayAct: boolean;
  /** A process drives the run right now. */
  readonly isDriven: boolean;
  readonly progress: readonly LiveProgress[];
  /** Everybody who works for the queue, or did lately, the longest here first; null where one machine works alone. */
  readonly workers: readonly WorkerRow[] | null;
  /** The last things that happened, in words, oldest first. */
  readonly tail: readonly LogLine[];
  /** Calls of this hour. */
  readonly calls: number;
}

/** Everything that a screen shows at a glance. */
export type Overview = ReturnType<typeof overviewOf>;

export function overviewOf(state: State, { calls, ...around }: Around) {
  return {
    ...around,
    /** Of the log, up to which this is true. */
    position: state.position,
    status: projectStatus(state, around.isDriven, { calls, now: around.now }),
    board: boardOf(state),
    lanes: laneRows(state),
    /** Until all is done, if the tasks that are left take as long as those of this run so far; null: unknown. */
    timeLeftMs: timeLeft(state, around.now),
    /** The next command to type, when there is nothing to show or to do here. */
    hint: hintOf(state, around),
  };
}

function hintOf({ run }: State, { isDriven, workers }: Pick<Around, "isDriven" | "workers">): string | null {
  if (workers !== null) return run === null ? "ralph submit" : isDriven ? null : "ralph worker";
  if (run === null) return "ralph run";
  return isDriven || run.end?.outcome === "completed" ? null : "ralph run";
}

function timeLeft(state: State, now: Instant): number | null {
  const { run, plan, lastIteration } = state;
  if (!isOpen(run)) return null;
  const tasks = plan?.tasks ?? [];
  const isLeft = (task: Task): boolean => ["todo", "doing"].includes(statusOf(state, task));
  const before = lastIteration - run.iterations;
  const done = tasks.filter(({ id }) => (taskState(state, id).completion?.iteration ?? 0) > before).length;
  return done === 0 ? null : Math.round(((now - run.startedAt) / done) * tasks.filter(isLeft).length);
}

/** The tasks as people like to see them: to do, at each stage, done, and waiting for somebody. */
export interface Board {
  readonly columns: readonly Column[];
}

export interface Column {
  readonly is: "todo" | "stage" | "blocked" | "done";
  /** "Todo", the stage's name with a capital, "Blocked", "Done". */
  readonly name: string;
  readonly cards: readonly Card[];
}

export type Card = ReturnType<typeof cardOf>;

export function boardOf(state: State): Board {
  const cards = (state.plan?.tasks ?? []).map((task) => cardOf(state, task));
  const column = (is: Column["is"], name: string): Column => {
    const isHere = (card: Card): boolean =>
      placeOf(card) === is && (is !== "stage" || capital(card.stage) === name);
    return { is, name, cards: cards.filter(isHere) };
  };
  return {
    columns: [
      column("todo", "Todo"),
      ...stageNames(state).map((stage) => column("stage", capital(stage))),
      column("blocked", "Blocked"),
      column("done", "Done"),
    ],
  };
}

const PLACES: Readonly<Record<TaskStatus, Column["is"]>> = {
  todo: "todo",
  doing: "stage",
  blocked: "blocked",
  undecided: "blocked",
  review: "blocked",
  skipped: "todo",
  failed: "blocked",
  cancelled: "blocked",
  done: "done",
};

/** A task that was begun stands at its stage, also while nobody works on it. */
function placeOf({ status, loop }: Card): Column["is"] {
  return status === "todo" && loop !== null ? "stage" : PLACES[status];
}

function stageNames({ run, plan }: State): readonly string[] {
  const settings = run?.settings ?? {};
  const isReviewed = plan?.tasks.some((task) => reviewOf(settings, task) !== null) ?? false;
  return isReviewed ? REVIEW_MODES.toReversed() : stagesOf(settings).map(({ name }) => name);
}

function cardOf(state: State, task: Task) {
  const { id, title, status, stage, agent, complexity, ...row } = taskRow(state, task);
  const open = state.iterations.find((iteration) => iteration.task === id);
  const count = `${row.iteration}${row.max_iterations === null ? "" : `/${row.max_iterations}`}`;
  const { question } = taskState(state, id);
  return {
    id,
    title,
    status,
    stage,
    agent,
    complexity,
    /** "Coder (3/15)": where it is in its loop; null before its first iteration. */
    loop: row.iteration === 0 ? null : `${capital(stage)} (${count})`,
    /** Null when nobody works on it right now. */
    lane: open?.lane ?? null,
    startedAt: open?.startedAt ?? null,
    costUsd: row.cost_usd,
    dependsOn: task.dependsOn,
    /** Why it waits for a person: a question, a reason; null when it does not. */
    waitsFor: question !== null && question.answer === null ? question.text : row.blocked_reason,
  };
}

/** One lane of the run, and what goes on in it. */
export interface LaneRow {
  readonly lane: number;
  /** Null: nothing. */
  readonly work: LaneWork | null;
}

export type LaneWork = ReturnType<typeof laneWork>;

/** Every lane of the open run in order; none without one. Of a run that workers share: those that are at work. */
export function laneRows(state: State): readonly LaneRow[] {
  const { run, iterations } = state;
  if (!isOpen(run)) return [];
  if (run.settings.shared === true)
    return iterations
      .map((open) => ({ lane: open.lane, work: laneWork(state, run, open) }))
      .toSorted((a, b) => a.lane - b.lane);
  return Array.from({ length: run.settings.lanes }, (_, index) => {
    const open = iterations.find(({ lane }) => lane === index + 1);
    return { lane: index + 1, work: open === undefined ? null : laneWork(state, run, open) };
  });
}

function laneWork(state: State, run: RunState, open: OpenIteration) {
  const {
    number: iteration,
    task,
    stage,
    agent,
    ordinal,
    maxIterations,
    startedAt,
    timeoutMs,
    worker,
  } = open;
  const doing = doneNow(state, run, open);
  const about = { iteration, task, stage, agent, ordinal, maxIterations, startedAt, timeoutMs, worker };
  return { ...about, doing, says: DOING[doing] };
}

/** What is under way: the agent, the look at its work, the witnesses one after the other. */
function doneNow(state: State, run: RunState, open: OpenIteration): keyof typeof DOING {
  const { phase } = open;
  if (phase.is !== "observed") return phase.is === "running" ? "agent" : "evidence";
  const look = nextLook(state, run, open, phase);
  const named = { "check-gates": "gates", "run-old-checks": "old-checks", "ask-reader": "reader" } as const;
  return look === null ? "verdict" : named[look.kind];
}

/** In words for every screen; empty: the agent works, and says itself what it does. */
const DOING = {
  agent: "",
  evidence: "reading its changes",
  gates: "running the gates",
  "old-checks": "running the gates with the old checks",
  reader: "a second reader reads the claim",
  verdict: "judging",
};

/** A piece of a text of any size; it is shown as text, whatever is in it. */
export interface TextPage {
  readonly from: number;
  /** Where the next piece begins. */
  readonly to: number;
  /** Of the whole text. */
  readonly bytes: number;
  readonly text: string;
}

/** The entries of a part of a transcript, in bytes of its file. */
export interface EntryPage {
  readonly from: number;
  /** Where the next part begins; entries from there on may not be complete. */
  readonly to: number;
  /** Of the whole file. */
  readonly bytes: number;
  /** Nothing comes after it yet. */
  readonly isEnd: boolean;
  readonly entries: readonly TranscriptEntry[];
}

export interface EntryHit {
  /** The place of the entry. */
  readonly at: number;
  /** The line that has the words. */
  readonly line: string;
}
