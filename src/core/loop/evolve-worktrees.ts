import { asArgument, DETACHED, few } from "../text.ts";
import type { EventOf, Recorded, WorkEvent, WorktreeEvent } from "../events.ts";
import type { FeedbackItem } from "../interventions/intervention.ts";
import { redGates, isFailing, type GateOutcome, redSentence } from "../report/checked-gate.ts";
import { unreachable } from "../unreachable.ts";
import {
  taskState,
  withTask,
  type State,
  type TaskState,
  newTask,
  leftoversOf,
  withLeftovers,
  type AsideWork,
  type Work,
} from "./state.ts";
import { sentBack } from "../stages/stages.ts";
import { showsMarks, type Task } from "../plan/task.ts";
import { withEdits } from "../review/story-review.ts";
import { NO_CHANGES, type Leftovers } from "../report/evidence.ts";

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
      // A late word holds up nothing that is proposed or merged.
      return isOver(task) ? {} : { merge: { is: "held", why: event.why } };
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

function isOver({ merge }: TaskState): boolean {
  return merge?.is === "proposed" || merge?.is === "merged";
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

/** Where the unaccepted work of a task is, which has no checkout of its own. */
export function workMoved(
  state: State,
  event: Recorded<EventOf<WorkEvent["type"] | "work.discarded">>,
): State {
  const task = taskState(state, event.task);
  const { work } = task;
  switch (event.type) {
    case "work.leaving": {
      const { aside, branch, base, head } = event;
      const { byAgents, ...gates } = leftoversOf(state, task.id);
      const left = byAgents.filter(({ path }) => event.left.includes(path));
      const leaving = withTask(state, task.id, { work: { is: "leaving", aside, branch, base, head } });
      return withLeftovers(leaving, task.id, { ...gates, byAgents: left });
    }
    case "work.left": {
      if (work?.is !== "leaving" && work?.is !== "returning") return state;
      const { aside, branch, base, head } = work;
      const left = withTask(state, task.id, { work: { is: "aside", aside, branch, base, head } });
      return work.is === "leaving" ? movedBack(left, base) : left;
    }
    case "work.stayed":
      return withTask(state, task.id, {
        work: event.why === null ? null : { is: "staying", why: event.why },
      });
    case "work.returning": {
      if (work?.is !== "aside") return state;
      const { branch, from, to } = event;
      return withTask(state, task.id, { work: { ...work, is: "returning", branch, from, to } });
    }
    case "work.returned":
      return work?.is === "returning" ? workReturned(state, task, work) : state;
    case "work.refused":
      if (work?.is !== "aside" && work?.is !== "returning") return state;
      return withTask(state, task.id, {
        feedback: [
          { iteration: state.lastIteration, text: notReturnedInWords(work, event.why) },
          ...task.feedback,
        ],
        feedbackLeads: true,
        work: { ...work, is: "refused" },
        footing: null,
        question: task.question?.acceptance == null ? task.question : null,
      });
    case "work.discarded":
      return withTask(state, task.id, {
        ...NEW_LOOP,
        question: task.question?.acceptance == null ? task.question : null,
        stage: null,
        work: null,
        worktree: null,
        footing: null,
        feedback: [],
      });
    default:
      return unreachable(event);
  }
}

function workReturned(
  state: State,
  task: TaskState,
  { branch, from, to }: Extract<Work, { is: "returning" }>,
): State {
  const { changed = NO_CHANGES } = task.footing ?? {};
  const leftovers = leftoversOf(state, task.id).byAgents;
  const { acceptance = null } = task.question ?? {};
  const returned = withTask(state, task.id, {
    work: task.worktree === null ? { is: "in-place", branch: branch === DETACHED ? null : branch } : null,
    footing: { first: from, base: from, head: to, earlier: NO_CHANGES, changed, leftovers },
    // What a person accepts is what is there by then.
    ...(task.question !== null &&
      acceptance?.is === "completion" && {
        question: {
          ...task.question,
          acceptance: {
            ...acceptance,
            commit: to,
            certificate: { ...acceptance.certificate, base: from },
          },
        },
      }),
  });
  return task.worktree === null ? movedBack(returned, to) : returned;
}

/** It was us who moved the branch: nobody has committed. */
function movedBack(state: State, head: string | null): State {
  return state.openedOn === null ? state : { ...state, openedOn: { ...state.openedOn, head } };
}

/** Why work cannot come back, if it is nowhere any more. */
export const COMMITS_GONE = "git no longer has its commits";

function notReturnedInWords({ aside, base, head }: AsideWork, why: string): string {
  if (why === COMMITS_GONE) return `Your earlier work on this task is lost: ${why}. Begin anew.`;
  const range = base === null ? head : `${base} ${head}`;
  return `Your earlier work on this task is on the branch ${aside}, and not in the work tree: ${why}. See it with \`git diff ${range}\`, and take over what is still right.`;
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
  const mend = `Others have changed ${base} since you began. Bring it into your branch (\`git merge ${asArgument(base)}\`), keep what both sides meant, commit, and claim again.`;
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
  const { iteration, edits } = event;
  const hasMoved = event.from !== event.to;
  const before = taskState(state, event.task).sentBack;
  const said = event.edits.find(({ story, field }) => story === event.task && field === "reviewFeedback");
  const now =
    event.to === "changes_requested"
      ? sentBack("review", event.iteration, typeof said?.value === "string" ? said.value : "")
      : before && { ...before, isOpen: false };
  return withPlanned(
    withTask(state, event.task, {
      ...(hasMoved && { ...NEW_LOOP, sentBack: now }),
      storyEdits: { iteration, edits },
    }),
    event.task,
    (planned) => {
      if (planned.review === undefined) return planned;
      const own = edits.filter(({ story }) => story === event.task);
      const review = withEdits(planned.review, own);
      return { ...planned, review, done: review.passes };
    },
  );
}

function taskMarked(state: State, event: Recorded<EventOf<"task.marked">>): State {
  const isDone = taskState(state, event.task).completion !== null;
  const marked = withTask(withMarkBelow(state, event), event.task, { marked: isDone, storyEdits: null });
  const isShown = state.plan !== null && showsMarks(state.plan.source);
  const planned =
    isDone && isShown ? withPlanned(marked, event.task, (known) => ({ ...known, done: true })) : marked;
  return gatesKnownAfterMark(planned, event);
}

/** Our own commit is no work of somebody else's: the row of iterations of whoever worked there last goes on. */
function withMarkBelow(state: State, { task, commit, parent }: EventOf<"task.marked">): State {
  if (commit === null) return state;
  return Object.values(state.tasks).reduce((known, { id, footing, work }) => {
    const isNext = footing !== null && footing.head === parent && (id === task || work?.is === "in-place");
    return isNext ? withTask(known, id, { footing: { ...footing, head: commit } }) : known;
  }, state);
}

/** It is to do again, as if nobody had begun it. */
function taskUndone(state: State, event: Recorded<EventOf<"task.undone">>): State {
  const { letter } = taskState(state, event.task);
  const fresh = withTask(state, event.task, { ...newTask(event.task), letter, undoneBy: event.to });
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

/** Every stage is a loop of its own, with a session of its own: its counts begin anew. */
const NEW_LOOP = {
  iterations: 0,
  attempts: 0,
  failures: 0,
  stuckCount: 0,
  session: null,
  left: null,
  question: null,
  challenged: [],
  isAgreed: false,
} satisfies Partial<TaskState>;

export function stageChanged(
  task: TaskState,
  event: EventOf<"stage.passed"> | EventOf<"stage.objected">,
): Partial<TaskState> {
  if (event.type === "stage.passed")
    return { ...NEW_LOOP, stage: event.next, sentBack: task.sentBack && { ...task.sentBack, isOpen: false } };
  const { iteration, stage, findings } = event;
  return {
    ...NEW_LOOP,
    stage: event.to,
    rounds: task.rounds + 1,
    sentBack: sentBack(stage, iteration, findings),
  };
}

export function baselineMeasured(state: State, event: Recorded<EventOf<"baseline.measured">>): State {
  const task = taskState(state, event.task);
  const measured = { ...task, baseline: event.gates, failingGates: failingIn(event.gates) };
  const known = { ...state, tasks: { ...state.tasks, [event.task]: measured } };
  return withLeftovers(
    gatesKnown(known, event.head, event.gates),
    event.task,
    withGateLeftovers(leftoversOf(state, event.task), event.leftovers),
  );
}

/** Our mark changes nothing that a gate could mind. */
function gatesKnownAfterMark(state: State, event: Recorded<EventOf<"task.marked">>): State {
  const known = gatesKnownAt(state, event.parent);
  return known === null || event.commit === null ? state : gatesKnown(state, event.commit, known);
}

/** Side by side many commits are worked from, and in place work leaves the branch and comes back. */
const COMMITS_KNOWN = 20;

/** The gates as they are at a commit; null: nobody can tell any longer. */
export function gatesKnown(state: State, head: string | null, gates: readonly GateOutcome[] | null): State {
  const now = gates === null ? [] : [{ head, gates, settings: gatesKey(state) }];
  const others = state.knownGates.filter((known) => known.head !== head);
  return { ...state, knownGates: [...now, ...others].slice(0, COMMITS_KNOWN) };
}

export function failingIn(gates: readonly GateOutcome[]): readonly string[] {
  return gates.filter(({ status }) => isFailing(status)).map(({ name }) => name);
}

export function gatesKey({ run }: State): string {
  return JSON.stringify(run?.settings.gates ?? []);
}

/** What is known of the gates at a commit, or null when they have to be asked. */
export function gatesKnownAt(state: State, head: string | null): readonly GateOutcome[] | null {
  if (head === null) return null;
  const settings = gatesKey(state);
  const found = state.knownGates.find((known) => known.head === head && known.settings === settings);
  return found?.gates ?? null;
}

/** Gates that ran twice since the last look have run from the first to the second. */
export function withGateLeftovers(before: Leftovers, now: Leftovers): Leftovers {
  const { gatesRan: earlier } = before;
  const { gatesRan } = now;
  if (earlier === null || gatesRan === null) return { ...now, gatesRan: gatesRan ?? earlier };
  return { ...now, gatesRan: { after: earlier.after, upTo: gatesRan.upTo } };
}
