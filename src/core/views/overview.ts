import type { TranscriptEntry } from "./transcript.ts";
import { agentFor, iterationsShown, timeoutFor } from "../loop/agent-for.ts";
import { nextWitness } from "../loop/judge-iteration.ts";
import { isOpen, type OpenIteration, type RunState, type State, taskState } from "../state.ts";
import { statusOf, type TaskStatus, whyBlocked } from "../loop/task-status.ts";
import type { Task } from "../plan.ts";
import { REVIEW_MODES, reviewOf } from "../review/story-review.ts";
import { stageOf, stagesOf } from "../loop/stages.ts";
import { capital } from "../text.ts";
import type { Instant } from "../time.ts";
import { projectStatus, type Status, type WorkerRow } from "./status.ts";

/** Everything that a screen shows at a glance. */
export interface Overview {
  /** The folder's name. */
  readonly project: string;
  /** Of the log, up to which this is true. */
  readonly position: number;
  readonly now: Instant;
  /** False: the screen is there to look only. */
  readonly mayAct: boolean;
  /** A process drives the run right now. */
  readonly isDriven: boolean;
  readonly status: Status;
  readonly board: Board;
  readonly lanes: readonly LaneRow[];
  readonly progress: readonly LiveProgress[];
  /** Everybody who works for the queue, or did lately, the longest here first; null where one machine works alone. */
  readonly workers: readonly WorkerRow[] | null;
  /** The last things that happened, in words, oldest first. */
  readonly tail: readonly LogLine[];
  /** The next command to type, when there is nothing to show or to do here. */
  readonly hint: string | null;
}

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
export type Around = Pick<
  Overview,
  "project" | "now" | "mayAct" | "isDriven" | "progress" | "workers" | "tail"
> & {
  /** Calls of this hour. */
  readonly calls: number;
};

export function overviewOf(state: State, { calls, ...around }: Around): Overview {
  return {
    ...around,
    position: state.position,
    status: projectStatus(state, around.isDriven, { calls, now: around.now }),
    board: boardOf(state),
    lanes: laneRows(state),
    hint: hintOf(state, around),
  };
}

function hintOf({ run }: State, { isDriven, workers }: Pick<Around, "isDriven" | "workers">): string | null {
  if (workers !== null) return run === null ? "ralph submit" : isDriven ? null : "ralph worker";
  if (run === null) return "ralph run";
  return isDriven || run.end?.outcome === "completed" ? null : "ralph run";
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

export interface Card {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  /** "Coder (3/15)": where it is in its loop; null before its first iteration. */
  readonly loop: string | null;
  readonly stage: string;
  readonly agent: string | null;
  /** Null when nobody works on it right now. */
  readonly lane: number | null;
  readonly startedAt: Instant | null;
  readonly complexity: string | null;
  readonly costUsd: number | null;
  readonly dependsOn: readonly string[];
  /** Why it waits for a person: a question, a reason; null when it does not. */
  readonly waitsFor: string | null;
}

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

function cardOf(state: State, task: Task): Card {
  const known = taskState(state, task.id);
  const settings = state.run?.settings;
  const stage = stageOf(settings ?? {}, task, known.stage);
  const open = state.iterations.find((iteration) => iteration.task === task.id);
  const most = settings === undefined ? null : iterationsShown(state, task, settings, stage);
  const count = `${known.iterations}${most === null ? "" : `/${most}`}`;
  const { question } = known;
  return {
    id: task.id,
    title: task.title,
    status: statusOf(state, task),
    loop: known.iterations === 0 ? null : `${capital(stage.name)} (${count})`,
    stage: stage.name,
    agent: settings === undefined ? task.agent : agentFor(state, task, settings),
    lane: open?.lane ?? null,
    startedAt: open?.startedAt ?? null,
    complexity: settings === undefined ? null : timeoutFor(state, task, settings).complexity,
    costUsd: known.spend.usd,
    dependsOn: task.dependsOn,
    waitsFor: question !== null && question.answer === null ? question.text : whyBlocked(known),
  };
}

/** One lane of the run, and what goes on in it. */
export interface LaneRow {
  readonly lane: number;
  /** Null: nothing. */
  readonly work: LaneWork | null;
}

export interface LaneWork extends Pick<
  OpenIteration,
  "task" | "stage" | "agent" | "ordinal" | "maxIterations" | "startedAt" | "timeoutMs" | "worker"
> {
  readonly iteration: number;
  /** What is under way: the agent, the look at its work, the witnesses one after the other. */
  readonly doing: "agent" | "evidence" | "gates" | "old-checks" | "reader" | "verdict";
  /** The same in words for every screen; empty: the agent works, and says itself what it does. */
  readonly says: string;
}

const DOING: Readonly<Record<LaneWork["doing"], string>> = {
  agent: "",
  evidence: "reading its changes",
  gates: "running the gates",
  "old-checks": "running the gates with the old checks",
  reader: "a second reader reads the claim",
  verdict: "judging",
};

/** Every lane of the open run in order; none without one. Of a run that workers share: those that are at work. */
export function laneRows(state: State): readonly LaneRow[] {
  const { run, iterations } = state;
  if (!isOpen(run)) return [];
  const workOf = (open: OpenIteration): LaneWork => laneWork(open, doing(state, run, open));
  if (run.settings.shared === true)
    return iterations
      .map((open) => ({ lane: open.lane, work: workOf(open) }))
      .toSorted((a, b) => a.lane - b.lane);
  return Array.from({ length: run.settings.lanes }, (_, index) => {
    const open = iterations.find(({ lane }) => lane === index + 1);
    return { lane: index + 1, work: open === undefined ? null : workOf(open) };
  });
}

function laneWork(open: OpenIteration, now: LaneWork["doing"]): LaneWork {
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
  return {
    iteration,
    task,
    stage,
    agent,
    ordinal,
    maxIterations,
    startedAt,
    timeoutMs,
    worker,
    doing: now,
    says: DOING[now],
  };
}

function doing(state: State, run: RunState, open: OpenIteration): LaneWork["doing"] {
  const { phase } = open;
  if (phase.is !== "observed") return phase.is === "running" ? "agent" : "evidence";
  const witness = nextWitness(state, run, open, phase) ?? "verdict";
  return typeof witness === "string" ? witness : "reader";
}

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
