import type { EventOf, Recorded } from "../events.ts";

/** What came to the base last, and has not been taken back since. */
export interface LastMerge extends Pick<
  EventOf<"task.merged">,
  "run" | "task" | "iteration" | "from" | "to"
> {
  readonly base: string;
  readonly branch: string | null;
}

export const MERGE_EVENTS = [
  "run.started",
  "run.resumed",
  "worktree.opened",
  "task.merged",
  "task.undone",
] as const;

export function lastMerge(events: readonly Recorded[]): LastMerge | null {
  let base = "";
  const branches = new Map<string, string>();
  const merges: LastMerge[] = [];
  for (const event of events) {
    if (event.type === "run.started" || event.type === "run.resumed")
      base = event.settings.worktrees?.base ?? base;
    if (event.type === "worktree.opened") branches.set(event.task, event.branch);
    if (event.type === "task.undone") merges.pop();
    if (event.type !== "task.merged" || event.from === event.to) continue;
    const { run, task, iteration, from, to } = event;
    merges.push({ run, task, iteration, from, to, base, branch: branches.get(task) ?? null });
  }
  return merges.at(-1) ?? null;
}
