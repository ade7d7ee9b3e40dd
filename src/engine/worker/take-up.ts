import type { Event } from "../../core/events.ts";
import { decide } from "../../core/loop/decide.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import type { TaskId } from "../../core/plan/task.ts";
import type { Instant } from "../../core/time.ts";
import type { Lease } from "../fleet-ports.ts";
import type { Journal } from "../journal.ts";
import type { Ports } from "../ports.ts";
import { offersOf } from "./offers.ts";

/**
 * Goes on with a task where another one left it, or begins it. What is left of an agent on this machine is ended first,
 * and what was begun is brought here: from now on the facts about it are this worker's.
 */
export async function takeUp(
  { name: task, number: lease, from }: Lease,
  worker: string,
  ports: Ports,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  await journal.catchUp();
  const { run, iterations } = journal.state;
  // It was offered, and settled since.
  if (run === null || !isWanted(task, journal.state, ports.clock.now())) return;
  for (const open of iterations.filter((one) => one.task === task)) await ports.agents.sweep(open.marker);
  const taken: Event = { type: "task.taken", run: run.id, task, worker, lease, from };
  const { worktree } = taskState(journal.state, task);
  if (worktree === null || ports.beside === null) return journal.record(taken);
  const { base, merge } = worktree;
  const opened = await ports.beside.worktrees.open(task, base, signal);
  if (signal.aborted) return;
  if (opened.is === "failed")
    return journal.record(taken, { type: "worktree.failed", run: run.id, task, why: opened.why });
  const { root, branch, copied } = opened;
  await journal.record(taken, {
    type: "worktree.opened",
    run: run.id,
    task,
    root,
    branch,
    base,
    merge,
    copied,
  });
}

function isWanted(task: TaskId, state: State, now: Instant): boolean {
  return offersOf(decide(state, now).effects, state, now).some((offer) => offer.task === task);
}
