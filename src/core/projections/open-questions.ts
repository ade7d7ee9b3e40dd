import { statusOf } from "../loop/task-status.ts";
import type { Question, State } from "../loop/state.ts";
import type { TaskId } from "../plan/task.ts";

export interface OpenQuestion extends Question {
  readonly task: TaskId;
}

/** Questions that nobody has answered, the oldest first; those of tasks that are done ask nobody any more. */
export function openQuestions(state: State): readonly OpenQuestion[] {
  const done = new Set(
    (state.plan?.tasks ?? []).filter((task) => statusOf(state, task) === "done").map(({ id }) => id),
  );
  return Object.values(state.tasks)
    .flatMap(({ id, question }) =>
      question === null || question.answer !== null || done.has(id) ? [] : [{ task: id, ...question }],
    )
    .toSorted((a, b) => a.askedAt - b.askedAt);
}
