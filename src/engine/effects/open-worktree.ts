import { taskState } from "../../core/loop/state.ts";
import type { TaskId } from "../../core/plan/task.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";

/** Makes sure that a task has its own checkout. True: it has; otherwise something was recorded, and is decided anew. */
export async function hasWorktree(
  task: TaskId,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<boolean> {
  const { run } = journal.state;
  const known = taskState(journal.state, task).worktree;
  // One that was begun in a worktree goes on there.
  const settings = known ?? run?.settings.worktrees ?? null;
  if (run === null || settings === null || ports.beside === null) return true;
  const { base, merge } = settings;
  const opened = await ports.beside.worktrees.open(task, base, signal);
  // Nobody waits for it any more; whoever comes next takes it up.
  if (signal.aborted) return false;
  if (opened.is === "failed") {
    await journal.record({ type: "worktree.failed", run: run.id, task, why: opened.why });
    return false;
  }
  const { root, branch, copied } = opened;
  if (known?.root === root && known.branch === branch) return true;
  await journal.record({ type: "worktree.opened", run: run.id, task, root, branch, base, merge, copied });
  return false;
}
