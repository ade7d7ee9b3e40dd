import { taskState, type State } from "../loop/state.ts";
import { whyBlocked } from "../loop/task-status.ts";
import { isoTime } from "../time.ts";
import { blockedIds } from "./blocked.ts";
import { openQuestions } from "./open-questions.ts";

/** Something that waits for a person; the names are part of the public contract. */
export interface InboxItem {
  readonly task: string;
  readonly kind: "decide" | "blocked";
  readonly text: string;
  readonly options: readonly string[];
  /** Taken at the deadline. */
  readonly default: string | null;
  readonly deadline: string | null;
}

/** Everything that waits for a person, as `ralph inbox` and `status.json` list it, by task. */
export function inboxOf(state: State): readonly InboxItem[] {
  const blocked = blockedIds(state).map((task): InboxItem => {
    const text = whyBlocked(taskState(state, task)) ?? "";
    return { task, kind: "blocked", text, options: [], default: null, deadline: null };
  });
  const isBlocked = (id: string): boolean => blocked.some(({ task }) => task === id);
  const questions = openQuestions(state)
    .filter(({ task }) => !isBlocked(task))
    .map(({ task, text, options, default: answer, deadlineAt }): InboxItem => {
      const deadline = deadlineAt === null ? null : isoTime(deadlineAt);
      return { task, kind: "decide", text, options, default: answer, deadline };
    });
  const order = Object.keys(state.tasks);
  return [...questions, ...blocked].toSorted((a, b) => order.indexOf(a.task) - order.indexOf(b.task));
}
