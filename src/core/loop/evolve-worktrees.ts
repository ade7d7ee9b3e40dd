import type { EventOf, Recorded } from "../events.ts";
import type { WorktreeEvent } from "../worktree-events.ts";
import { few } from "../few.ts";
import type { FeedbackItem } from "../interventions/intervention.ts";
import { redGates } from "../report/checked-gate.ts";
import { unreachable } from "../unreachable.ts";
import { redSentence } from "../verdict/judge.ts";
import { gatesKnown } from "./evolve-gates.ts";
import { NEW_LOOP } from "./evolve-stages.ts";
import { taskState, withTask, type State, type TaskState } from "./state.ts";

/** What happens to a task's own checkout, and to its work on the way to the base. */
export function besideOthers(task: TaskState, event: Recorded<WorktreeEvent>): Partial<TaskState> {
  switch (event.type) {
    case "worktree.opened": {
      const { root, branch, base, merge, copied } = event;
      return { worktree: { root, branch, base, merge, copied } };
    }
    case "worktree.failed":
      return { blockedReason: `its worktree could not be set up: ${event.why}` };
    case "worktree.removed":
      return { worktree: null };
    case "merge.prepared": {
      const { from, to, gates = [], isMarked = true } = event;
      return { merge: { is: "prepared", from, to, gates, isMarked } };
    }
    case "merge.overtaken":
      return { merge: { is: "due" } };
    case "merge.held":
      return { merge: { is: "held", why: event.why } };
    case "merge.failed":
      return {
        ...NEW_LOOP,
        // Whoever comes last on a task's way may only read.
        stage: null,
        completion: null,
        merge: null,
        mergeFailures: task.mergeFailures + 1,
        feedback: [...task.feedback, ...feedbackOf(event)],
        feedbackLeads: true,
      };
    case "task.proposed":
      return { merge: { is: "proposed", url: event.url } };
    case "task.merged":
      return { merge: { is: "merged", to: event.to } };
    default:
      return unreachable(event);
  }
}

/** What was tried out before it moved the base is known of the base now. */
export function taskMerged(state: State, event: Recorded<EventOf<"task.merged">>): State {
  const task = taskState(state, event.task);
  const merged = withTask(state, event.task, besideOthers(task, event));
  const { merge } = task;
  const isTried = merge?.is === "prepared" && merge.to === event.to && merge.gates.length > 0;
  return isTried ? gatesKnown(merged, event.to, merge.gates) : merged;
}

/** Nobody knows who it was: all that were at work then are told where theirs is. */
export function agentsWarned(state: State, event: Recorded<EventOf<"checkout.changed">>): State {
  const { paths } = event;
  const what = paths.length === 0 ? "what is checked out" : few(paths, PATHS_TOLD);
  return [event.task, ...event.beside].reduce((warned, id) => {
    const { worktree, feedback } = taskState(state, id);
    const where = worktree === null ? "the folder that you are started in" : worktree.root;
    const text = `While you worked, somebody changed the operator's own checkout: ${what}. If it was you: work only in ${where}, and leave everything outside of it as it is.`;
    const open = state.iterations.find(({ task }) => task === id);
    const iteration = open?.number ?? event.iteration;
    return withTask(warned, id, { feedback: [...feedback, { iteration, text }] });
  }, state);
}

/** Whoever starts a run wants it tried again. */
export function mergesTriedAgain(tasks: State["tasks"]): State["tasks"] {
  const isHeld = (task: TaskState): boolean => task.merge?.is === "held";
  if (!Object.values(tasks).some(isHeld)) return tasks;
  return Object.fromEntries(
    Object.entries(tasks).map(([id, task]) => [id, isHeld(task) ? { ...task, merge: { is: "due" } } : task]),
  );
}

function feedbackOf({ iteration, base, conflicts, gates }: EventOf<"merge.failed">): readonly FeedbackItem[] {
  const mend = `Others have changed ${base} since you began. Bring it into your branch (\`git merge ${base}\`), keep what both sides meant, commit, and claim again.`;
  if (conflicts.length > 0) {
    const where = `conflicts in ${few(conflicts, PATHS_TOLD)}`;
    return [
      { iteration, text: `Your work was accepted, but it does not merge into ${base}: ${where}. ${mend}` },
    ];
  }
  return redGates(gates).map((gate) => ({
    iteration,
    text: `Your work was accepted, but merged into ${base} the ${redSentence(gate)}. ${mend} The end of its output:`,
    output: gate.tail,
  }));
}

const PATHS_TOLD = 20;
