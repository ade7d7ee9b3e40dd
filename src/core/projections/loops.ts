import { maxIterationsOf } from "../limits/iteration-limits.ts";
import { promiseFor } from "../loop/promise-for.ts";
import { tasksInScope } from "../loop/select-tasks.ts";
import { isOpen, taskState, type State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import { stageOf } from "../stages/stages.ts";
import { isoTime, type Instant } from "../time.ts";

/** A loop that has begun and goes on by itself. */
export interface Loop {
  readonly task: string;
  readonly stage: string;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly startedAt: Instant;
  readonly promise: string;
}

/** Those of the open run: an agent works in them, or the next iteration is waited for. */
export function activeLoops(state: State): readonly Loop[] {
  const { run, plan } = state;
  if (!isOpen(run) || plan === null) return [];
  return tasksInScope(run, plan).flatMap((task) => {
    const { iterations, loopSince, stage: current } = taskState(state, task.id);
    const open = state.iterations.find((one) => one.task === task.id);
    const isUnderWay = ["todo", "doing"].includes(statusOf(state, task)) && iterations > 0;
    if (!isUnderWay || loopSince === null) return [];
    const stage = stageOf(run.settings, task, current);
    return {
      task: task.id,
      stage: open?.stage ?? stage.name,
      iteration: iterations,
      maxIterations: open?.maxIterations ?? maxIterationsOf(task, run.settings, stage),
      startedAt: loopSince,
      promise: promiseFor(task, run.settings, stage),
    };
  });
}

/** As `ralph ralph-status --json` prints it. */
export function loopEntry(loop: Loop): Record<string, unknown> {
  return {
    task_id: loop.task,
    stage: loop.stage,
    iteration: loop.iteration,
    max_iterations: loop.maxIterations,
    started_at: isoTime(loop.startedAt),
    completion_promise: loop.promise,
  };
}
