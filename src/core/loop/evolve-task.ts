import { withTaskWithoutProgress } from "./brakes.ts";
import { NEW_PROFILE, withFinding, withIntervention } from "./intervention.ts";
import { BUILD, sentBack } from "./stages.ts";
import { isAcceptance, isMergeHeld } from "./task-status.ts";
import { showsMarks, type Task, type TaskId } from "../plan.ts";
import { withEdits } from "../review/story-review.ts";
import {
  newTask,
  taskState,
  withRun,
  withTask,
  onTask,
  type Facts,
  type Folds,
  type State,
  type TaskState,
} from "../state.ts";
import { gatesKnown, gatesKnownAt } from "./evolve-iteration.ts";

/** Every stage is a loop of its own, with a session of its own: its counts begin anew. */
export const NEW_LOOP = {
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

/** What becomes of a task between its iterations, and what people and we say about it. */
export const taskFolds = {
  "stage.passed": onTask((task, { next }) => ({
    ...NEW_LOOP,
    stage: next,
    sentBack: task.sentBack && { ...task.sentBack, isOpen: false },
  })),
  "stage.objected": onTask((task, { iteration, stage, to, findings }) => ({
    ...NEW_LOOP,
    stage: to,
    rounds: task.rounds + 1,
    sentBack: sentBack(stage, iteration, findings),
  })),
  "question.asked": onTask((_task, { question, options, iteration, at, deadlineAt, ...event }) => ({
    question: {
      text: question,
      options,
      iteration,
      askedAt: at,
      default: event.default,
      deadlineAt,
      answer: null,
      usedIn: null,
      acceptance: event.acceptance ?? null,
    },
  })),
  "question.answered": onTask(({ question, isAgreed }, { answer, by }) => ({
    question: question && { ...question, answer },
    tookDefault: by === "deadline",
    rounds: 0,
    // Only of a question whose answer does nothing else.
    isAgreed: isAgreed || (question?.acceptance?.is === "agreement" && isAcceptance(answer)),
  })),
  "task.blocked": (state, event) => {
    const { task: id, run, iteration, reason, isStuck = false } = event;
    const { attempts, timedOut, stuckCount } = taskState(state, id);
    const breaker = stuckCount > 0 ? withTaskWithoutProgress(state.breaker) : state.breaker;
    const maxAttempts = state.run?.settings.limits.maxAttempts ?? 0;
    const isByAttempts = maxAttempts > 0 && attempts >= maxAttempts;
    // Each of these attempts was a timeout.
    const isByTimeouts = isByAttempts && timedOut?.iteration === iteration && timedOut.count >= attempts;
    const timeoutBlock = isByTimeouts ? { run, timeoutMs: timedOut.timeoutMs } : null;
    return withTask({ ...state, breaker }, id, { blockedReason: reason, isStuck, timeoutBlock });
  },
  "task.unblocked": onTask((task, { timeoutMs, by }) => ({
    ...(isMergeHeld(task) && { merge: { is: "due" } as const }),
    blockedReason: null,
    isStuck: false,
    timeoutBlock: null,
    unblockedMs: timeoutMs ?? task.unblockedMs,
    unblockedByPerson: timeoutMs === null ? task.unblockedByPerson : by === "person",
    tookDefault: false,
    autoUnblocks: task.autoUnblocks + (by === "ralph" ? 1 : 0),
    attempts: 0,
    timedOut: null,
    stuckCount: 0,
    exhaustedRuns: 0,
    failures: 0,
    exhaustedIn: null,
    iterations: 0,
    failedIn: null,
    suspended: [],
    standIn: null,
    watched: [],
    drops: 0,
  })),
  "task.exhausted": onTask((task, event) => ({
    ...loopGivenUp(task, event, event.iterations),
    exhaustedRuns: task.exhaustedRuns + 1,
    exhaustedIn: event.run,
  })),
  "task.failed": onTask((task, event) => ({
    ...loopGivenUp(task, event, task.iterations),
    failedIn: event.run,
  })),
  "task.skipped": onTask(() => ({ isSkipped: true })),
  "task.unskipped": onTask(() => ({ isSkipped: false })),
  "task.cancelled": onTask((_task, { run }) => ({ cancelledIn: run, iterations: 0 })),
  /** Unaccepted work is where it is, whatever is forgotten of its task. */
  "task.reset": (state, { task }) => {
    const { inboxFile, work, workBase } = taskState(state, task);
    const known = { ...newTask(task), inboxFile, ...(work !== null && { work, workBase }) };
    // Another list may use the task's id; what was said of this one is not meant for it.
    return withTask({ ...state, steers: state.steers.filter((steer) => steer.task !== task) }, task, known);
  },
  "task.completed": (state, { task, iteration, commit, position }) => {
    const { worktree } = taskState(state, task);
    const completed = withTask(state, task, {
      completion: { iteration, commit, position, source: state.plan?.source ?? null },
      undoneBy: null,
      work: null,
      marked: false,
      // Where branches are not the result, the work has to come to the base.
      merge: worktree === null || worktree.merge === "none" ? null : { is: "due" },
      sentBack: null,
      question: null,
      challenged: [],
      isAgreed: false,
    });
    const { tally } = state;
    return { ...completed, tally: { ...tally, tasksCompleted: tally.tasksCompleted + 1 } };
  },
  "task.marked": (state, event) => {
    const isDone = taskState(state, event.task).completion !== null;
    const marked = withTask(withMarkBelow(state, event), event.task, { marked: isDone, storyEdits: null });
    const isShown = isDone && state.plan !== null && showsMarks(state.plan.source);
    const planned = isShown ? withPlanned(marked, event.task, () => ({ done: true })) : marked;
    // Our mark changes nothing that a gate could mind.
    const known = gatesKnownAt(planned, event.parent);
    return known === null || event.commit === null ? planned : gatesKnown(planned, event.commit, known);
  },
  /** It is to do again, as if nobody had begun it. */
  "task.undone": (state, { task, to }) => {
    const { inboxFile } = taskState(state, task);
    const fresh = withTask(state, task, { ...newTask(task), inboxFile, undoneBy: to });
    return withPlanned(fresh, task, () => ({ done: false }));
  },
  /** A story that has come further is in the plan at once; its file follows with the next mark. */
  "story.settled": (state, { task, iteration, edits, from, to }) => {
    const before = taskState(state, task).sentBack;
    const own = edits.filter(({ story }) => story === task);
    const said = own.find(({ field }) => field === "reviewFeedback")?.value;
    const now =
      to === "changes_requested"
        ? sentBack("review", iteration, typeof said === "string" ? said : "")
        : before && { ...before, isOpen: false };
    const moved = from === to ? {} : { ...NEW_LOOP, sentBack: now };
    const settled = withTask(state, task, { ...moved, storyEdits: { iteration, edits } });
    return withPlanned(settled, task, (planned) => {
      const review = planned.review && withEdits(planned.review, own);
      return review === undefined ? {} : { review, done: review.passes };
    });
  },
  "letter.published": onTask((_task, { kind, file, sha256 }) => ({ inboxFile: { kind, file, sha256 } })),
  "letter.disturbed": onTask(({ inboxFile }, { sha256 }) => ({
    inboxFile: sha256 === null ? null : inboxFile && { ...inboxFile, sha256 },
  })),
  "letter.withdrawn": onTask(() => ({ inboxFile: null })),
  "intervention.chosen": (state, event) => {
    const { agent, intervention, severity, isFedBack, leads, feedback } = event;
    const task = taskState(state, event.task);
    const isSaid = task.feedback.some(({ text }) => text === feedback.text);
    const profile = state.profiles[agent] ?? NEW_PROFILE;
    const { tally } = state;
    return {
      ...withTask(state, event.task, {
        feedback: isFedBack && !isSaid ? [...task.feedback, feedback] : task.feedback,
        feedbackLeads: task.feedbackLeads || (isFedBack && leads),
        watched: withIntervention(task.watched, event.iteration, intervention),
      }),
      profiles: {
        ...state.profiles,
        [agent]: {
          ...profile,
          noFiles: profile.noFiles + (intervention === "no_files_detected" ? 1 : 0),
          falseCompletions: profile.falseCompletions + (intervention === "false_completion_detected" ? 1 : 0),
          lastReinforcement: isFedBack ? event.at : profile.lastReinforcement,
          isOverThreshold: profile.isOverThreshold || leads,
        },
      },
      tally: {
        ...tally,
        interventions: tally.interventions + 1,
        byType: { ...tally.byType, [intervention]: (tally.byType[intervention] ?? 0) + 1 },
        bySeverity: { ...tally.bySeverity, [severity]: tally.bySeverity[severity] + 1 },
      },
      findings: withFinding(state.findings, event.rule, event.task),
    };
  },
  /** The agent that takes over begins with fresh counts; so does the run. */
  "agent.suspended": (state, { task, agent, successor }) => {
    const next = withTask(state, task, {
      suspended: [...taskState(state, task).suspended, agent],
      standIn: successor,
      watched: [],
      ...(successor !== null && { attempts: 0, failures: 0, stuckCount: 0 }),
    });
    if (successor === null) return next;
    const breaker = { ...next.breaker, noProgress: 0, triedWithoutProgress: 0 };
    return { ...withRun(next, { stuckCount: 0 }), breaker };
  },
} satisfies Partial<Folds>;

/** The rest is in the log and in the transcript. */
const OUTPUT_LENGTH_MAX = 500;

/** A loop came to its end without success; in a later run the task begins another one. */
function loopGivenUp(
  task: TaskState,
  {
    stage = task.stage ?? BUILD.name,
    reason = "its iterations are used up",
    lastOutput = "",
  }: Facts["task.exhausted" | "task.failed"],
  iterations: number,
): Partial<TaskState> {
  const end = lastOutput.slice(-OUTPUT_LENGTH_MAX).toWellFormed();
  return { iterations: 0, failure: { stage, iterations, lastOutput: end, reason } };
}

/** Our own commit is no work of somebody else's: the row of iterations of the last task that was worked on there goes on. */
function withMarkBelow(state: State, { task, commit, parent }: Facts["task.marked"]): State {
  if (commit === null) return state;
  return Object.values(state.tasks).reduce((known, { id, workBase, work }) => {
    const isNext = workBase !== null && workBase.head === parent && (id === task || work?.is === "in-place");
    return isNext ? withTask(known, id, { workBase: { ...workBase, head: commit } }) : known;
  }, state);
}

function withPlanned(state: State, id: TaskId, change: (task: Task) => Partial<Task>): State {
  const { plan } = state;
  if (plan === null) return state;
  const tasks = plan.tasks.map((task) => (task.id === id ? { ...task, ...change(task) } : task));
  return { ...state, plan: { ...plan, tasks } };
}
