import type { Task, TaskId } from "../../../core/plan/task.ts";
import { few } from "../../../core/few.ts";
import type { ImportedTasks } from "./import-checklist.ts";

/** The tasks of another list as stories, under the same ids; what a story cannot say is named. */
export function importedStories(
  project: string,
  tasks: readonly Task[],
  checks: readonly string[],
): ImportedTasks {
  const ids = new Set(tasks.map(({ id }) => id));
  const userStories = tasks.map((task) => ({
    id: task.id,
    title: task.title,
    description: task.description,
    acceptanceCriteria: [...task.criteria, ...(task.success === null ? [] : [task.success])],
    priority: task.priority,
    dependsOn: task.dependsOn.filter((id) => ids.has(id)),
    ...(task.labels && { labels: task.labels }),
    passes: task.done,
  }));
  const plan = { project, branchName: null, description: "", verifyCommands: checks, userStories };
  return {
    json: `${JSON.stringify(plan, null, 2)}\n`,
    count: tasks.length,
    losses: LOSSES.flatMap(([what, isLost]) => {
      const losing = tasks.filter((task) => isLost(task, ids)).map(({ id }) => id);
      return losing.length === 0 ? [] : [`${what} of ${few(losing)}`];
    }),
  };
}

const LOSSES: readonly (readonly [
  what: string,
  isLost: (task: Task, listed: ReadonlySet<TaskId>) => boolean,
])[] = [
  [
    "what is waited for outside of the list",
    ({ dependsOn }, listed) => !dependsOn.every((id) => listed.has(id)),
  ],
  ["the agent", ({ agent }) => agent !== null],
  ["the timeout", ({ timeoutMs }) => timeoutMs !== null],
  ["the iteration limit", ({ maxIterations }) => maxIterations !== null],
  ["the completion promise", ({ promise }) => promise !== null],
  ["the single attempt", ({ loops }) => !loops],
  [`the heading "Optional"`, ({ optional }) => optional],
];
