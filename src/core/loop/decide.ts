import type { Outcome } from "../events.ts";
import type { Plan } from "../plan.ts";
import { formatDuration, type Instant } from "../time.ts";
import { unreachable } from "../unreachable.ts";
import {
  breakerChance,
  budgetWarning,
  costsUnseen,
  endingOf,
  nextDeadline,
  overdueQuestions,
  staysOpen,
  timeIsOverAt,
  type Ending,
} from "./outcome.ts";
import { conclude } from "./consequences.ts";
import { nextLook } from "./judge-iteration.ts";
import {
  merges,
  acceptances,
  earliest,
  nextRetryAt,
  readyTasks,
  waitReason,
  isAcceptedByPerson,
  isCancelled,
  tasksInScope,
  statusOf,
} from "./task-status.ts";
import type { Decision, Effect } from "./effects.ts";
import {
  isOpen,
  leftoversInPlace,
  taskState,
  type OpenIteration,
  type RunState,
  type State,
  type TaskState,
} from "../state.ts";
import { steerToTell } from "./steer.ts";

const NOTHING: Decision = { effects: [], wakeAt: null };

/** The effects that should be under way in this state. It looks at the state, never at the last event. */
export function decide(state: State, now: Instant): Decision {
  const { run } = state;
  if (!isOpen(run)) return NOTHING;
  const { effects, wakeAt } = underWay(state, run, now);
  const checks = state.iterations.map((open) => midRunAt(run, open) ?? now).filter((at) => at > now);
  return { effects, wakeAt: wakeAt ?? earliest(checks) };
}

function underWay(state: State, run: RunState, now: Instant): Decision {
  const { plan } = state;
  if (plan === null) return doing({ kind: "observe", key: "observe" });
  const inIterations = state.iterations.flatMap((open) => [
    nextStep(state, run, open, now),
    midRunCheck(run, open, now),
    tellAgent(state, run, open),
  ]);
  const marking = marks(state, plan);
  const housekeeping = [
    ...notices(state, run, now),
    ...automaticUnblocks(state, run, plan),
    ...acceptances(state, run),
    // These move the operator's branch, or look at a file that the mark is written to.
    ...(marking.length > 0
      ? marking
      : [...worksToMove(state, run, plan), ...defaults(state, run, plan, now)]),
    ...(run.settings.shared === true ? [] : letters(state)),
  ];
  const merging = merges(state, run, plan);
  const begun = [...inIterations.filter((effect) => effect !== null), ...merging, ...housekeeping];
  const ending = endingOf(state, run, plan, now);
  if (ending !== null) {
    const idle = state.iterations.length === 0 && housekeeping.length + merging.length === 0;
    if (idle && staysOpen(state, run, plan, now)) return waitForTime(state, run, plan, now);
    const ends = idle && (run.settings.shared !== true || ENDS_SHARED.has(ending.outcome));
    return doing(...begun, ...(ends ? [{ kind: "end-run", key: "end-run", ...ending } as const] : []));
  }
  if (housekeeping.length > 0) return doing(...begun);
  // In place a merge would move the checkout under the agent, and count as its work.
  const isHeldUp = merging.length > 0 && run.settings.worktrees == null;
  const starts = isHeldUp || run.isPaused ? [] : startsFor(state, run, plan, now);
  if (begun.length + starts.length > 0) return doing(...begun, ...starts);
  return waitForTime(state, run, plan, now);
}

/** A run that several workers share waits for the person, or the time, that lets it go on. */
const ENDS_SHARED: ReadonlySet<Outcome> = new Set(["completed", "stopped"]);

/** Why nobody can do anything for the run, now; null while somebody works or could. */
export function restOf(state: State, now: Instant): Ending | null {
  const { run, plan } = state;
  if (run === null || plan === null) return null;
  if (run.end !== null) return run.end;
  const { effects } = underWay(state, run, now);
  const isIdle = effects.every(({ kind }) => kind === "end-run") && state.iterations.length === 0;
  return isIdle ? endingOf(state, run, plan, now) : null;
}

/** Whether a further iteration of this task may begin; asked again in the transaction that begins it. */
export function mayStart(state: State, id: string, now: Instant): boolean {
  const { run, plan } = state;
  if (!isOpen(run) || run.isPaused || plan === null || endingOf(state, run, plan, now) !== null) return false;
  if (state.iterations.length >= run.settings.lanes || costsUnseen(state, run)) return false;
  return readyTasks(state, run, plan, now).some((ready) => ready.id === id);
}

function nextStep(state: State, run: RunState, open: OpenIteration, now: Instant): Effect | null {
  const { phase } = open;
  switch (phase.is) {
    case "running":
      if (open.orphaned)
        return { kind: "close-orphan", key: `close-orphan:${open.number}`, iteration: open.number };
      // Not wanting it any longer is what stops the agent.
      return run.stop === "now" || isCancelled(state, open.task) ? null : iterate(open.task, open.lane);
    case "ended":
      return { kind: "collect-evidence", key: `evidence:${open.number}`, iteration: open.number };
    case "observed":
      return (
        nextLook(state, run, open, phase) ?? {
          kind: "record",
          key: `verdict:${open.number}`,
          task: open.task,
          events: conclude(state, run, open, phase, now),
        }
      );
    default:
      return unreachable(phase);
  }
}

/** Once an iteration, for a run that corrects agents while they work. */
function midRunCheck(run: RunState, open: OpenIteration, now: Instant): Effect | null {
  const at = midRunAt(run, open);
  if (at === null || now < at) return null;
  return { kind: "check-mid-run", key: `mid-run:${open.number}`, iteration: open.number };
}

/** When half of its time is over; null when nobody has to look (any more). */
function midRunAt({ settings, stop }: RunState, open: OpenIteration): Instant | null {
  const { enabled, midStream } = settings.interventions;
  const isRunning = open.phase.is === "running" && !open.orphaned && stop !== "now";
  const isAwaited = enabled && midStream && isRunning && !open.midRunChecked;
  return isAwaited ? open.startedAt + open.timeoutMs / 2 : null;
}

/** What the operator says while an agent runs is tried on that agent, once. */
function tellAgent({ steers }: State, run: RunState, open: OpenIteration): Effect | null {
  if (open.phase.is !== "running" || open.orphaned || run.stop !== null) return null;
  const steer = steerToTell(steers, open);
  return steer && { kind: "tell-agent", key: `tell:${steer.id}`, iteration: open.number, steer: steer.id };
}

/** Before an iteration is settled, nobody can tell whether an answer in the inbox file is a person's. */
function defaults(state: State, run: RunState, plan: Plan, now: Instant): readonly Effect[] {
  if (state.iterations.length > 0) return [];
  return overdueQuestions(state, run, plan, now).map((task) => effectOn("take-default", task));
}

/** Unaccepted work leaves the operator's branch when its task is left; a move that was begun is ended first. */
function worksToMove(state: State, run: RunState, plan: Plan): readonly Effect[] {
  if (state.iterations.some(({ task }) => taskState(state, task).worktree === null)) return [];
  const tasks = Object.values(state.tasks).filter(({ work }) => work !== null);
  const begun = tasks.find(({ work }) => work?.is === "leaving" || work?.is === "returning");
  if (begun !== undefined)
    return [effectOn(begun.work?.is === "leaving" ? "set-aside" : "bring-back", begun.id)];
  const left = tasks.find((task) => isInPlace(state, plan, task) && isLeft(state, run, plan, task));
  if (left !== undefined && setsAside(run)) return [effectOn("set-aside", left.id)];
  const accepted = tasks.find((task) => task.work?.is === "aside" && isAcceptedByPerson(task));
  if (accepted === undefined) return [];
  const before = inTheWay(state, run, plan, accepted);
  return [before === null ? effectOn("bring-back", accepted.id) : effectOn("set-aside", before.id)];
}

function setsAside({ settings }: RunState): boolean {
  return settings.git.unaccepted !== "keep";
}

/** There is unaccepted work of it on the operator's branch, or beside it. A person who ticks a task accepts it. */
function isInPlace(state: State, plan: Plan, { id, work, worktree, workBase }: TaskState): boolean {
  if (work?.is !== "in-place" || worktree !== null || workBase === null) return false;
  if (plan.tasks.some((task) => task.id === id && task.done)) return false;
  const { base, head, changed } = workBase;
  return head !== base || changed.files > 0 || leftoversInPlace(state).byAgents.length > 0;
}

/** Nobody works on it any more in this run, as far as we know. */
function isLeft(state: State, run: RunState, plan: Plan, { id, exhaustedIn }: TaskState): boolean {
  const task = plan.tasks.find((planned) => planned.id === id);
  if (task === undefined || exhaustedIn === run.id) return true;
  return ["blocked", "undecided", "review", "failed", "cancelled", "skipped"].includes(statusOf(state, task));
}

/** Whose unaccepted work would be below the work of another that begins there; null: nobody's. */
function inTheWay(state: State, run: RunState, plan: Plan, next: TaskState): TaskState | null {
  const isBeside = run.settings.worktrees != null;
  if (!setsAside(run) || (next.worktree !== null && !isBeside)) return null;
  const others = Object.values(state.tasks).filter((task) => isInPlace(state, plan, task));
  return others.find(({ id }) => isBeside || id !== next.id) ?? null;
}

function startsFor(state: State, run: RunState, plan: Plan, now: Instant): readonly Effect[] {
  const [first] = readyTasks(state, run, plan, now);
  const before = first === undefined ? null : inTheWay(state, run, plan, taskState(state, first.id));
  if (before !== null) return state.iterations.length > 0 ? [] : [effectOn("set-aside", before.id)];
  const taken = new Set(state.iterations.map((open) => open.lane));
  const lanes = Array.from({ length: run.settings.lanes }, (_, index) => index + 1).filter(
    (lane) => !taken.has(lane),
  );
  const left = run.settings.limits.maxIterations - run.iterations;
  // What a killed run with more lanes left open counts, whichever lane it has.
  const free = costsUnseen(state, run) ? 0 : run.settings.lanes - state.iterations.length;
  return readyTasks(state, run, plan, now)
    .slice(0, Math.max(0, Math.min(lanes.length, free, left)))
    .map((task, index) => {
      const isAside = taskState(state, task.id).work?.is === "aside";
      return isAside ? effectOn("bring-back", task.id) : iterate(task.id, lanes[index] ?? 1);
    });
}

function notices(state: State, run: RunState, now: Instant): readonly Effect[] {
  const notice = breakerChance(state, run, now) ?? budgetWarning(run);
  return notice === null ? [] : [{ kind: "record", key: "brake", task: null, events: [notice] }];
}

/** What became of a task stands in the log and not yet in the operator's file. */
function marks(state: State, plan: Plan): readonly Effect[] {
  return plan.tasks.flatMap(({ id }): readonly Effect[] => {
    const { completion, marked, storyEdits, worktree, merge } = taskState(state, id);
    // The mark of a task that has a branch of its own comes with the merge.
    const isUnmarked = completion !== null && !marked && worktree === null && merge === null;
    return isUnmarked || storyEdits !== null ? [{ kind: "mark-task", key: `mark:${id}`, task: id }] : [];
  });
}

/**
 * An inbox file is published while its question or block is open, and withdrawn when it is settled. All that publish have the same
 * key: two at a time would choose the same file.
 */
function letters(state: State): readonly Effect[] {
  return Object.values(state.tasks).flatMap((task): Effect[] => {
    const isBlocked = task.blockedReason !== null;
    const asks = !task.isSkipped && (isBlocked || task.question !== null);
    if (asks && task.inboxFile === null && (isBlocked || task.question?.answer == null)) {
      return [{ kind: "publish-inbox-file", key: "publish", task: task.id }];
    }
    const isOther = isBlocked && task.inboxFile?.kind === "decide";
    const settled = task.inboxFile !== null && (!asks || isOther);
    return settled ? [{ kind: "withdraw-inbox-file", key: `withdraw:${task.id}`, task: task.id }] : [];
  });
}

/** A person may come at any time; who looks for what they did asks the clock anyway. */
const SOME_DAY: Instant = Infinity;

/** Until a task becomes ready or a question answers itself, whichever is first; else until a person acts. */
function waitForTime(state: State, run: RunState, plan: Plan, now: Instant): Decision {
  const deadline = nextDeadline(state, run, plan, now);
  const times = run.isPaused ? [] : [deadline, nextRetryAt(state, run, plan, now)];
  const until = earliest(times.filter((at) => at !== null));
  const isForPerson = run.isPaused || (until === null && run.settings.stay === true);
  const wakeAt = isForPerson ? (timeIsOverAt(run) ?? SOME_DAY) : until;
  const isSaid = isForPerson ? run.waitsForPerson : until === null || run.waitingUntil === until;
  if (isSaid) return { effects: [], wakeAt };
  const why = run.isPaused
    ? PAUSED
    : until === null
      ? "everything that is open waits for you (ralph inbox)"
      : until === deadline
        ? "a question waits for its answer; then the default is taken"
        : waitReason(state, until);
  const waiting = { type: "wait.started", run: run.id, until, why } as const;
  return { effects: [{ kind: "record", key: "wait", task: null, events: [waiting] }], wakeAt };
}

const PAUSED = "paused (ralph resume goes on)";

function effectOn(kind: "take-default" | "set-aside" | "bring-back", task: string): Effect {
  return { kind, key: `${kind}:${task}`, task };
}

function iterate(task: string, lane: number): Effect {
  return { kind: "iterate", key: `iterate:${task}`, task, lane };
}

function doing(...effects: readonly Effect[]): Decision {
  return { effects, wakeAt: null };
}

/** How much more time a task gets that timeouts have blocked. */
const RAISE = 2;

/** Tasks that timeouts blocked in an earlier run are tried again with more time, but not for ever. */
function automaticUnblocks(state: State, run: RunState, plan: Plan): readonly Effect[] {
  if (run.stop !== null) return [];
  return tasksInScope(run, plan).flatMap((task): Effect[] => {
    const { timeoutBlock, autoUnblocks } = taskState(state, task.id);
    const isDue = timeoutBlock !== null && timeoutBlock.run !== run.id;
    const mayTry = autoUnblocks < run.settings.unblock.maxAutoAttempts;
    if (!isDue || !mayTry || statusOf(state, task) !== "blocked") return [];
    const timeoutMs = timeoutBlock.timeoutMs * RAISE;
    const reason = `blocked by timeouts; tried again with ${formatDuration(timeoutMs)}`;
    const unblocked = { type: "task.unblocked", task: task.id, reason, timeoutMs, by: "ralph" } as const;
    return [{ kind: "record", key: `unblock:${task.id}`, task: task.id, events: [unblocked] }];
  });
}
