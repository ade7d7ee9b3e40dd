import type { EventOf, Recorded } from "../events.ts";
import { NOTHING_SPENT } from "../limits/budget.ts";
import { showsMarks, type Plan, type TaskId } from "../plan/task.ts";
import type { Instant } from "../time.ts";
import { mergesTriedAgain } from "./evolve-worktrees.ts";
import { newTask, taskState, type RunState, type State, type TaskState } from "./state.ts";

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
      lockedOut: null,
      waitingUntil: null,
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
      lockedOut: null,
      budgetReached: null,
      // Whoever started it again wants to be told, too.
      waitingUntil: null,
    },
    tasks: mergesTriedAgain(state.tasks),
    iterations: orphanRunning(state.iterations),
  };
}

/** How long processes have worked on it, by then; nobody did while it was dead. */
export function usedMsOf({ usedMs, activeSince }: RunState, at: Instant): number {
  return usedMs + Math.max(0, at - activeSince);
}

function runEnded(state: State, event: Recorded<EventOf<"run.ended">>): State {
  if (state.run?.id !== event.run) return state;
  const end = { outcome: event.outcome, reason: event.reason, at: event.at };
  return { ...state, run: { ...state.run, waitingUntil: null, end } };
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
    const reopened = task.completion !== null && (untickedByOperator || askedForAgain);
    if (reopened) return [{ ...newTask(task.id), position: task.position }];
    // A base that is not checked out here shows its marks later, or never.
    return [{ ...task, marked: task.marked || (task.completion !== null && now?.done === true) }];
  });
  const seen = new Set(kept.map(({ id }) => id));
  const added = plan.tasks.filter(({ id }) => !seen.has(id)).map(({ id }) => taskState(state, id));
  return Object.fromEntries([...kept, ...added].map((task) => [task.id, task]));
}

function orphanRunning(iterations: State["iterations"]): State["iterations"] {
  return iterations.map((open) => (open.phase.is === "running" ? { ...open, orphaned: true } : open));
}
