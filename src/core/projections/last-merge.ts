import type { EventOf, Recorded } from "../events.ts";

/** What came to the base last, and has not been taken back since. */
export interface LastMerge extends Pick<
  EventOf<"task.merged">,
  "run" | "task" | "iteration" | "from" | "to"
> {
  readonly base: string;
  readonly branch: string;
}

export const MERGE_EVENTS = ["worktree.opened", "task.merged", "task.undone"] as const;

export function lastMerge(events: readonly Recorded[]): LastMerge | null {
  const opened = new Map<string, EventOf<"worktree.opened">>();
  const merges: LastMerge[] = [];
  for (const event of events) {
    if (event.type === "worktree.opened") opened.set(event.task, event);
    if (event.type === "task.undone") merges.pop();
    if (event.type !== "task.merged" || event.from === event.to) continue;
    const { run, task, iteration, from, to } = event;
    const worktree = opened.get(task);
    if (worktree === undefined) continue;
    merges.push({ run, task, iteration, from, to, base: worktree.base, branch: worktree.branch });
  }
  return merges.at(-1) ?? null;
}
