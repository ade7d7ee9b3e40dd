import { planProblem, type PlacedTask } from "../../core/plan/check-plan.ts";
import type { Task } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";

/** The tasks, if they can be worked on together. */
export function checkedTasks(placed: readonly PlacedTask[], path: string): readonly Task[] {
  const problem = planProblem(placed);
  if (problem !== null) throw new RalphError("bad-tasks", `${path}: ${problem}`);
  return placed.map(({ task }) => task);
}
