import { taskState, type State } from "../loop/state.ts";
import type { TaskId } from "../plan/task.ts";
import { feedbackSection } from "../prompt/feedback-section.ts";

/** The text of `feedback.txt`: what the next prompts will say; of several tasks each below its name. */
export function feedbackText(state: State): string {
  const sections = openTasks(state)
    .map((id) => ({ id, section: feedbackSection(taskState(state, id).feedback) }))
    .filter(({ section }) => section !== "");
  const isOne = sections.length === 1;
  return sections.map(({ id, section }) => `${isOne ? "" : `# ${id}\n`}${section}\n`).join("\n");
}

/** In the order of the plan; before a run has seen one, all that are known. */
function openTasks({ plan, tasks }: State): readonly TaskId[] {
  const ids =
    plan === null ? Object.keys(tasks) : plan.tasks.filter((task) => !task.done).map(({ id }) => id);
  return ids.filter((id) => !Object.hasOwn(tasks, id) || (tasks[id]?.completion ?? null) === null);
}
