import { taskState, type State } from "../loop/state.ts";
import { statusOf, whyBlocked, type TaskStatus } from "../loop/task-status.ts";
import type { Task } from "../plan/task.ts";
import { reviewOf } from "../review/story-cycle.ts";
import { REVIEW_MODES } from "../review/story-review.ts";
import { stageOf, stagesOf } from "../stages/stages.ts";
import type { Instant } from "../time.ts";
import { maxIterationsOf } from "../limits/iteration-limits.ts";
import { agentFor } from "../loop/agent-for.ts";
import { timeoutFor } from "../loop/timeout-for.ts";

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
  const stages = stageNames(state);
  const column = (is: Column["is"], name: string, holds: (card: Card) => boolean): Column => ({
    is,
    name,
    cards: cards.filter(holds),
  });
  return {
    columns: [
      column("todo", "Todo", (card) => placeOf(card) === "todo"),
      ...stages.map((stage) =>
        column("stage", capital(stage), (card) => placeOf(card) === "stage" && card.stage === stage),
      ),
      column("blocked", "Blocked", (card) => placeOf(card) === "blocked"),
      column("done", "Done", (card) => placeOf(card) === "done"),
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
  const most = settings === undefined ? null : maxIterationsOf(task, settings, stage);
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

function capital(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}
