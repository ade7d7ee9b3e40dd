import type { EventOf, Recorded } from "../events.ts";
import type { FleetEvent } from "../fleet-events.ts";
import { taskState, withTask, type OpenIteration, type State, type TaskState } from "./state.ts";

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
    iterations: state.iterations.map((open) => (open.task === task ? handedOver(open, worker) : open)),
  };
  const wasAtWork = state.iterations.some((open) => open.task === task);
  return from === null || !wasAtWork ? taken : dropped(taken, task, `${from} vanished`);
}

function taskDropped(state: State, { task, worker, why }: Recorded<EventOf<"task.dropped">>): State {
  const given = dropped(withTask(state, task, { holder: null }), task, `${worker}: ${why}`);
  const isBlocked = taskState(given, task).blockedReason !== null;
  // Nobody can bring what is open to its end either; whoever takes over from one that vanished can.
  return isBlocked ? { ...given, iterations: given.iterations.filter((open) => open.task !== task) } : given;
}

/** What nobody can go on with is not passed round for ever. */
function dropped(state: State, id: string, why: string): State {
  const drops = taskState(state, id).drops + 1;
  if (drops < DROPS_MAX) return withTask(state, id, { drops });
  const blockedReason = `${drops} workers in a row could not go on with it; the last one: ${why}`;
  return withTask(state, id, { drops, blockedReason });
}

/** An agent that nobody watches any more, and work that was not brought to the others, are lost with their machine. */
function handedOver(open: OpenIteration, worker: string): OpenIteration {
  if (open.phase.is === "running") return { ...open, orphaned: true };
  if (open.phase.is !== "ended" || open.worker === worker) return open;
  const report = { ...open.phase.report, ending: { is: "interrupted" }, claim: { is: "none" } } as const;
  return { ...open, phase: { is: "ended", report: { ...report, failure: null } } };
}

/** Whether what a worker holds is what the log says that it holds. */
export function isHeldBy({ holder }: TaskState, lease: number | null): boolean {
  return holder !== null && holder.lease === lease;
}
