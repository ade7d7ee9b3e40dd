import { fingerprint } from "../text.ts";
import type { Event, EventOf, Recorded } from "../events.ts";
import { moved, withFruitlessTask } from "../limits/breaker.ts";
import { budgetInWords } from "../limits/budget.ts";
import type { Plan } from "../plan/task.ts";
import type { Settings } from "../settings.ts";
import { unreachable } from "../unreachable.ts";
import { taskState, withRun, type Scene, type State, type TaskState } from "./state.ts";
import { withAttempt } from "../limits/iteration-timeout.ts";
import { BUILD } from "../stages/stages.ts";

type Brake = EventOf<
  | "wait.started"
  | "retry.requested"
  | "calls.exhausted"
  | "calls.reset"
  | "budget.neared"
  | "budget.reached"
  | "breaker.moved"
>;

/** What holds a run up, and what lets it go on. */
export function braked(state: State, event: Recorded<Brake>): State {
  switch (event.type) {
    case "wait.started":
      return withRun(state, { waitingUntil: event.until, waitsForPerson: event.until === null });
    case "retry.requested":
      return retryRequested(state);
    case "calls.exhausted":
      return { ...state, callsExhaustedUntil: event.until };
    case "calls.reset":
      return { ...withRun(state, { waitingUntil: null }), callsExhaustedUntil: null };
    case "budget.neared":
    case "budget.reached":
      return budgetSpent(state, event);
    case "breaker.moved":
      return breakerMoved(state, event);
    default:
      return unreachable(event);
  }
}

/** Whoever was limited or failed may be asked again; calls that are used up stay so. */
function retryRequested(state: State): State {
  const tasks = Object.entries(state.tasks).map(([id, task]) => [id, { ...task, retryAt: null }] as const);
  return {
    ...state,
    agentLimits: {},
    run: state.run && { ...state.run, waitingUntil: null, pauses: {}, lockedOut: {} },
    tasks: Object.fromEntries(tasks),
  };
}

function budgetSpent(
  state: State,
  { type, budget, spentUsd, budgetUsd }: EventOf<"budget.neared" | "budget.reached">,
): State {
  if (state.run === null) return state;
  const change =
    type === "budget.neared"
      ? { budgetsNeared: [...state.run.budgetsNeared, budget] }
      : { budgetReached: budgetInWords(budget, spentUsd, budgetUsd) };
  return { ...state, run: { ...state.run, ...change } };
}

function breakerMoved(state: State, event: Recorded<EventOf<"breaker.moved">>): State {
  const { at, from, to, reason, head } = event;
  const openedOn =
    to === "OPEN"
      ? {
          run: event.run,
          head,
          plan: planPrint(state.plan),
          settings: settingsPrint(state.run?.settings ?? null),
        }
      : null;
  return { ...state, breaker: moved(state.breaker, { at, from, to, reason }), openedOn, personActed: null };
}

/** What a person does gives an open breaker a new chance. */
export function withPersonsAct(before: State, after: State, event: Event): State {
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

/** A task that was given up in a row of iterations without progress. */
export function taskGivenUp(state: State, { task }: EventOf<"task.blocked">): State {
  const isFruitless = taskState(state, task).stuckCount > 0;
  return isFruitless ? { ...state, breaker: withFruitlessTask(state.breaker) } : state;
}

function planPrint(plan: Plan | null): string {
  return fingerprint(plan?.tasks ?? null);
}

/** What lay uncommitted at the start is no setting. */
function settingsPrint(settings: Settings | null): string {
  return fingerprint(settings && { ...settings, leaveAlone: [] });
}

/** `before`: with the iteration still open. */
export function timeoutsCounted(before: State, after: State, event: EventOf<"verdict.reached">): State {
  const open = before.iterations.find(({ number }) => number === event.iteration);
  if (open === undefined || !("report" in open.phase)) return after;
  const task = taskState(after, open.task);
  const isAttempt = task.attempts > taskState(before, open.task).attempts;
  const isTimeout = isAttempt && open.phase.report.ending.is === "timed-out";
  const { number, timeoutMs } = open;
  const timedOut = withAttempt(task.timedOut, task.attempts, { number, timeoutMs, isTimeout });
  return { ...after, tasks: { ...after.tasks, [open.task]: { ...task, timedOut } } };
}

/** Whether a block came from `max_attempts`, and each of these attempts was a timeout. */
export function timeoutBlockOf(state: State, event: EventOf<"task.blocked">): TaskState["timeoutBlock"] {
  const { attempts, timedOut } = taskState(state, event.task);
  const maxAttempts = state.run?.settings.limits.maxAttempts ?? 0;
  if (timedOut === null || timedOut.iteration !== event.iteration || timedOut.count < attempts) return null;
  return maxAttempts > 0 && attempts >= maxAttempts
    ? { run: event.run, timeoutMs: timedOut.timeoutMs }
    : null;
}

/** The rest is in the log and in the transcript. */
const OUTPUT_LENGTH_MAX = 500;

/** A loop came to its end without success; in a later run the task begins another one. */
export function loopGivenUp(
  task: TaskState,
  event: EventOf<"task.exhausted"> | EventOf<"task.failed">,
): Partial<TaskState> {
  const isExhausted = event.type === "task.exhausted";
  const { reason = "its iterations are used up", lastOutput = "" } = event;
  const failure = {
    stage: event.stage ?? task.stage ?? BUILD.name,
    iterations: isExhausted ? event.iterations : task.iterations,
    lastOutput: lastOutput.slice(-OUTPUT_LENGTH_MAX).toWellFormed(),
    reason,
  };
  return isExhausted
    ? { iterations: 0, failure, exhaustedRuns: task.exhaustedRuns + 1, exhaustedIn: event.run }
    : { iterations: 0, failure, failedIn: event.run };
}
