import { fingerprint } from "../text.ts";
import type { Event, EventType, Recorded } from "../events.ts";
import { budgetInWords, moved } from "./brakes.ts";
import { EMPTY_TALLY } from "./intervention.ts";
import { sameSource, showsMarks, type Plan, type TaskId } from "../plan.ts";
import type { Settings } from "../settings.ts";
import { elapsedMs, type Instant } from "../time.ts";
import { iterationFolds } from "./evolve-iteration.ts";
import { taskFolds } from "./evolve-task.ts";
import { workFolds } from "./evolve-work.ts";
import { steerFolds } from "./steer.ts";
import {
  EMPTY_STATE,
  newRun,
  newTask,
  NOT_WAITING,
  taskState,
  withRun,
  withTask,
  type Facts,
  type Folds,
  type RunState,
  type Scene,
  type State,
  type TaskState,
} from "../state.ts";

/** Raised when the fold changes, so that snapshots of an older fold are ignored. */
export const EVOLVE_VERSION = 33;

/** Folds one fact into the state. */
export function evolve(state: State, event: Recorded): State {
  const folded = withPersonsAct(state, fold(state, event.type, event), event);
  const run = folded.run && { ...folded.run, lastFactAt: event.at };
  const next = { ...folded, run, position: event.position };
  const task = taskOf(event);
  return task === null ? next : withTask(next, task, { position: event.position });
}

function fold<Type extends EventType>(state: State, type: Type, event: Facts[Type]): State {
  return FOLDS[type](state, event);
}

export function evolveAll(events: Iterable<Recorded>, from: State = EMPTY_STATE): State {
  let state = from;
  for (const event of events) state = evolve(state, event);
  return state;
}

/** The state as it would be with these facts. */
export function evolveWith(state: State, events: readonly Event[], now: Instant): State {
  return evolveAll(
    events.map((event): Recorded => ({ ...event, position: state.position, at: now })),
    state,
  );
}

/** The task an event is about; this is what compare-and-append compares. */
export function taskOf(event: Event): TaskId | null {
  return "task" in event ? event.task : null;
}

/** What happens to the run as a whole: its begin and end, the plan, its brakes, and what a person wants to hear no more of. */
const runFolds = {
  "log.renewed": (state, { lastIteration }) => ({
    ...state,
    lastIteration: Math.max(state.lastIteration, lastIteration),
  }),
  "run.started": (state, event) => ({ ...takenUp(state, event.settings), run: newRun(event), plan: null }),
  "run.resumed": (state, { settings, pid, at }) =>
    state.run === null
      ? state
      : withRun(takenUp(state, settings), {
          settings,
          pid,
          activeSince: at,
          usedMs: usedMsOf(state.run, state.run.lastFactAt),
          stop: null,
          isPaused: false,
          lockedOut: {},
          misconfigured: null,
          budgetReached: null,
          // The person who started it again wants to be told, too.
          ...NOT_WAITING,
        }),
  "run.ended": (state, { run, outcome, reason, at }) =>
    state.run?.id === run ? withRun(state, { ...NOT_WAITING, end: { outcome, reason, at } }) : state,
  "stop.requested": (state, { run, urgency }) =>
    state.run?.id === run ? withRun(state, { stop: urgency }) : state,
  "run.paused": (state, { run }) => (state.run?.id === run ? withRun(state, { isPaused: true }) : state),
  "run.unpaused": (state, { run }) =>
    state.run?.id === run ? withRun(state, { ...NOT_WAITING, isPaused: false }) : state,
  /** The source is the operator's: what it shows now replaces what it showed before. */
  "tasks.observed": (state, { plan }) => ({ ...state, plan, tasks: reconcile(state, plan) }),
  "wait.started": (state, { until }) =>
    withRun(state, { waitingUntil: until, waitsForPerson: until === null }),
  /** An agent that was limited or failed may be asked again; calls that are used up stay so. */
  "retry.requested": (state) => ({
    ...withRun(state, { waitingUntil: null, pauses: {}, lockedOut: {} }),
    agentLimits: {},
    tasks: changedTasks(state.tasks, (task) => ({ ...task, retryAt: null })),
  }),
  "calls.exhausted": (state, { until }) => ({ ...state, callsExhaustedUntil: until }),
  "calls.reset": (state) => ({ ...withRun(state, { waitingUntil: null }), callsExhaustedUntil: null }),
  "budget.neared": (state, { budget }) =>
    withRun(state, { budgetsNeared: [...(state.run?.budgetsNeared ?? []), budget] }),
  "budget.reached": (state, { budget, spentUsd, budgetUsd }) =>
    withRun(state, { budgetReached: budgetInWords(budget, spentUsd, budgetUsd) }),
  "breaker.moved": (state, { run, at, from, to, reason, head }) => {
    const settings = settingsPrint(state.run?.settings ?? null);
    const openedOn = to === "OPEN" ? { run, head, plan: planPrint(state.plan), settings } : null;
    return { ...state, breaker: moved(state.breaker, { at, from, to, reason }), openedOn, personActed: null };
  },
  "proposal.settled": (state, event) => ({
    ...state,
    proposals: state.proposals.filter(({ number }) => number !== event.number),
  }),
  "lesson.removed": (state, event) => ({
    ...state,
    findings: state.findings.filter(({ rule }) => rule !== event.rule),
  }),
  "interventions.reset": (state, { position }) => ({
    ...state,
    profiles: {},
    tally: EMPTY_TALLY,
    findings: [],
    interventionsSince: position,
  }),
} satisfies Partial<Folds>;

const FOLDS: Folds = { ...runFolds, ...iterationFolds, ...taskFolds, ...steerFolds, ...workFolds };

/** A process drives the run: the agents of the one before are watched by nobody, and held merges are tried again. */
function takenUp(state: State, { limits }: Settings): State {
  const isSameLimit = state.run?.settings.limits.callsPerHour === limits.callsPerHour;
  return {
    ...state,
    // Under another limit the calls are counted again.
    callsExhaustedUntil: isSameLimit ? state.callsExhaustedUntil : null,
    tasks: changedTasks(state.tasks, (task) =>
      task.merge?.is === "held" ? { ...task, merge: { is: "due" } } : task,
    ),
    iterations: state.iterations.map((open) =>
      open.phase.is === "running" ? { ...open, orphaned: true } : open,
    ),
  };
}

function changedTasks(tasks: State["tasks"], change: (task: TaskState) => TaskState): State["tasks"] {
  return Object.fromEntries(Object.entries(tasks).map(([id, task]) => [id, change(task)]));
}

/** How long processes have worked on it, by then; nobody did while it was dead. */
export function usedMsOf({ usedMs, activeSince }: RunState, at: Instant): number {
  return usedMs + elapsedMs(activeSince, at);
}

function reconcile(state: State, plan: Plan): Record<TaskId, TaskState> {
  const observed = new Map(plan.tasks.map((task) => [task.id, task]));
  const isRunAgain = state.plan === null && state.run?.settings.shared !== true;
  const kept = Object.values(state.tasks).flatMap((task): TaskState[] => {
    const now = observed.get(task.id);
    if (now === undefined && task.marked) return [];
    const untickedByOperator = showsMarks(plan.source) && task.marked && now?.done === false;
    const askedForAgain = !showsMarks(plan.source) && isRunAgain && now !== undefined;
    // Lists are submitted one after the other, and their ids may be alike. What is not merged yet is not given up.
    const isMerged = task.merge?.is === "merged" && now?.done === false;
    const source = task.completion?.source ?? null;
    const isOfOtherList = isMerged && source !== null && !sameSource(source, plan.source);
    if (task.completion !== null && (untickedByOperator || askedForAgain || isOfOtherList))
      return [{ ...newTask(task.id), position: task.position }];
    // A base that is not checked out here shows its marks later, or never.
    const marked = task.marked || (task.completion !== null && now?.done === true);
    return [{ ...task, marked, isTickedByAgent: task.isTickedByAgent && now?.done !== false }];
  });
  const seen = new Set(kept.map(({ id }) => id));
  const added = plan.tasks.filter(({ id }) => !seen.has(id)).map(({ id }) => taskState(state, id));
  return Object.fromEntries([...kept, ...added].map((task) => [task.id, task]));
}

/** What a person does gives an open breaker a new chance. */
function withPersonsAct(before: State, after: State, event: Event): State {
  const { openedOn } = before;
  if (openedOn === null || after.personActed !== null) return after;
  // What is found in the run that opened it may be the last agent's doing.
  if (event.type === "tasks.observed" && event.run === openedOn.run)
    return { ...after, openedOn: { ...openedOn, plan: planPrint(event.plan) } };
  const act = actIn(event, openedOn);
  return act === null ? after : { ...after, personActed: act };
}

function actIn(event: Event, openedOn: Scene): string | null {
  switch (event.type) {
    case "run.started":
    case "run.resumed":
      if (event.head !== undefined && openedOn.head !== null && event.head !== openedOn.head)
        return "somebody committed";
      return settingsPrint(event.settings) === openedOn.settings ? null : "the configuration is another";
    case "tasks.observed":
      return planPrint(event.plan) === openedOn.plan ? null : "the tasks are others";
    case "task.unblocked":
      return event.by === "person" ? `${event.task} was unblocked` : null;
    case "steer.given":
      return `a message was given for ${event.task ?? "the next task"}`;
    case "task.reset":
      return `${event.task} was reset`;
    case "question.answered":
      return event.by === "person" ? `the question of ${event.task} was answered` : null;
    default:
      return null;
  }
}

function planPrint(plan: Plan | null): string {
  return fingerprint(plan?.tasks ?? null);
}

/** What lay uncommitted at the start is no setting. */
function settingsPrint(settings: Settings | null): string {
  return fingerprint(settings && { ...settings, leaveAlone: [] });
}
