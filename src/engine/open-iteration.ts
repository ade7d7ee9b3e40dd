import { plainTask, type Task, type TaskId } from "../core/plan.ts";
import {
  leftoversOf,
  taskState,
  type OpenIteration,
  type RunState,
  type State,
  type TaskState,
} from "../core/state.ts";
import type { Journal } from "./journal.ts";
import type { CommitRequest, Ports, Snapshot, WatchRequest, Workspace } from "./ports.ts";

/** What every effect is performed with. */
export interface Performing {
  readonly ports: Ports;
  readonly journal: Journal;
  /** Aborted when the effect is no longer wanted. */
  readonly signal: AbortSignal;
}

/** An open iteration, and what effects look up about it. */
export interface Iteration {
  readonly open: OpenIteration;
  readonly about: { readonly run: string; readonly task: TaskId; readonly iteration: number };
  readonly state: State;
  readonly run: RunState;
  readonly task: Task;
  readonly known: TaskState;
  readonly workspace: Workspace;
}

/** The iteration that an effect is about; it is open, or the effect would not have been asked for. */
export function openIteration({ ports, journal }: Omit<Performing, "signal">, number: number): Iteration {
  const { state } = journal;
  const open = state.iterations.find((iteration) => iteration.number === number);
  if (open === undefined) throw new Error(`iteration ${number} is not open`);
  const { task: id } = open;
  return {
    open,
    about: { run: open.run, task: id, iteration: number },
    state,
    run: theRun(state),
    task: plannedTask(state, id),
    known: taskState(state, id),
    workspace: workspaceFor(ports, state, id),
  };
}

/** There is one, or no effect would have been asked for. */
export function theRun({ run }: State): RunState {
  if (run === null) throw new Error("there is no run");
  return run;
}

export function plannedTask({ plan }: State, id: TaskId): Task {
  return plan?.tasks.find((task) => task.id === id) ?? plainTask({ id, title: id });
}

/** Where a task is worked on. */
export function workspaceFor(ports: Ports, state: State, task: TaskId): Workspace {
  const { worktree } = taskState(state, task);
  if (worktree === null || ports.parallel === null) return ports.workspace;
  return ports.parallel.workspaceAt(worktree.root);
}

/** From where on, and without what, the work of a task counts. */
export function watchRequest(
  state: State,
  id: TaskId,
  from: Snapshot,
  lists: readonly string[],
): WatchRequest {
  const { byAgents: leftBefore, byGates: leftByGates, gatesRan } = leftoversOf(state, id);
  const leaveAlone = taskState(state, id).worktree?.copied ?? state.run?.settings.leaveAlone ?? [];
  return { from, ignore: lists, leaveAlone, leftBefore, leftByGates, gatesRan };
}

/** The operator's lists: they stay as they are, whatever agents do and whatever commits come and go. */
export function listsOf({ source }: Pick<Ports, "source">): readonly string[] {
  return source.files.filter(({ isAgents }) => !isAgents).map(({ path }) => path);
}

/** How our commits for a task are named. */
export function commitRequest(state: State, task: TaskId, iteration: number): CommitRequest {
  const { id: run, settings } = theRun(state);
  const { title } = plannedTask(state, task);
  return { run, task, iteration, title, hooks: settings.git.hooks };
}
