import { planMistakes } from "../../core/plan/plan-mistakes.ts";
import type { Task } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { memberOf } from "./read-json.ts";
import { scanTasksJson, type Story, type TasksJson } from "./scan-tasks-json.ts";

export type CheckedPlan =
  | {
      readonly is: "right";
      readonly tasks: readonly Task[];
      readonly checks: readonly string[];
      readonly branch: string | null;
    }
  | { readonly is: "wrong"; readonly mistakes: readonly string[] };

const MISTAKES_MAX = 20;

/** Whether a `tasks.json` that was just made can be worked on, and if not, why; `path` is for messages. */
export function checkPlanFile(file: Buffer, path: string): CheckedPlan {
  let plan: TasksJson;
  try {
    plan = scanTasksJson(file, path);
  } catch (error) {
    if (error instanceof RalphError && error.code === "bad-tasks")
      return { is: "wrong", mistakes: [error.message] };
    throw error;
  }
  const { stories, checks, branch } = plan;
  const mistakes = [...planMistakes(stories), ...stories.flatMap(reviewMistakes)];
  if (mistakes.length > 0)
    return { is: "wrong", mistakes: mistakes.slice(0, MISTAKES_MAX).map((mistake) => `${path}: ${mistake}`) };
  return { is: "right", tasks: stories.map(({ task }) => task), checks, branch };
}

/** A story that nobody has worked on has not been reviewed either. */
function reviewMistakes({ node, task, line }: Story): readonly string[] {
  return [
    ["reviewStatus", null],
    ["reviewCount", 0],
  ].flatMap(([key, untouched]) => {
    const value = memberOf(node, String(key))?.value;
    const isUntouched = value === undefined || (value.is === "scalar" && value.value === untouched);
    return isUntouched ? [] : [`line ${line}: "${task.id}": "${key}" must be ${untouched} in a new plan`];
  });
}
