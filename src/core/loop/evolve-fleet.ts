import type { EventOf, Recorded } from "../events.ts";
import type { FleetEvent } from "../fleet-events.ts";
import { withCost } from "../limits/budget.ts";
import { steersWaiting } from "./evolve-steering.ts";
import { taskState, withRun, withTask, type OpenIteration, type State, type TaskState } from "./state.ts";

/** So many workers in a row may vanish or fail over a task before a person has to look. */
const DROPS_MAX = 3;

export function handedOn(state: State, event: Recorded<FleetEvent>): State {
  return event.type === "task.taken" ? taskTaken(state, event) : taskDropped(state, event);
}

/** Whoever worked on it before does so no longer, whether it knows that or not. */
function taskTaken(state: State, event: Recorded<EventOf<"task.taken">>): State {
  const { task, worker, lease, from } = event;
  const taken = {
    ...withTask(state, task, { holder: { worker, lease } }),
    iterations: state.iterations.map((open) => (open.task === task ? handedOver(open) : open)),
  };
  const wasAtWork = state.iterations.some((open) => open.task === task);
  return from === null || !wasAtWork ? taken : dropped(taken, task, `${from} vanished`);
}

function taskDropped(state: State, { task, worker, why }: Recorded<EventOf<"task.dropped">>): State {
  const given = dropped(withTask(state, task, { holder: null }), task, `${worker}: ${why}`);
  const isBlocked = taskState(given, task).blockedReason !== null;
  // Nobody can bring what is open to its end either; whoever takes over from one that vanished can.
  return isBlocked ? givenUp(given, task) : given;
}

/** What nobody can go on with is not passed round for ever. */
function dropped(state: State, id: string, why: string): State {
  const drops = taskState(state, id).drops + 1;
  if (drops < DROPS_MAX) return withTask(state, id, { drops });
  const blockedReason = `${drops} workers in a row could not go on with it; the last one: ${why}`;
  return withTask(state, id, { drops, blockedReason });
}

/** Its iteration has no end; what its agent was told is told again, and what it has cost counts. */
function givenUp(state: State, id: string): State {
  const open = state.iterations.filter(({ task }) => task === id);
  const left = { ...state, iterations: state.iterations.filter((one) => !open.includes(one)) };
  return open.reduce((rest, { number }) => steersWaiting(rest, number), unseenCosts(left, id, open));
}

/** An agent whose end nobody saw has cost something, too. */
function unseenCosts(state: State, id: string, iterations: readonly OpenIteration[]): State {
  const isUnseen = iterations.some(({ phase }) => phase.is === "running");
  if (!isUnseen || state.run === null) return state;
  const spent = withTask(state, id, { spend: withCost(taskState(state, id).spend, null) });
  return withRun(spent, { spend: withCost(state.run.spend, null) });
}

/**
 * An agent that nobody watches any more is lost with its worker, and so is what it claimed of work that was not yet
 * brought to the others: whoever goes on may not have it, be it the same worker on the same machine.
 */
function handedOver(open: OpenIteration): OpenIteration {
  if (open.phase.is === "running") return { ...open, orphaned: true };
  if (open.phase.is !== "ended") return open;
  const report = { ...open.phase.report, ending: { is: "interrupted" }, claim: { is: "none" } } as const;
  return { ...open, phase: { is: "ended", report: { ...report, failure: null } } };
}

/** Whether what a worker holds is what the log says that it holds. */
export function isHeldBy({ holder }: TaskState, lease: number | null): boolean {
  return holder !== null && holder.lease === lease;
}

/** Whether others went on with a task since this worker left it: what it has on its disk is of the past then. */
export function wasElsewhere(state: State, task: string, worker: string): boolean {
  const isOpenHere = state.iterations.some((open) => open.task === task && open.worker === worker);
  return !isOpenHere && taskState(state, task).holder?.worker !== worker;
}
