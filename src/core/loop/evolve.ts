import type { Event, EventOf, FleetEvent, Recorded, WorkEvent, WorktreeEvent } from "../events.ts";
import type { TaskId } from "../plan/task.ts";
import {
  baselineMeasured,
  marksChanged,
  agentsWarned,
  besideOthers,
  taskMerged,
  stageChanged,
  workMoved,
} from "./evolve-worktrees.ts";
import {
  loopGivenUp,
  braked,
  taskGivenUp,
  withPersonsAct,
  timeoutBlockOf,
  timeoutsCounted,
} from "./evolve-brakes.ts";
import {
  agentSuspended,
  interventionChosen,
  forgotten,
  taskCompleted,
  handedOn,
  steered,
  steersCarried,
  steersForgotten,
  steersSettled,
  runChanged,
  tasksObserved,
} from "./evolve-run.ts";
import { iterationStarted, iterationAdvanced, iterationJudged } from "./evolve-iteration.ts";
import { isAcceptance, isMergeHeld } from "./task-status.ts";
import { EMPTY_STATE, taskState, withRun, withTask, type State, type TaskState } from "./state.ts";

/** Raised when the fold changes, so that snapshots of an older fold are ignored. */
export const EVOLVE_VERSION = 29;

/** Folds one fact into the state. */
export function evolve(state: State, event: Recorded): State {
  const folded = withPersonsAct(state, fold(state, event), event);
  const run = folded.run && { ...folded.run, lastFactAt: event.at };
  const next = { ...folded, run, position: event.position };
  const task = taskOf(event);
  return task === null ? next : withTask(next, task, { position: event.position });
}

export function evolveAll(events: Iterable<Recorded>, from: State = EMPTY_STATE): State {
  let state = from;
  for (const event of events) state = evolve(state, event);
  return state;
}

/** The task an event is about; this is what compare-and-append compares. */
export function taskOf(event: Event): TaskId | null {
  return "task" in event ? event.task : null;
}

function fold(state: State, event: Recorded): State {
  switch (event.type) {
    case "log.renewed":
      return { ...state, lastIteration: Math.max(state.lastIteration, event.lastIteration) };
    case "run.started":
    case "run.resumed":
    case "run.ended":
      return runChanged(state, event);
    case "tasks.observed":
      return tasksObserved(state, event);
    case "task.marked":
    case "task.undone":
    case "story.settled":
      return marksChanged(state, event);
    case "baseline.measured":
      return baselineMeasured(state, event);
    case "wait.started":
    case "retry.requested":
    case "calls.exhausted":
    case "calls.reset":
    case "budget.neared":
    case "budget.reached":
    case "breaker.moved":
      return braked(state, event);
    case "stop.requested":
      return event.run === state.run?.id ? withRun(state, { stop: event.urgency }) : state;
    case "iteration.started":
      return steersCarried(iterationStarted(state, event), event);
    case "halftime.passed":
    case "iteration.ended":
    case "evidence.collected":
    case "gates.checked":
    case "old-checks.ran":
    case "reader.asked":
    case "reader.answered":
      return iterationAdvanced(state, event);
    case "verdict.reached":
      return steersSettled(timeoutsCounted(state, iterationJudged(state, event), event), event);
    case "steer.given":
    case "steer.used":
    case "steer.deferred":
      return steered(state, event);
    case "intervention.chosen":
      return interventionChosen(state, event);
    case "agent.suspended":
      return agentSuspended(state, event);
    case "task.completed":
      return taskCompleted(state, event);
    case "lesson.removed":
    case "interventions.reset":
    case "proposal.settled":
      return forgotten(state, event);
    default:
      return taskFolded(state, event);
  }
}

/** What happened to one task, outside of its iterations. */
function taskFolded(state: State, event: Recorded<BetweenIterations>): State {
  switch (event.type) {
    case "checkout.changed":
      return agentsWarned(state, event);
    case "task.taken":
    case "task.dropped":
      return handedOn(state, event);
    case "task.merged":
      return taskMerged(state, event);
    case "work.leaving":
    case "work.left":
    case "work.stayed":
    case "work.returning":
    case "work.returned":
    case "work.refused":
    case "work.discarded":
      return workMoved(state, event);
    case "task.reset":
      return taskReset(state, event.task);
    case "task.blocked":
      return withTask(taskGivenUp(state, event), event.task, {
        blockedReason: event.reason,
        isStuck: event.isStuck ?? false,
        timeoutBlock: timeoutBlockOf(state, event),
      });
    default:
      return withTask(state, event.task, taskChange(taskState(state, event.task), event));
  }
}

/** Unaccepted work is where it is, whatever is forgotten of its task. */
function taskReset(state: State, task: TaskId): State {
  const { letter, work, footing } = taskState(state, task);
  const known = work === null ? {} : { work, footing };
  return withTask(steersForgotten(state, task), task, { ...taskState(EMPTY_STATE, task), letter, ...known });
}

type BetweenIterations =
  | TaskFact
  | FleetEvent
  | WorkEvent
  | EventOf<"checkout.changed" | "task.merged" | "work.discarded" | "task.reset" | "task.blocked">;

type TaskFact =
  | WorktreeEvent
  | EventOf<
      | "stage.passed"
      | "stage.objected"
      | "question.asked"
      | "question.answered"
      | "task.unblocked"
      | "task.exhausted"
      | "task.failed"
      | "task.cancelled"
      | "letter.published"
      | "letter.disturbed"
      | "letter.withdrawn"
    >;

function taskChange(task: TaskState, event: Recorded<TaskFact>): Partial<TaskState> {
  switch (event.type) {
    case "stage.passed":
    case "stage.objected":
      return stageChanged(task, event);
    case "question.asked":
      return {
        question: {
          text: event.question,
          options: event.options,
          iteration: event.iteration,
          askedAt: event.at,
          default: event.default,
          deadlineAt: event.deadlineAt,
          answer: null,
          usedIn: null,
          acceptance: event.acceptance ?? null,
        },
      };
    case "question.answered":
      return {
        question: task.question === null ? null : { ...task.question, answer: event.answer },
        tookDefault: event.by === "deadline",
        rounds: 0,
        isAgreed: task.isAgreed || agrees(task.question, event.answer),
      };
    case "task.unblocked":
      return {
        ...(isMergeHeld(task) && { merge: { is: "due" } as const }),
        blockedReason: null,
        isStuck: false,
        timeoutBlock: null,
        unblockedMs: event.timeoutMs ?? task.unblockedMs,
        unblockedByPerson: event.timeoutMs === null ? task.unblockedByPerson : event.by === "person",
        tookDefault: false,
        autoUnblocks: task.autoUnblocks + (event.by === "ralph" ? 1 : 0),
        attempts: 0,
        timedOut: null,
        stuckCount: 0,
        exhaustedRuns: 0,
        failures: 0,
        exhaustedIn: null,
        iterations: 0,
        failedIn: null,
        suspended: [],
        standIn: null,
        watched: [],
        drops: 0,
      };
    case "task.exhausted":
    case "task.failed":
      return loopGivenUp(task, event);
    case "task.cancelled":
      return { cancelledIn: event.run, iterations: 0 };
    case "letter.published":
      return { letter: { kind: event.kind, file: event.file, sha256: event.sha256 } };
    case "letter.disturbed":
      return {
        letter: event.sha256 === null ? null : task.letter && { ...task.letter, sha256: event.sha256 },
      };
    case "letter.withdrawn":
      return { letter: null };
    default:
      return besideOthers(task, event);
  }
}

/** Only of a question whose answer does nothing else. */
function agrees(question: TaskState["question"], answer: string): boolean {
  return question?.acceptance?.is === "agreement" && isAcceptance(answer);
}
