import type { EventOf, Recorded } from "../events.ts";
import type { TaskId } from "../plan/task.ts";
import { steersFor, type Steer } from "./steer.ts";
import type { State } from "./state.ts";

export function steered(
  state: State,
  event: Recorded<EventOf<"steer.given" | "steer.used" | "steer.deferred">>,
): State {
  switch (event.type) {
    case "steer.given":
      return steerGiven(state, event);
    case "steer.used":
      return steerUsed(state, event);
    case "steer.deferred":
      return steerDeferred(state, event);
  }
}

function steerGiven(state: State, event: Recorded<EventOf<"steer.given">>): State {
  const { id, task, text, at } = event;
  const given = { id, task, text, givenAt: at, carriedIn: null, told: false, deferredIn: null };
  return { ...state, steers: [...state.steers, given] };
}

/** The prompt of an iteration carries what waits for its task. */
export function steersCarried(state: State, event: EventOf<"iteration.started">): State {
  const carried = new Set(steersFor(state.steers, event.task).map(({ id }) => id));
  return changed(state, (steer) =>
    carried.has(steer.id) ? { ...steer, carriedIn: event.iteration } : steer,
  );
}

/** What a prompt carried is settled; what a running agent was told is settled when its work is accepted. */
function steerUsed(state: State, event: EventOf<"steer.used">): State {
  if (event.how === "prompt") return { ...state, steers: state.steers.filter(({ id }) => id !== event.id) };
  return changed(state, (steer) =>
    steer.id === event.id ? { ...steer, task: event.task, carriedIn: event.iteration, told: true } : steer,
  );
}

function steerDeferred(state: State, event: EventOf<"steer.deferred">): State {
  return changed(state, (steer) =>
    steer.id === event.id ? { ...steer, deferredIn: event.iteration } : steer,
  );
}

/** Another list may use the task's id; what was said of this one is not meant for it. */
export function steersForgotten(state: State, task: TaskId): State {
  return { ...state, steers: state.steers.filter((steer) => steer.task !== task) };
}

/** Those that the next iteration has to know of wait again: its agent remembers nothing. */
export function steersSettled(state: State, { iteration, verdict }: EventOf<"verdict.reached">): State {
  const isSettled = ({ carriedIn, told }: Steer): boolean =>
    carriedIn === iteration && told && verdict === "accepted";
  const steers = state.steers.filter((steer) => !isSettled(steer));
  return steersWaiting({ ...state, steers }, iteration);
}

/** Whatever the agent of this iteration had is for another one. */
export function steersWaiting(state: State, iteration: number): State {
  return changed(state, (steer) =>
    steer.carriedIn === iteration ? { ...steer, carriedIn: null, told: false } : steer,
  );
}

function changed(state: State, change: (steer: Steer) => Steer): State {
  return state.steers.length === 0 ? state : { ...state, steers: state.steers.map(change) };
}
