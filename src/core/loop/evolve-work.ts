import { asArgument, DETACHED, few } from "../text.ts";
import type { EventOf } from "../events.ts";
import type { FeedbackItem } from "./intervention.ts";
import { redGates, redSentence } from "../verdict/checked-gate.ts";
import { NO_CHANGES } from "../verdict/evidence.ts";
import {
  leftoversOf,
  onTask,
  taskState,
  withLeftovers,
  withSpend,
  withTask,
  type AsideWork,
  type Folds,
  type OpenIteration,
  type State,
  type TaskState,
} from "../state.ts";
import { withCost } from "./brakes.ts";
import { gatesKnown } from "./evolve-iteration.ts";
import { NEW_LOOP } from "./evolve-task.ts";
import { steersWaiting } from "./steer.ts";

/** Where the work of a task is: in its own checkout, on its way to the base, aside, or with another worker. */
export const workFolds = {
  "worktree.opened": onTask((_task, { root, branch, base, merge, copied }) => ({
    worktree: { root, branch, base, merge, copied },
  })),
  "worktree.failed": onTask((_task, { why }) => ({
    blockedReason: `its worktree could not be set up: ${why}`,
  })),
  "worktree.removed": onTask(() => ({ worktree: null })),
  "merge.prepared": onTask((_task, { from, to, gates = [], isMarked = true }) => ({
    merge: { is: "prepared", from, to, gates, isMarked },
  })),
  "merge.overtaken": onTask(() => ({ merge: { is: "due" } })),
  "merge.held": onTask(({ merge }, { why }) =>
    // A late word holds up nothing that is proposed or merged.
    merge?.is === "proposed" || merge?.is === "merged" ? {} : { merge: { is: "held", why } },
  ),
  "merge.failed": onTask((task, event) => ({
    ...NEW_LOOP,
    // The last stage on a task's way may only read.
    stage: null,
    completion: null,
    merge: null,
    mergeFailures: task.mergeFailures + 1,
    feedback: [...task.feedback, ...feedbackOf(event)],
    feedbackLeads: true,
  })),
  "task.proposed": onTask((_task, { url }) => ({ merge: { is: "proposed", url } })),
  /** What was tried out before it moved the base is known of the base now. */
  "task.merged": (state, { task, to }) => {
    const { merge } = taskState(state, task);
    const merged = withTask(state, task, { merge: { is: "merged", to } });
    const isTried = merge?.is === "prepared" && merge.to === to && merge.gates.length > 0;
    return isTried ? gatesKnown(merged, to, merge.gates) : merged;
  },
  /** Nobody knows who it was: all that were at work then are told where theirs is. */
  "checkout.changed": (state, { task, beside, paths, iteration }) => {
    const what = paths.length === 0 ? "what is checked out" : few(paths, PATHS_TOLD);
    return [task, ...beside].reduce((warned, id) => {
      const { worktree, feedback } = taskState(state, id);
      const where = worktree === null ? "the folder that you are started in" : worktree.root;
      const text = `While you worked, somebody changed the operator's own checkout: ${what}. If it was you: work only in ${where}, and leave everything outside of it as it is.`;
      const { number = iteration } = state.iterations.find((open) => open.task === id) ?? {};
      return withTask(warned, id, { feedback: [...feedback, { iteration: number, text }] });
    }, state);
  },
  "work.leaving": (state, { task, aside, branch, base, head, left }) => {
    const { byAgents, ...gates } = leftoversOf(state, task);
    const leaving = withTask(state, task, { work: { is: "leaving", aside, branch, base, head } });
    const staying = byAgents.filter(({ path }) => left.includes(path));
    return withLeftovers(leaving, task, { ...gates, byAgents: staying });
  },
  "work.left": (state, { task }) => {
    const { work } = taskState(state, task);
    if (work?.is !== "leaving" && work?.is !== "returning") return state;
    const { aside, branch, base, head } = work;
    const left = withTask(state, task, { work: { is: "aside", aside, branch, base, head } });
    return work.is === "leaving" ? movedBack(left, base) : left;
  },
  "work.stayed": onTask((_task, { why }) => ({ work: why === null ? null : { is: "staying", why } })),
  "work.returning": onTask(({ work }, { branch, from, to }) =>
    work?.is === "aside" ? { work: { ...work, is: "returning", branch, from, to } } : {},
  ),
  "work.returned": (state, { task: id }) => {
    const task = taskState(state, id);
    const { work, question } = task;
    if (work?.is !== "returning") return state;
    const { branch, from, to } = work;
    const { changed = NO_CHANGES } = task.workBase ?? {};
    const leftovers = leftoversOf(state, id).byAgents;
    const isInPlace = task.worktree === null;
    const acceptance = question?.acceptance?.is === "completion" ? question.acceptance : null;
    const certificate = acceptance && { ...acceptance.certificate, base: from };
    const returned = withTask(state, id, {
      work: isInPlace ? { is: "in-place", branch: branch === DETACHED ? null : branch } : null,
      workBase: { first: from, base: from, head: to, earlier: NO_CHANGES, changed, leftovers },
      // What a person accepts is what is there by then.
      ...(question !== null &&
        certificate !== null && {
          question: { ...question, acceptance: { is: "completion", commit: to, certificate } },
        }),
    });
    return isInPlace ? movedBack(returned, to) : returned;
  },
  "work.refused": (state, { task: id, why }) => {
    const { work, feedback, question } = taskState(state, id);
    if (work?.is !== "aside" && work?.is !== "returning") return state;
    const text = notReturnedInWords(work, why);
    return withTask(state, id, {
      feedback: [{ iteration: state.lastIteration, text }, ...feedback],
      feedbackLeads: true,
      work: { ...work, is: "refused" },
      workBase: null,
      question: question?.acceptance == null ? question : null,
    });
  },
  "work.discarded": onTask(({ question }) => ({
    ...NEW_LOOP,
    question: question?.acceptance == null ? question : null,
    stage: null,
    work: null,
    worktree: null,
    workBase: null,
    feedback: [],
  })),
  /** The worker that had it before works on it no longer, whether it knows that or not. */
  "task.taken": (state, { task, worker, lease, from }) => {
    const taken = {
      ...withTask(state, task, { holder: { worker, lease } }),
      iterations: state.iterations.map((open) => (open.task === task ? handedOver(open) : open)),
    };
    const wasAtWork = state.iterations.some((open) => open.task === task);
    return from === null || !wasAtWork ? taken : abandoned(taken, task, `${from} vanished`);
  },
  "task.dropped": (state, { task, worker, why }) => {
    const given = abandoned(withTask(state, task, { holder: null }), task, `${worker}: ${why}`);
    const isBlocked = taskState(given, task).blockedReason !== null;
    // Nobody can bring what is open to its end either; a worker that takes over from one that vanished can.
    return isBlocked ? givenUp(given, task) : given;
  },
} satisfies Partial<Folds>;

/** So many workers in a row may vanish or fail over a task before a person has to look. */
const ABANDONMENTS_MAX = 3;

/** What nobody can go on with is not passed round for ever. */
function abandoned(state: State, id: string, why: string): State {
  const drops = taskState(state, id).drops + 1;
  if (drops < ABANDONMENTS_MAX) return withTask(state, id, { drops });
  const blockedReason = `${drops} workers in a row could not go on with it; the last one: ${why}`;
  return withTask(state, id, { drops, blockedReason });
}

/** Its iteration has no end; what its agent was told is told again, and what it has cost counts. */
function givenUp(state: State, id: string): State {
  const open = state.iterations.filter(({ task }) => task === id);
  const left = { ...state, iterations: state.iterations.filter((one) => !open.includes(one)) };
  // An agent whose end nobody saw has cost something, too.
  const isUnseen = open.some(({ phase }) => phase.is === "running");
  const paid = isUnseen ? withSpend(left, id, (spend) => withCost(spend, null)) : left;
  return open.reduce((rest, { number }) => steersWaiting(rest, number), paid);
}

/**
 * An agent that nobody watches any more is lost with its worker, and so is what it claimed of work that was not yet
 * brought to the others: the next worker may not have it, be it the same one on the same machine.
 */
function handedOver(open: OpenIteration): OpenIteration {
  if (open.phase.is === "running") return { ...open, orphaned: true };
  if (open.phase.is !== "ended") return open;
  const report = { ...open.phase.report, ending: { is: "interrupted" }, claim: { is: "none" } } as const;
  return { ...open, phase: { is: "ended", report: { ...report, failure: null } } };
}

/** Whether what a worker holds is what the log says that it holds. */
export function isHeldBy({ holder }: TaskState, lease: number | null): boolean {
  return holder !== null && holder.lease === lease;
}

/** Whether others went on with a task since this worker left it: what it has on its disk is of the past then. */
export function wasElsewhere(state: State, task: string, worker: string): boolean {
  const isOpenHere = state.iterations.some((open) => open.task === task && open.worker === worker);
  return !isOpenHere && taskState(state, task).holder?.worker !== worker;
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

function feedbackOf({ iteration, base, conflicts, gates }: EventOf<"merge.failed">): readonly FeedbackItem[] {
  const mend = `Others have changed ${base} since you began. Bring it into your branch (\`git merge ${asArgument(base)}\`), keep what both sides meant, commit, and claim again.`;
  const said = "Your work was accepted, but";
  const where = `conflicts in ${few(conflicts, PATHS_TOLD)}`;
  if (conflicts.length > 0)
    return [{ iteration, text: `${said} it does not merge into ${base}: ${where}. ${mend}` }];
  return redGates(gates).map((gate) => ({
    iteration,
    text: `${said} merged into ${base} the ${redSentence(gate)}. ${mend} The end of its output:`,
    output: gate.tail,
  }));
}

const PATHS_TOLD = 20;
