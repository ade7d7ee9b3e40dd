import { createHash } from "node:crypto";
import { plainTask, type Plan, type SourceIdentity, type Task } from "../../core/plan/task.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { NO_DEMANDS } from "./no-demands.ts";

/** One task from the words that the operator gave. There is no file, so there is nothing to mark. */
export function createGoalSource(goal: string): TaskSource {
  const task = taskOf(goal);
  const identity: SourceIdentity = { kind: "goal", label: task.title, path: null };
  const plan: Plan = { source: identity, tasks: [task] };
  return {
    identity,
    files: [],
    observe: () => Promise.resolve(plan),
    demands: () => Promise.resolve(NO_DEMANDS),
    mark: () => Promise.resolve(),
    markedIn: (file) => file,
    takeBackMarks: () => Promise.resolve([]),
  };
}

const TITLE_LENGTH_MAX = 80;

function taskOf(goal: string): Task {
  const [line = ""] = goal.trim().split(/\r?\n/);
  const characters = Array.from(line);
  const isLong = characters.length > TITLE_LENGTH_MAX;
  return plainTask({
    id: `goal-${createHash("sha256").update(goal).digest("hex").slice(0, 6)}`,
    title: isLong ? `${characters.slice(0, TITLE_LENGTH_MAX - 1).join("")}…` : line,
    description: goal,
  });
}
