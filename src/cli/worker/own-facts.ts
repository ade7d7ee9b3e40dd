import type { Recorded } from "../../core/events.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import type { Follower } from "../../engine/ports.ts";
import type { Holdings } from "../../engine/worker/holdings.ts";

/** A worker shows what happens to the tasks that it holds, and to the run; the rest is on the others' screens. */
export function ownFacts(printer: Follower, worker: string, holdings: Holdings): Follower {
  const isOwn = (event: Recorded, state: State): boolean => {
    if (!("task" in event) || event.task === null) return true;
    return holdings.has(event.task) || taskState(state, event.task).holder?.worker === worker;
  };
  return {
    follow: (event, state) => (isOwn(event, state) ? printer.follow(event, state) : Promise.resolve()),
  };
}
