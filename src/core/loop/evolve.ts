import type { Event, EventType, Recorded } from "../events.ts";
import type { TaskId } from "../plan.ts";
import { iterationFolds } from "./evolve-iteration.ts";
import { runFolds, withPersonsAct } from "./evolve-run.ts";
import { taskFolds } from "./evolve-task.ts";
import { steerFolds } from "./steer.ts";
import { workFolds } from "./evolve-work.ts";
import { EMPTY_STATE, withTask, type Facts, type Folds, type State } from "../state.ts";

/** Raised when the fold changes, so that snapshots of an older fold are ignored. */
export const EVOLVE_VERSION = 32;

const FOLDS: Folds = { ...runFolds, ...iterationFolds, ...taskFolds, ...steerFolds, ...workFolds };

/** Folds one fact into the state. */
export function evolve(state: State, event: Recorded): State {
  const folded = withPersonsAct(state, fold(state, event.type, event), event);
  const run = folded.run && { ...folded.run, lastFactAt: event.at };
  const next = { ...folded, run, position: event.position };
  const task = taskOf(event);
  return task === null ? next : withTask(next, task, { position: event.position });
}

function fold<Type extends EventType>(state: State, type: Type, event: Facts[Type]): State {
  return FOLDS[type](state, event);
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
