import { plainTask, type Task, type TaskId, type Plan } from "../core/plan.ts";
import {
  leftoversOf,
  taskState,
  type OpenIteration,
  type RunState,
  type State,
  type TaskState,
  isOpen,
} from "../core/state.ts";
import type { Journal } from "./journal.ts";
import type { CommitRequest, Ports, Snapshot, WatchRequest, Workspace } from "./ports.ts";
import type { Event } from "../core/events.ts";
import { readAnswer, blockedFileText, decideFileText } from "../core/prompt/inbox-file-text.ts";
import { RalphError } from "../core/errors.ts";
import type { EffectOf } from "../core/loop/effects.ts";
import { defaultAnswer } from "../core/loop/outcome.ts";
import { decide } from "../core/loop/decide.ts";

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

/**
 * What people did since we last looked: edits of the task source, answers and deletions of inbox files. Asked
 * before every act that rests on them, while no agent runs that could have done it.
 */
export async function lookAround(ports: Ports, state: State): Promise<readonly Event[]> {
  if (!isOpen(state.run)) return [];
  const plan = await observed(ports, state);
  const isSame = plan === state.plan || JSON.stringify(plan) === JSON.stringify(state.plan);
  const news: Event[] = isSame ? [] : [{ type: "tasks.observed", run: state.run.id, plan }];
  // Of an agent that is at work, or was until now, nobody knows yet what it did to them.
  const isQuiet = state.iterations.every(({ phase }) => phase.is !== "running" && phase.is !== "ended");
  const asking = isQuiet ? Object.values(state.tasks) : [];
  const answers = await Promise.all(asking.map((task) => readInboxFile(ports, task)));
  return [...news, ...answers.flat()];
}

/**
 * A person may be in the middle of editing, or the place where the tasks are does not answer: a plan that cannot be
 * used now leaves the one before in force.
 */
async function observed(ports: Ports, { plan }: State): Promise<Plan> {
  try {
    return await ports.source.observe();
  } catch (error) {
    const isPassing = error instanceof RalphError && ["bad-tasks", "unreachable"].includes(error.code);
    if (plan === null || !isPassing) throw error;
    return plan;
  }
}

async function readInboxFile(ports: Ports, task: TaskState): Promise<readonly Event[]> {
  const { inboxFile } = task;
  if (inboxFile === null) return [];
  const now = await ports.inboxFiles.read(inboxFile.file);
  if (inboxFile.kind === "blocked") {
    if (now !== null || task.blockedReason === null) return [];
    const reason = `${inboxFile.file} was deleted`;
    return [{ type: "task.unblocked", task: task.id, reason, timeoutMs: null, by: "person" }];
  }
  if (task.question === null || task.question.answer !== null || now === null) return [];
  const answer = now.sha256 === inboxFile.sha256 ? "" : readAnswer(now.text);
  return answer === "" ? [] : [{ type: "question.answered", task: task.id, answer, by: "person" }];
}

/** The first look of a run. */
export async function observe(_effect: EffectOf<"observe">, { ports, journal }: Performing): Promise<void> {
  await journal.record(...(await lookAround(ports, journal.state)));
}

/** Answers a question with its default, unless a last look shows that a person has answered. */
export async function takeDefault(
  { task }: EffectOf<"take-default">,
  { ports, journal }: Performing,
): Promise<void> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  await journal.admit((state) => {
    const answered = defaultAnswer(state, task, ports.clock.now());
    return answered && [answered];
  });
}

/** Writes the inbox file that asks the operator. */
export async function publishInboxFile(
  effect: EffectOf<"publish-inbox-file">,
  { ports, journal }: Performing,
): Promise<void> {
  const { state } = journal;
  const task = taskState(state, effect.task);
  const kind = task.blockedReason === null ? "decide" : "blocked";
  const alone = `${kind}.txt`;
  const isTaken = Object.values(state.tasks).some(
    ({ id, inboxFile }) => id !== task.id && inboxFile?.file === alone,
  );
  const file = isTaken ? `${kind}-${task.id.replaceAll(/[^\w.-]/g, "_")}.txt` : alone;
  const text =
    kind === "blocked" ? blockedFileText(task, state.lastIteration, ports.clock.now()) : decideFileText(task);
  const sha256 = await ports.inboxFiles.publish(file, text);
  await journal.record({ type: "letter.published", task: task.id, kind, file, sha256 });
}

export async function withdrawInboxFile(
  { task }: EffectOf<"withdraw-inbox-file">,
  { ports, journal }: Performing,
): Promise<void> {
  const { inboxFile } = taskState(journal.state, task);
  if (inboxFile === null) return;
  await ports.inboxFiles.withdraw(inboxFile.file);
  await journal.record({ type: "letter.withdrawn", task, file: inboxFile.file });
}

/** Ends the run, unless a last look shows that a person has given us something to do. */
export async function endRun(_effect: EffectOf<"end-run">, { ports, journal }: Performing): Promise<void> {
  const news = await lookAround(ports, journal.state);
  if (news.length > 0) return journal.record(...news);
  await journal.admit((state) => {
    const ending = decide(state, ports.clock.now()).effects.find((wanted) => wanted.kind === "end-run");
    if (!isOpen(state.run) || ending === undefined) return null;
    return [{ type: "run.ended", run: state.run.id, outcome: ending.outcome, reason: ending.reason }];
  });
}
