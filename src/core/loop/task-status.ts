import {
  taskState,
  type State,
  type TaskState,
  type RunState,
  type OpenIteration,
  type MergeState,
  type OwnWorktree,
} from "../state.ts";
import { asArgument, capital } from "../text.ts";
import type { Task, TaskId, Plan } from "../plan.ts";
import {
  agentNow,
  isAgentLimit,
  isReading,
  limitedUntil,
  PERSON,
  stageAfter,
  stageBefore,
  stageOf,
} from "./stages.ts";
import type { Instant } from "../time.ts";
import { REVIEW_MODES, reviewMode, reviewOf } from "../review/story-review.ts";
import type { Acceptance, Event, EventOf } from "../events.ts";
import type { Certificate } from "../verdict/certificate.ts";
import type { Effect } from "./effects.ts";
import type { Judgement } from "./judge-iteration.ts";

/** `review`: accepted, and a person has to approve it. `skipped`: no run works on it. */
export type TaskStatus =
  "todo" | "doing" | "done" | "blocked" | "undecided" | "review" | "failed" | "cancelled" | "skipped";

/** Accepted work is done when the base has it, or people were asked to bring it there. */
const ACCEPTED = {
  held: "blocked",
  due: "doing",
  prepared: "doing",
  proposed: "done",
  merged: "done",
} as const satisfies Readonly<Record<MergeState["is"], TaskStatus>>;

/** Why only a person can move it; null when that is not so. */
export function whyBlocked({ blockedReason, merge, worktree }: TaskState): string | null {
  if (blockedReason !== null || merge?.is !== "held") return blockedReason;
  return worktree === null ? merge.why : `its work waits on ${worktree.branch}: ${merge.why}`;
}

/** Its accepted work cannot come to the base, for a reason that a person clears away. */
export function isMergeHeld({ blockedReason, merge }: TaskState): boolean {
  return blockedReason === null && merge?.is === "held";
}

/** A person has cancelled it, and this run leaves it alone. */
export function isCancelled(state: State, id: TaskId): boolean {
  const { cancelledIn } = taskState(state, id);
  return cancelledIn !== null && cancelledIn === state.run?.id;
}

/** What a task is, from the operator's mark and our own facts. */
export function statusOf(state: State, task: Task): TaskStatus {
  const known = taskState(state, task.id);
  // Its work is accepted, and not on its way to the base before the next run.
  if (known.merge?.is === "due" && isCancelled(state, task.id)) return "cancelled";
  if ((task.done && !known.isTickedByAgent) || known.completion !== null)
    return known.merge === null ? "done" : ACCEPTED[known.merge.is];
  if (known.isSkipped) return "skipped";
  if (isCancelled(state, task.id)) return "cancelled";
  if (known.blockedReason !== null) return "blocked";
  if (known.failedIn !== null && known.failedIn === state.run?.id) return "failed";
  if (known.question !== null && known.question.answer === null)
    return known.question.acceptance?.isApproval === true ? "review" : "undecided";
  if (isAcceptedByPerson(known)) return "doing";
  return state.iterations.some((open) => open.task === task.id) ? "doing" : "todo";
}

/** The tasks this run is about. */
export function tasksInScope({ settings }: RunState, plan: Plan): readonly Task[] {
  const { onlyTasks: only, includeOptional } = settings;
  if (only !== null) return plan.tasks.filter((task) => only.includes(task.id));
  return includeOptional === true ? plan.tasks : plan.tasks.filter((task) => !task.optional);
}

/** Those of them that the run has to do: what is optional counts where it is chosen by name. */
export function requiredTasks(run: RunState, plan: Plan): readonly Task[] {
  const tasks = tasksInScope(run, plan);
  return run.settings.onlyTasks === null ? tasks.filter((task) => !task.optional) : tasks;
}

/** Tasks that may start now, best first: in review, resumable, then by priority, then in the order of the file. */
export function readyTasks(state: State, run: RunState, plan: Plan, now: Instant): readonly Task[] {
  // What a review asks for comes first, then what waits for one.
  const modeRank = (task: Task): number => {
    const review = reviewOf(run.settings, task);
    return review === null ? 0 : REVIEW_MODES.indexOf(reviewMode([review]));
  };
  const isBegun = ({ id }: Task): number => (taskState(state, id).iterations > 0 ? 0 : 1);
  return startable(state, run, plan)
    .filter((task) => readyAt(state, run, task, now) <= now)
    .toSorted(
      (a, b) =>
        modeRank(a) - modeRank(b) ||
        isBegun(a) - isBegun(b) ||
        (a.priority ?? Infinity) - (b.priority ?? Infinity) ||
        0,
    );
}

/** The earliest moment at which a task that waits becomes ready. */
export function nextRetryAt(state: State, run: RunState, plan: Plan, now: Instant): Instant | null {
  const times = startable(state, run, plan).map((task) => readyAt(state, run, task, now));
  return earliest(times.filter((at) => at > now && at < Infinity));
}

export function earliest(moments: readonly Instant[]): Instant | null {
  return moments.length === 0 ? null : Math.min(...moments);
}

/** When neither a transient failure, nor the limit of whoever would work on it, nor the hour's calls are in the way. */
function readyAt(state: State, { settings, pauses }: RunState, task: Task, now: Instant): Instant {
  const agent = agentNow(state, task, settings, now);
  const calls = settings.limits.callsPerHour === 0 ? 0 : (state.callsExhaustedUntil ?? 0);
  const pause = pauses[agent] ?? 0;
  return Math.max(taskState(state, task.id).retryAt ?? 0, limitedUntil(state, agent), pause, calls);
}

export const AGENT_LIMITED = "the agent has reached its limit";

/** What is in the way until then. */
export function waitReason(state: State, until: Instant): string {
  if (until === state.callsExhaustedUntil) return "the calls of this hour are used up";
  if (isAgentLimit(state, until)) return AGENT_LIMITED;
  return "the agent's service failed; trying again";
}

/** By state, as several questions of one decision begin with them. */
const startables = new WeakMap<State, readonly Task[]>();

function startable(state: State, run: RunState, plan: Plan): readonly Task[] {
  if (run !== state.run || plan !== state.plan) return findStartable(state, run, plan);
  const tasks = startables.get(state) ?? findStartable(state, run, plan);
  startables.set(state, tasks);
  return tasks;
}

function findStartable(state: State, run: RunState, plan: Plan): readonly Task[] {
  const done = new Set(plan.tasks.filter((task) => statusOf(state, task) === "done").map((task) => task.id));
  const isStartable = (task: Task): boolean =>
    statusOf(state, task) === "todo" &&
    taskState(state, task.id).exhaustedIn !== run.id &&
    task.dependsOn.every((id) => done.has(id));
  const required = requiredTasks(run, plan);
  const due = required.filter(isStartable);
  const isFirst = due.length > 0 || required.some((task) => statusOf(state, task) === "doing");
  return isFirst ? due : tasksInScope(run, plan).filter(isStartable);
}

/** Anything else that a person writes is a rejection, and the next prompt has it; also below what an agent wrote there. */
export function isAcceptance(answer: string): boolean {
  return /^\s*(?:accept|approve)/i.test(answer) && !/^\s*reject/im.test(answer);
}

/** A person has accepted the claim, and what follows from that is not recorded yet. */
export function isAcceptedByPerson({ question, completion }: TaskState): boolean {
  const follows = question?.acceptance != null && question.acceptance.is !== "agreement";
  return follows && completion === null && question.answer !== null && isAcceptance(question.answer);
}

/** What a person accepted, or sent back, is recorded without another agent. */
export function acceptances(state: State, run: RunState): readonly Effect[] {
  return Object.values(state.tasks).flatMap((task): readonly Effect[] => {
    const back = sentBackByPerson(state, run, task);
    if (back !== null)
      return [{ kind: "record", key: `send-back:${task.id}`, task: task.id, events: [back] }];
    // Work that is aside comes back first.
    const isHere = task.work === null || task.work.is === "in-place" || task.work.is === "staying";
    if (!isHere || !isAcceptedByPerson(task)) return [];
    return [{ kind: "record", key: `accept:${task.id}`, task: task.id, events: [accepted(task, run)] }];
  });
}

/** A person who does not approve the work says what is to be changed: the findings of its next iteration. */
function sentBackByPerson(state: State, run: RunState, { id, question, stage }: TaskState): Event | null {
  const { acceptance, answer, iteration } = question ?? {};
  if (acceptance?.is !== "completion" || acceptance.isApproval !== true || iteration === undefined)
    return null;
  if (answer == null || isAcceptance(answer)) return null;
  const at = stageOf(
    run.settings,
    state.plan?.tasks.find((task) => task.id === id),
    stage,
  ).name;
  const to = isReading(run.settings, at) ? stageBefore(run.settings, at).name : at;
  return { type: "stage.objected", run: run.id, task: id, iteration, stage: PERSON, to, findings: answer };
}

function accepted({ id, question }: TaskState, run: RunState): Event {
  const about = { run: run.id, task: id, iteration: question?.iteration ?? 0 };
  if (question?.acceptance?.is === "next-stage") {
    const { stage, next } = question.acceptance;
    return { ...about, type: "stage.passed", stage, next };
  }
  if (question?.acceptance?.is !== "completion") throw new Error(`nothing of ${id} is to be accepted`);
  const { commit, certificate } = question.acceptance;
  const { concerns = [], criteria = [] } = certificate;
  return {
    ...about,
    type: "task.completed",
    commit,
    // A person who accepts a claim answers for what nobody else has settled.
    certificate: {
      ...certificate,
      person: question.answer ?? "",
      concerns: concerns.map((concern) =>
        concern.settledBy === null ? { ...concern, settledBy: "person", answer: null } : concern,
      ),
      criteria: criteria.map((one) => (one.by === "nobody" ? { ...one, by: "person" } : one)),
    },
  };
}

/** The question about a claim that neither facts nor a reader settle. */
export function acceptanceQuestion(
  run: RunState,
  open: OpenIteration,
  { verdict, context, isOpenEnded }: Judgement,
  certificate: Certificate,
): Event {
  const reasons = verdict.reasons.map(({ sentence }) => sentence).join("; ");
  const next = stageAfter(run.settings, open.stage);
  const isStory = reviewOf(run.settings, context.task) !== null;
  const acceptance: Acceptance =
    isStory || isOpenEnded
      ? { is: "agreement" }
      : next !== null
        ? { is: "next-stage", stage: open.stage, next: next.name }
        : { is: "completion", commit: context.evidence.headAfter, certificate };
  const question =
    context.report.claim.is === "already-done"
      ? `${capital(reasons)}. Is it?`
      : `The work is in git and its gates pass, but ${reasons}. Is this change of the checks right?`;
  return { ...asked(open, question, ["accept", "reject"]), acceptance };
}

/** Accepted work that counts only when a person has looked at it. */
export function approvalQuestion(
  run: RunState,
  open: OpenIteration,
  { context }: Judgement,
  certificate: Certificate,
): Event {
  const isStory = reviewOf(run.settings, context.task) !== null;
  const acceptance: Acceptance = isStory
    ? { is: "agreement", isApproval: true }
    : { is: "completion", isApproval: true, commit: context.evidence.headAfter, certificate };
  const question = `The work is accepted. Approve it, or say what is to be changed (ralph diff ${asArgument(open.task)}).`;
  return { ...asked(open, question, ["accept"]), acceptance };
}

function asked(
  { run, task, number }: OpenIteration,
  question: string,
  options: readonly string[],
): EventOf<"question.asked"> {
  const about = { run, task, iteration: number };
  return { type: "question.asked", ...about, question, options, default: null, deadlineAt: null };
}

/** The way of accepted work to the base: one at a time, a begun one first, then in the order of acceptance. */
export function merges(state: State, run: RunState, plan: Plan): readonly Effect[] {
  const known = plan.tasks.map(({ id }) => taskState(state, id));
  const waiting = known
    .filter(({ id, merge }) => merge?.is === "prepared" || (merge?.is === "due" && !isCancelled(state, id)))
    .toSorted((a, b) => (a.completion?.position ?? 0) - (b.completion?.position ?? 0));
  const next = waiting.find(({ merge }) => merge?.is === "prepared") ?? waiting[0];
  const removals = known
    .filter(
      ({ merge, worktree }) => worktree !== null && (merge?.is === "merged" || merge?.is === "proposed"),
    )
    .map(({ id }): Effect => ({ kind: "remove-worktree", key: `remove-worktree:${id}`, task: id }));
  // What is begun is brought to its end even when the run is asked to stop: that takes no agent.
  const isWanted = next !== undefined && (run.stop !== "now" || next.merge?.is === "prepared");
  return isWanted ? [{ kind: "merge-task", key: `merge:${next.id}`, task: next.id }, ...removals] : removals;
}

/** So often may a task not go together with the base before a person has to look. */
const FAILURES_MAX = 2;

type Failed = EventOf<"merge.failed">;

/** Work that does not go together with the base: once it goes back to its agent, then a person is needed. */
export function mergeFailed(
  { mergeFailures }: TaskState,
  { base, branch }: OwnWorktree,
  about: Pick<Failed, "run" | "task" | "iteration">,
  found: Pick<Failed, "conflicts" | "gates">,
): readonly Event[] {
  const failure: Event = { ...about, type: "merge.failed", base, ...found };
  if (mergeFailures + 1 < FAILURES_MAX) return [failure];
  const why = found.conflicts.length > 0 ? "it still conflicts with" : "merged, it still does not pass on";
  return [
    failure,
    { ...about, type: "task.blocked", reason: `${why} ${base}; its branch ${branch} is kept` },
  ];
}
