import type { Event, EventOf } from "../events.ts";
import type { Plan } from "../plan/task.ts";
import type { Effect } from "./effects.ts";
import { taskState, type RunState, type State, type TaskState } from "./state.ts";
import type { OwnWorktree } from "./task-state.ts";
import { isCancelled } from "./task-status.ts";

/** The way of accepted work to the base: one at a time, a begun one first, then in the order of acceptance. */
export function merges(state: State, run: RunState, plan: Plan): readonly Effect[] {
  const known = plan.tasks.map(({ id }) => taskState(state, id));
  const waiting = known
    .filter(({ id, merge }) => merge?.is === "prepared" || (merge?.is === "due" && !isCancelled(state, id)))
    .toSorted((a, b) => (a.completion?.position ?? 0) - (b.completion?.position ?? 0));
  const next = waiting.find(({ merge }) => merge?.is === "prepared") ?? waiting[0];
  const removals = known
    .filter(
      ({ merge, worktree }) => worktree !== null && (merge?.is === "merged" || merge?.is === "proposed"),
    )
    .map(({ id }): Effect => ({ kind: "remove-worktree", key: `remove-worktree:${id}`, task: id }));
  // What is begun is brought to its end even when the run is asked to stop: that takes no agent.
  const isWanted = next !== undefined && (run.stop !== "now" || next.merge?.is === "prepared");
  return isWanted ? [{ kind: "merge-task", key: `merge:${next.id}`, task: next.id }, ...removals] : removals;
}

/** So often may a task not go together with the base before a person has to look. */
const FAILURES_MAX = 2;

type Failed = EventOf<"merge.failed">;

/** Work that does not go together with the base: once it goes back to its agent, then a person is needed. */
export function mergeFailed(
  { mergeFailures }: TaskState,
  { base, branch }: OwnWorktree,
  about: Pick<Failed, "run" | "task" | "iteration">,
  found: Pick<Failed, "conflicts" | "gates">,
): readonly Event[] {
  const failure: Event = { ...about, type: "merge.failed", base, ...found };
  if (mergeFailures + 1 < FAILURES_MAX) return [failure];
  const why = found.conflicts.length > 0 ? "it still conflicts with" : "merged, it still does not pass on";
  return [
    failure,
    { ...about, type: "task.blocked", reason: `${why} ${base}; its branch ${branch} is kept` },
  ];
}
