import type { Plan } from "../plan/task.ts";
import type { Effect } from "./effects.ts";
import { taskState, type RunState, type State } from "./state.ts";

/** The way of accepted work to the base: one at a time, a begun one first, then in the order of acceptance. */
export function merges(state: State, run: RunState, plan: Plan): readonly Effect[] {
  const known = plan.tasks.map(({ id }) => taskState(state, id));
  const waiting = known
    .filter(({ merge }) => merge?.is === "prepared" || merge?.is === "due")
    .toSorted((a, b) => (a.completion?.iteration ?? 0) - (b.completion?.iteration ?? 0));
  const next = waiting.find(({ merge }) => merge?.is === "prepared") ?? waiting[0];
  const removals = known
    .filter(({ merge, worktree }) => merge?.is === "merged" && worktree !== null)
    .map(({ id }): Effect => ({ kind: "remove-worktree", key: `remove-worktree:${id}`, task: id }));
  // What is begun is brought to its end even when the run is asked to stop: that takes no agent.
  const isWanted = next !== undefined && (run.stop !== "now" || next.merge?.is === "prepared");
  return isWanted ? [{ kind: "merge-task", key: `merge:${next.id}`, task: next.id }, ...removals] : removals;
}
