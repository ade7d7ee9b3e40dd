import type { EventOf, Recorded } from "../events.ts";
import { showsMarks, type Task } from "../plan/task.ts";
import { withEdits } from "../review/story-review.ts";
import { gatesKnownAfterMark } from "./evolve-gates.ts";
import { NEW_LOOP } from "./evolve-stages.ts";
import { newTask, taskState, withTask, type State, type TaskState } from "./state.ts";

/** What the operator's file shows, or is to show. */
export function marksChanged(
  state: State,
  event: Recorded<EventOf<"task.marked" | "task.undone" | "story.settled">>,
): State {
  switch (event.type) {
    case "task.marked":
      return taskMarked(state, event);
    case "task.undone":
      return taskUndone(state, event);
    case "story.settled":
      return storySettled(state, event);
  }
}

/** A story that has come further is in the plan at once; its file follows with the next mark. */
function storySettled(state: State, event: Recorded<EventOf<"story.settled">>): State {
  const hasMoved = event.from !== event.to;
  return withPlanned(
    withTask(state, event.task, { ...(hasMoved && NEW_LOOP), storyEdits: editsOf(event) }),
    event.task,
    (planned) => {
      if (planned.review === undefined) return planned;
      const own = event.edits.filter(({ story }) => story === event.task);
      const review = withEdits(planned.review, own);
      return { ...planned, review, done: review.passes };
    },
  );
}

function editsOf({ iteration, edits, putBack, restores }: EventOf<"story.settled">): TaskState["storyEdits"] {
  return { iteration, edits, putBack, restores };
}

function taskMarked(state: State, event: Recorded<EventOf<"task.marked">>): State {
  const task = taskState(state, event.task);
  const isDone = task.completion !== null;
  // Our own commit is no work of somebody else's: the task's row of iterations goes on.
  const isNext = event.commit !== null && task.footing !== null && task.footing.head === event.parent;
  const footing = isNext && task.footing ? { ...task.footing, head: event.commit } : task.footing;
  const marked = withTask(state, event.task, { footing, marked: isDone, storyEdits: null });
  const isShown = state.plan !== null && showsMarks(state.plan.source);
  const planned =
    isDone && isShown ? withPlanned(marked, event.task, (known) => ({ ...known, done: true })) : marked;
  return gatesKnownAfterMark(planned, event);
}

/** It is to do again, as if nobody had begun it. */
function taskUndone(state: State, event: Recorded<EventOf<"task.undone">>): State {
  const { letter } = taskState(state, event.task);
  const fresh = withTask(state, event.task, { ...newTask(event.task), letter });
  return withPlanned(fresh, event.task, (planned) => ({ ...planned, done: false }));
}

function withPlanned(state: State, id: string, change: (task: Task) => Task): State {
  const { plan } = state;
  if (plan === null) return state;
  return {
    ...state,
    plan: { ...plan, tasks: plan.tasks.map((task) => (task.id === id ? change(task) : task)) },
  };
}
