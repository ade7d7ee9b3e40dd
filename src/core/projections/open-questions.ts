import { formatDuration } from "../duration.ts";
import { statusOf } from "../loop/task-status.ts";
import type { Question, State } from "../loop/state.ts";
import type { TaskId } from "../plan/task.ts";
import type { Instant } from "../time.ts";

export interface OpenQuestion extends Question {
  readonly task: TaskId;
}

/** "options: one, all   default: one in 30m", as far as there is something to say. */
export function choiceInWords(
  { options, default: answer, deadlineAt }: Pick<Question, "options" | "default" | "deadlineAt">,
  now: Instant,
): string {
  const until = deadlineAt === null ? null : formatDuration(Math.max(0, deadlineAt - now));
  const parts = [
    ...(options.length === 0 ? [] : [`options: ${options.join(", ")}`]),
    ...(answer === null ? [] : [`default: ${answer}${until === null ? "" : ` in ${until}`}`]),
    ...(answer === null && until !== null ? [`wanted in ${until}`] : []),
  ];
  return parts.join("   ");
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
