import type { Event } from "../../core/events.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { protectionFor } from "../../core/guards/protection.ts";
import { taskState, type OpenIteration, type State } from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { reviewOf } from "../../core/review/story-cycle.ts";
import type { TaskId } from "../../core/plan/task.ts";
import type { AgentReport } from "../../core/report/agent-report.ts";
import type { Evidence } from "../../core/report/evidence.ts";
import { inspected } from "../ask-advisers.ts";
import type { Journal } from "../journal.ts";
import { openIteration } from "../open-iteration.ts";
import type { CollectRequest, Ports } from "../ports.ts";
import { workspaceFor } from "../workspace-for.ts";
import { watchRequest } from "../watch-request.ts";
import { storyFindings } from "./look-at-stories.ts";

/** Looks at what really changed. What the agent did to the plan and to letters is undone, or counts for nothing. */
export async function collectEvidence(
  effect: EffectOf<"collect-evidence">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { state } = journal;
  const open = openIteration(state, effect.iteration);
  const { footing } = taskState(state, open.task);
  const settings = state.run?.settings;
  const task = state.plan?.tasks.find(({ id }) => id === open.task);
  const about = { run: open.run, task: open.task, iteration: open.number };
  // In the review cycle a mark is part of the review state, and the verdict says what becomes of it.
  const isReviewed = settings !== undefined && reviewOf(settings, task) !== null;
  // An agent in a worktree has a copy of its own, which is not merged.
  const isBeside = taskState(state, open.task).worktree !== null;
  const marksTakenBack = isReviewed || isBeside ? [] : await ports.source.takeBackMarks(doneTasks(state));
  const tasksRemoved = isBeside ? [] : await removedTasks(ports, state);
  const evidence = await collectOnceMore(ports, state, open.task, {
    ...about,
    title: task?.title ?? open.task,
    hooks: settings?.git.hooks ?? false,
    commit: settings?.git.commit ?? "ralph",
    ...watchRequest(state, open, ports),
    taskBase: footing?.base ?? null,
    leftBeforeTask: footing?.leftovers ?? [],
    cited: reportOf(open)?.signals?.citations ?? [],
    written: reportOf(open)?.filesWritten ?? [],
    earlier: { from: footing?.first ?? null, paths: footing?.earlier.paths ?? [] },
    isProtected: settings === undefined ? () => false : protectionFor(settings, task, open.stage),
    pins: settings?.protect.pins ?? [],
  });
  // After the workspace is back where it belongs.
  const stories = await storyFindings(ports.source, state, open);
  const found = { ...evidence, marksTakenBack, tasksRemoved, ...(stories && { stories }) };
  await journal.record(
    { ...about, type: "evidence.collected", evidence: await inspected(ports, state, open, found) },
    ...(await disturbedLetters(ports, state)),
  );
}

/** An agent may have deleted its worktree, or another's: then it is made again, and what was committed is in it. */
async function collectOnceMore(
  ports: Ports,
  state: State,
  task: TaskId,
  request: CollectRequest,
): Promise<Evidence> {
  const { worktree } = taskState(state, task);
  try {
    return await workspaceFor(ports, state, task).collect(request);
  } catch (error) {
    const isGone = error instanceof RalphError && worktree !== null && ports.beside !== null;
    if (!isGone || !(await ports.beside.worktrees.isGone(task))) throw error;
    await ports.beside.worktrees.open(task, worktree.base);
    return workspaceFor(ports, state, task).collect(request);
  }
}

/** A plan that cannot be read now is the next look's business. */
async function removedTasks({ source }: Ports, state: State): Promise<readonly string[]> {
  const open = (state.plan?.tasks ?? []).filter((task) => statusOf(state, task) !== "done");
  try {
    const there = new Set((await source.observe()).tasks.map(({ id }) => id));
    return open.map(({ id }) => id).filter((id) => !there.has(id));
  } catch (error) {
    if (error instanceof RalphError) return [];
    throw error;
  }
}

/** Letters that changed while the agent ran; only what a person does while none runs is an answer. */
async function disturbedLetters(ports: Ports, state: State): Promise<readonly Event[]> {
  const events = Object.values(state.tasks).map(
    async ({ id, letter, question }): Promise<readonly Event[]> => {
      const isAnswered = question !== null && question.answer !== null;
      if (letter === null || isAnswered) return [];
      const sha256 = (await ports.letters.read(letter.file))?.sha256 ?? null;
      return sha256 === letter.sha256
        ? []
        : [{ type: "letter.disturbed", task: id, file: letter.file, sha256 }];
    },
  );
  return (await Promise.all(events)).flat();
}

function doneTasks(state: State): ReadonlySet<string> {
  const tasks = state.plan?.tasks ?? [];
  return new Set(tasks.filter((task) => statusOf(state, task) === "done").map((task) => task.id));
}

function reportOf({ phase }: OpenIteration): AgentReport | null {
  return phase.is === "ended" ? phase.report : null;
}
