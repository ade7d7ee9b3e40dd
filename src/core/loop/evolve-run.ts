import {
  withFinding,
  NEW_PROFILE,
  profileIntervention,
  EMPTY_TALLY,
  tallyIntervention,
  withIntervention,
} from "../interventions/intervention.ts";
import type { EventOf, Recorded, FleetEvent } from "../events.ts";
import { NOTHING_SPENT, withCost } from "../limits/budget.ts";
import { sameSource, showsMarks, type Plan, type Task, type TaskId } from "../plan/task.ts";
import { elapsedMs, type Instant } from "../time.ts";
import { mergesTriedAgain } from "./evolve-worktrees.ts";
import {
  newTask,
  taskState,
  type RunState,
  type State,
  type TaskState,
  withRun,
  withTask,
  type OpenIteration,
} from "./state.ts";
import { steersFor, type Steer } from "./steer.ts";

export function runChanged(
  state: State,
  event: Recorded<EventOf<"run.started" | "run.resumed" | "run.ended">>,
): State {
  switch (event.type) {
    case "run.started":
      return runStarted(state, event);
    case "run.resumed":
      return runResumed(state, event);
    case "run.ended":
      return runEnded(state, event);
  }
}

function runStarted(state: State, event: Recorded<EventOf<"run.started">>): State {
  return {
    ...state,
    run: {
      id: event.run,
      settings: event.settings,
      pid: event.pid,
      startedAt: event.at,
      iterations: 0,
      stuckCount: 0,
      stuckIterations: 0,
      transientInARow: 0,
      misconfigured: null,
      lockedOut: {},
      waitingUntil: null,
      waitsForPerson: false,
      stop: null,
      spend: NOTHING_SPENT,
      unpriced: null,
      pauses: {},
      activeSince: event.at,
      usedMs: 0,
      lastFactAt: event.at,
      budgetsNeared: [],
      budgetReached: null,
      end: null,
    },
    plan: null,
    tasks: mergesTriedAgain(state.tasks),
    iterations: orphanRunning(state.iterations),
  };
}

function runResumed(state: State, event: Recorded<EventOf<"run.resumed">>): State {
  if (state.run === null) return state;
  return {
    ...state,
    run: {
      ...state.run,
      settings: event.settings,
      pid: event.pid,
      activeSince: event.at,
      usedMs: usedMsOf(state.run, state.run.lastFactAt),
      stop: null,
      lockedOut: {},
      misconfigured: null,
      budgetReached: null,
      // Whoever started it again wants to be told, too.
      waitingUntil: null,
      waitsForPerson: false,
    },
    tasks: mergesTriedAgain(state.tasks),
    iterations: orphanRunning(state.iterations),
  };
}

/** How long processes have worked on it, by then; nobody did while it was dead. */
export function usedMsOf({ usedMs, activeSince }: RunState, at: Instant): number {
  return usedMs + elapsedMs(activeSince, at);
}

function runEnded(state: State, event: Recorded<EventOf<"run.ended">>): State {
  if (state.run?.id !== event.run) return state;
  const end = { outcome: event.outcome, reason: event.reason, at: event.at };
  return { ...state, run: { ...state.run, waitingUntil: null, waitsForPerson: false, end } };
}

/** The source is the operator's: what it shows now replaces what it showed before. */
export function tasksObserved(state: State, event: Recorded<EventOf<"tasks.observed">>): State {
  const firstOfRun = state.plan === null;
  return { ...state, plan: event.plan, tasks: reconcile(state, event.plan, firstOfRun) };
}

function reconcile(state: State, plan: Plan, firstOfRun: boolean): Record<TaskId, TaskState> {
  const observed = new Map(plan.tasks.map((task) => [task.id, task]));
  const kept = Object.values(state.tasks).flatMap((task): TaskState[] => {
    const now = observed.get(task.id);
    if (now === undefined && task.marked) return [];
    const untickedByOperator = showsMarks(plan.source) && task.marked && now?.done === false;
    const isRunAgain = firstOfRun && state.run?.settings.shared !== true;
    const askedForAgain = !showsMarks(plan.source) && isRunAgain && now !== undefined;
    const reopened =
      task.completion !== null && (untickedByOperator || askedForAgain || isOfOtherList(task, plan, now));
    if (reopened) return [{ ...newTask(task.id), position: task.position }];
    // A base that is not checked out here shows its marks later, or never.
    const marked = task.marked || (task.completion !== null && now?.done === true);
    return [{ ...task, marked, isTickedByAgent: task.isTickedByAgent && now?.done !== false }];
  });
  const seen = new Set(kept.map(({ id }) => id));
  const added = plan.tasks.filter(({ id }) => !seen.has(id)).map(({ id }) => taskState(state, id));
  return Object.fromEntries([...kept, ...added].map((task) => [task.id, task]));
}

/** Lists are submitted one after the other, and their ids may be alike. What is not merged yet is not given up. */
function isOfOtherList({ completion, merge }: TaskState, plan: Plan, now: Task | undefined): boolean {
  const source = completion?.source ?? null;
  return merge?.is === "merged" && now?.done === false && source !== null && !sameSource(source, plan.source);
}

function orphanRunning(iterations: State["iterations"]): State["iterations"] {
  return iterations.map((open) => (open.phase.is === "running" ? { ...open, orphaned: true } : open));
}

/** So many workers in a row may vanish or fail over a task before a person has to look. */
const DROPS_MAX = 3;

export function handedOn(state: State, event: Recorded<FleetEvent>): State {
  return event.type === "task.taken" ? taskTaken(state, event) : taskDropped(state, event);
}

/** Whoever worked on it before does so no longer, whether it knows that or not. */
function taskTaken(state: State, event: Recorded<EventOf<"task.taken">>): State {
  const { task, worker, lease, from } = event;
  const taken = {
    ...withTask(state, task, { holder: { worker, lease } }),
    iterations: state.iterations.map((open) => (open.task === task ? handedOver(open) : open)),
  };
  const wasAtWork = state.iterations.some((open) => open.task === task);
  return from === null || !wasAtWork ? taken : dropped(taken, task, `${from} vanished`);
}

function taskDropped(state: State, { task, worker, why }: Recorded<EventOf<"task.dropped">>): State {
  const given = dropped(withTask(state, task, { holder: null }), task, `${worker}: ${why}`);
  const isBlocked = taskState(given, task).blockedReason !== null;
  // Nobody can bring what is open to its end either; whoever takes over from one that vanished can.
  return isBlocked ? givenUp(given, task) : given;
}

/** What nobody can go on with is not passed round for ever. */
function dropped(state: State, id: string, why: string): State {
  const drops = taskState(state, id).drops + 1;
  if (drops < DROPS_MAX) return withTask(state, id, { drops });
  const blockedReason = `${drops} workers in a row could not go on with it; the last one: ${why}`;
  return withTask(state, id, { drops, blockedReason });
}

/** Its iteration has no end; what its agent was told is told again, and what it has cost counts. */
function givenUp(state: State, id: string): State {
  const open = state.iterations.filter(({ task }) => task === id);
  const left = { ...state, iterations: state.iterations.filter((one) => !open.includes(one)) };
  return open.reduce((rest, { number }) => steersWaiting(rest, number), unseenCosts(left, id, open));
}

/** An agent whose end nobody saw has cost something, too. */
function unseenCosts(state: State, id: string, iterations: readonly OpenIteration[]): State {
  const isUnseen = iterations.some(({ phase }) => phase.is === "running");
  if (!isUnseen || state.run === null) return state;
  const spent = withTask(state, id, { spend: withCost(taskState(state, id).spend, null) });
  return withRun(spent, { spend: withCost(state.run.spend, null) });
}

/**
 * An agent that nobody watches any more is lost with its worker, and so is what it claimed of work that was not yet
 * brought to the others: whoever goes on may not have it, be it the same worker on the same machine.
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

export function steered(
  state: State,
  event: Recorded<EventOf<"steer.given" | "steer.used" | "steer.deferred">>,
): State {
  switch (event.type) {
    case "steer.given":
      return steerGiven(state, event);
    case "steer.used":
      return steerUsed(state, event);
    case "steer.deferred":
      return steerDeferred(state, event);
  }
}

function steerGiven(state: State, event: Recorded<EventOf<"steer.given">>): State {
  const { id, task, text, at } = event;
  const given = { id, task, text, givenAt: at, carriedIn: null, told: false, deferredIn: null };
  return { ...state, steers: [...state.steers, given] };
}

/** The prompt of an iteration carries what waits for its task. */
export function steersCarried(state: State, event: EventOf<"iteration.started">): State {
  const carried = new Set(steersFor(state.steers, event.task).map(({ id }) => id));
  return changed(state, (steer) =>
    carried.has(steer.id) ? { ...steer, carriedIn: event.iteration } : steer,
  );
}

/** What a prompt carried is settled; what a running agent was told is settled when its work is accepted. */
function steerUsed(state: State, event: EventOf<"steer.used">): State {
  if (event.how === "prompt") return { ...state, steers: state.steers.filter(({ id }) => id !== event.id) };
  return changed(state, (steer) =>
    steer.id === event.id ? { ...steer, task: event.task, carriedIn: event.iteration, told: true } : steer,
  );
}

function steerDeferred(state: State, event: EventOf<"steer.deferred">): State {
  return changed(state, (steer) =>
    steer.id === event.id ? { ...steer, deferredIn: event.iteration } : steer,
  );
}

/** Another list may use the task's id; what was said of this one is not meant for it. */
export function steersForgotten(state: State, task: TaskId): State {
  return { ...state, steers: state.steers.filter((steer) => steer.task !== task) };
}

/** Those that the next iteration has to know of wait again: its agent remembers nothing. */
export function steersSettled(state: State, { iteration, verdict }: EventOf<"verdict.reached">): State {
  const isSettled = ({ carriedIn, told }: Steer): boolean =>
    carriedIn === iteration && told && verdict === "accepted";
  const steers = state.steers.filter((steer) => !isSettled(steer));
  return steersWaiting({ ...state, steers }, iteration);
}

/** Whatever the agent of this iteration had is for another one. */
function steersWaiting(state: State, iteration: number): State {
  return changed(state, (steer) =>
    steer.carriedIn === iteration ? { ...steer, carriedIn: null, told: false } : steer,
  );
}

function changed(state: State, change: (steer: Steer) => Steer): State {
  return state.steers.length === 0 ? state : { ...state, steers: state.steers.map(change) };
}

export function interventionChosen(state: State, event: Recorded<EventOf<"intervention.chosen">>): State {
  const { agent, intervention, severity, isFedBack, leads } = event;
  const task = taskState(state, event.task);
  const profile = profileIntervention(state.profiles[agent] ?? NEW_PROFILE, {
    type: intervention,
    at: event.at,
    isFedBack,
    leads,
  });
  return {
    ...withTask(state, event.task, {
      feedback: isFedBack ? withFeedback(task, event) : task.feedback,
      feedbackLeads: task.feedbackLeads || (isFedBack && leads),
      watched: withIntervention(task.watched, event.iteration, intervention),
    }),
    profiles: { ...state.profiles, [agent]: profile },
    tally: tallyIntervention(state.tally, intervention, severity),
    findings: withFinding(state.findings, event.rule, event.task),
  };
}

/** Who takes over begins with fresh counts; so does the run. */
export function agentSuspended(state: State, event: Recorded<EventOf<"agent.suspended">>): State {
  const task = taskState(state, event.task);
  const next = withTask(state, event.task, {
    suspended: [...task.suspended, event.agent],
    standIn: event.successor,
    watched: [],
    ...(event.successor !== null && { attempts: 0, failures: 0, stuckCount: 0 }),
  });
  return event.successor === null || next.run === null
    ? next
    : {
        ...next,
        run: { ...next.run, stuckCount: 0 },
        breaker: { ...next.breaker, noProgress: 0, inVain: 0 },
      };
}

/** What a person wants to hear of no more. */
export function forgotten(
  state: State,
  event: Recorded<EventOf<"lesson.removed" | "interventions.reset" | "proposal.settled">>,
): State {
  if (event.type === "proposal.settled")
    return { ...state, proposals: state.proposals.filter(({ number }) => number !== event.number) };
  return event.type === "lesson.removed"
    ? { ...state, findings: state.findings.filter(({ rule }) => rule !== event.rule) }
    : { ...state, profiles: {}, tally: EMPTY_TALLY, findings: [], interventionsSince: event.position };
}

export function taskCompleted(state: State, event: Recorded<EventOf<"task.completed">>): State {
  const { iteration, commit, position } = event;
  const completion = { iteration, commit, position, source: state.plan?.source ?? null };
  const task = taskState(state, event.task);
  return {
    ...withTask(state, event.task, {
      completion,
      undoneBy: null,
      work: null,
      marked: false,
      merge: mergeAfter(task),
      sentBack: null,
      question: null,
      challenged: [],
      isAgreed: false,
    }),
    tally: { ...state.tally, tasksCompleted: state.tally.tasksCompleted + 1 },
  };
}

/** Where branches are not the result, the work has to come to the base. */
function mergeAfter({ worktree }: TaskState): TaskState["merge"] {
  return worktree === null || worktree.merge === "none" ? null : { is: "due" };
}

function withFeedback(task: TaskState, event: EventOf<"intervention.chosen">): TaskState["feedback"] {
  const said = task.feedback.some((item) => item.text === event.feedback.text);
  return said ? task.feedback : [...task.feedback, event.feedback];
}
