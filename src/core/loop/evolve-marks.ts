import type { EventOf, Recorded } from "../events.ts";
import type { Task } from "../plan/task.ts";
import { withEdits } from "../review/story-review.ts";
import { gatesKnownAfterMark } from "./evolve-gates.ts";
import { NEW_LOOP } from "./evolve-stages.ts";
import { taskState, type State, type TaskState } from "./state.ts";

/** A story that has come further is in the plan at once; its file follows with the next mark. */
export function storySettled(state: State, event: Recorded<EventOf<"story.settled">>): State {
  const task = taskState(state, event.task);
  const hasMoved = event.from !== event.to;
  return withPlanned(
    withTask(state, {
      ...task,
      ...(hasMoved && NEW_LOOP),
      storyEdits: { iteration: event.iteration, edits: event.edits },
    }),
    event.task,
    (planned) => {
      if (planned.review === undefined) return planned;
      const review = withEdits(planned.review, event.edits);
      return { ...planned, review, done: review.passes };
    },
  );
}

export function taskMarked(state: State, event: Recorded<EventOf<"task.marked">>): State {
  const task = taskState(state, event.task);
  const isDone = task.completion !== null;
  const marked = withTask(state, { ...task, marked: isDone, storyEdits: null });
  const hasFile = state.plan !== null && state.plan.source.path !== null;
  const planned =
    isDone && hasFile ? withPlanned(marked, event.task, (known) => ({ ...known, done: true })) : marked;
  return gatesKnownAfterMark(planned, event);
}

function withPlanned(state: State, id: string, change: (task: Task) => Task): State {
  const { plan } = state;
  if (plan === null) return state;
  return {
    ...state,
    plan: { ...plan, tasks: plan.tasks.map((task) => (task.id === id ? change(task) : task)) },
  };
}

function withTask(state: State, task: TaskState): State {
  return { ...state, tasks: { ...state.tasks, [task.id]: task } };
}
