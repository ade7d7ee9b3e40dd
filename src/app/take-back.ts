import { knownMerging, knownWorktrees, shownDiff, workspaceOf } from "./git-parts.ts";
import { type Project, refuseWhileDriven } from "./project.ts";
import { hasLog, readState, unknownTask, withLog } from "./project-log.ts";
import { sourceOf } from "./task-lists.ts";
import type { Acted } from "../core/loop/operator-act.ts";
import { leftoversInPlace, taskState, type State, type TaskState } from "../core/state.ts";
import { lastUndoable, UNDOABLE_EVENTS, type Undoable } from "../core/views/verification.ts";
import { leftWork } from "../engine/effects/set-aside.ts";
import { RalphError } from "../core/errors.ts";
import { asArgument, DETACHED, few, mergedBranch } from "../core/text.ts";
import type { FileMark } from "../engine/parallel-ports.ts";
import type { TaskWork } from "./watch-project.ts";

/** Drops work that was not accepted; the task begins anew when it goes on. */
export async function discard(project: Project, task: string): Promise<Acted> {
  await refuseWhileDriven(project);
  const state = await readState(project);
  const known = taskState(state, task);
  if (known.completion !== null)
    throw new RalphError("usage", `the work of ${task} is accepted`, {
      hint: `take it back: ralph undo ${asArgument(task)}`,
    });
  if (known.workBase === null && known.work === null) {
    if (!Object.hasOwn(state.tasks, task)) throw unknownTask(task, Object.keys(state.tasks));
    return { is: "refused", why: `${task} has no work to discard`, isMoot: true };
  }
  const head = await dropWork(project, state, known);
  await withLog(project, (log) => log.append([{ type: "work.discarded", task, head }]));
  const kept = head === null ? "" : ` (git keeps it for now as ${head.slice(0, 7)})`;
  return { is: "done", said: `Discarded the work of ${task}${kept}; it begins anew when it goes on.` };
}

/** Answers the commit that was dropped, if there was one. */
async function dropWork(
  project: Project,
  state: State,
  { id, work, workBase, worktree }: TaskState,
): Promise<string | null> {
  const merging = knownMerging(project);
  const backup = { run: state.run?.id ?? "none", iteration: state.lastIteration };
  const hold = state.plan?.source.path == null ? [] : [state.plan.source.path];
  const takeOff = async (branch: string, from: string, to: string | null): Promise<void> => {
    const moved = await merging.set({ branch, from, to, hold });
    if (moved.is === "stays") throw notAlone(id, `${moved.why} ${few(moved.paths)}`.trim());
  };
  if (work !== null && "aside" in work) {
    // A run that was killed may have moved the branch, or half of the files.
    if (work.is === "leaving") await takeOff(work.branch, work.head, work.base);
    const isBack = work.is === "returning" && worktree === null && (await merging.set({ ...work, hold })).is;
    if (isBack === "moved" && work.is === "returning") await takeOff(work.branch, work.to, work.from);
    const isHere = await merging.has(work.head);
    await merging.drop(work.aside, work.head, backup);
    return isHere ? work.head : null;
  }
  if (worktree !== null) {
    const listed = (await knownWorktrees(project).list()).find(({ task }) => task === id);
    await knownWorktrees(project).remove(id, { force: true });
    if (listed?.head != null) await merging.drop(worktree.branch, listed.head, backup);
    return listed?.head ?? null;
  }
  if (workBase === null || work?.is !== "in-place") throw notAlone(id, "nobody knows on which branch it is");
  if (workBase.earlier.files > 0) throw notAlone(id, "others have committed in between");
  const workspace = workspaceOf(project);
  // Of an agent that was killed nobody knows what it left; of any other we do.
  const isKilled = state.iterations.some((open) => open.task === id);
  const theirs = isKilled ? [] : await workspace.dirtyPaths(hold, leftoversInPlace(state));
  const left = leftWork(id, state, { head: workBase.head, branch: work.branch }, hold);
  const committed = await workspace.commitWork({ ...left, leaveAlone: [...left.leaveAlone, ...theirs] });
  if (committed.is === "moved") {
    const killed = "Ralph was killed while its agent worked, so nobody knows whose the last commits are";
    throw notAlone(id, isKilled ? killed : "somebody has moved the branch since");
  }
  const { head } = committed;
  if (head === null || head === workBase.base) return null;
  await merging.drop("", head, backup);
  await takeOff(work.branch ?? DETACHED, head, workBase.base);
  return head;
}

function notAlone(task: string, why: string): RalphError {
  return new RalphError("git-failed", `the work of ${task} cannot be taken off the branch: ${why}`, {
    hint: `see what it is: ralph diff ${asArgument(task)}; take it back by hand: git revert`,
  });
}

export interface UndoOptions {
  /** Only says what would be done. */
  readonly isDry?: boolean;
}

/** Takes accepted work back by a commit on top: of the named task, else what was accepted last. */
export async function undo(
  project: Project,
  asked: string | null,
  { isDry = false }: UndoOptions,
): Promise<Acted> {
  if (!isDry && project.queue === null) await refuseWhileDriven(project);
  const last = await lastUndoableOf(project, asked);
  if (last === null) {
    const state = await readState(project);
    if (asked !== null && !Object.hasOwn(state.tasks, asked))
      throw unknownTask(asked, Object.keys(state.tasks));
    const what = asked === null ? "no accepted task is left" : `${asked} has no accepted work`;
    return { is: "refused", why: `nothing to undo: ${what} that git could take back`, isMoot: true };
  }
  const { run, task, branch, spans } = last;
  const base = requireBranch(last);
  if (project.queue !== null) {
    // Workers bring their work to the remote's base, and this clone may be behind it.
    const commit = (spans[0]?.to ?? "").slice(0, 12);
    throw new RalphError("usage", `${task} is on the base of the remote, which undo does not reach`, {
      hint: `take it back by hand: git switch ${asArgument(base)} && git pull && git revert ${commit} && git push; then: ralph reset --task ${asArgument(task)}`,
    });
  }
  const list = await listOf(project, last);
  const prepared = await prepareUndo(project, last, base, list);
  const { from, to } = prepared;
  if (isDry) {
    const patch = await shownDiff(project.root, { from, to });
    return { is: "done", said: `Would undo ${task} on ${base} by one commit, with these changes:\n${patch}` };
  }
  await moveBase(project, last, base, prepared);
  // A list that git does not know is unmarked where it lies.
  if (list !== null && !list.isInGit) await list.source.unmark?.(task);
  await withLog(project, (log) => log.append([{ type: "task.undone", run, task, to }]));
  const where = branch === null ? (spans[0]?.to ?? "").slice(0, 7) : mergedBranch(branch);
  const said = `Undid ${task} on ${base} by ${to.slice(0, 7)}; its work is still there: ${where}`;
  if (last.source?.kind !== "github") return { is: "done", said };
  // Others have read that it is done, so a person says why it is not.
  const issue = task.replace(/^\D+/, "");
  return { is: "done", said: `${said}\nIts issue is still closed: gh issue reopen ${issue} --comment "…"` };
}

export async function lastUndoableOf(project: Project, task: string | null): Promise<Undoable | null> {
  if (!hasLog(project)) return null;
  return withLog(project, async (log) => lastUndoable(await log.read(0, { types: UNDOABLE_EVENTS }), task));
}

function requireBranch({ task, base, spans }: Undoable): string {
  const [latest] = spans;
  if (latest === undefined)
    throw new RalphError("git-failed", `${task} was accepted without a commit, so git cannot take it back`, {
      hint: "take it back by hand, then: ralph reset --task",
    });
  if (base !== null) return base;
  throw new RalphError("git-failed", `${task} was accepted on no branch: HEAD was detached`, {
    hint: `do it by hand: git revert ${latest.from === null ? "" : `${latest.from.slice(0, 12)}..`}${latest.to.slice(0, 12)}`,
  });
}

/** Nothing has moved yet. */
async function prepareUndo(
  project: Project,
  { run, task, iteration, spans }: Undoable,
  base: string,
  list: ListToUnmark | null,
): Promise<{ readonly from: string; readonly to: string }> {
  const apply = (file: Buffer): Buffer => {
    if (list !== null) list.isInGit = true;
    return list?.source.markedIn(file, task, false) ?? file;
  };
  const mark: FileMark | null = list && { path: list.path, apply };
  const request = { run, task, iteration, title: task, base, spans, mark };
  const prepared = await knownMerging(project).revert(request);
  if (prepared.is === "conflict")
    throw new RalphError(
      "git-failed",
      `${task} cannot be taken back: later work changed ${few(prepared.paths)}`,
      { hint: `do it by hand: git revert ${spans[0]?.to.slice(0, 12) ?? ""}` },
    );
  return { from: prepared.from, to: prepared.is === "nothing" ? prepared.from : prepared.to };
}

async function moveBase(
  project: Project,
  { run, task, iteration }: Undoable,
  base: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  if (from === to) return;
  const advanced = await knownMerging(project).advance({ run, iteration, base, from, to });
  if (advanced.is === "moved") return;
  const where = advanced.is !== "waits" || advanced.paths.length === 0 ? "" : ` (${few(advanced.paths)})`;
  const why = advanced.is === "waits" ? advanced.why + where : "somebody else has moved it meanwhile";
  throw new RalphError("git-failed", `${base} was not moved: ${why}`, {
    hint: `settle that, then: ralph undo ${asArgument(task)}`,
  });
}

type ListToUnmark = NonNullable<Awaited<ReturnType<typeof listOf>>>;

/** Where the task is marked, if that is a file. */
async function listOf(project: Project, { source: identity }: Undoable) {
  if (identity === null || identity.path === null) return null;
  const { path, kind } = identity;
  if (kind === "goal" || kind === "github" || kind === "plugin") return null;
  const { source } = sourceOf(project, { is: "file", path, base: project.root, kind });
  // In git: the commit that takes the work back takes the mark along.
  return { source, path, isInGit: false };
}

/** Where the work of a task is; null where nothing was done for it yet. */
export async function taskWork(project: Project, state: State, task: string): Promise<TaskWork | null> {
  const { work, workBase, worktree, completion, question } = taskState(state, task);
  if (work !== null && "aside" in work && work.is !== "returning") {
    if (!(await knownMerging(project).has(work.head)))
      throw new RalphError("git-failed", `git no longer has the work of ${task}, ${work.head}`, {
        hint: `have it begin anew: ralph discard ${asArgument(task)}`,
      });
    const ranges = [{ from: work.base, to: work.head }];
    const stands = question?.acceptance?.isApproval === true ? "waits for your approval" : "not accepted";
    return { is: "aside", where: `${stands}, on the branch ${work.aside}`, root: project.root, ranges };
  }
  const accepted = await lastUndoableOf(project, task);
  if (completion !== null && accepted !== null) {
    const where = `accepted${accepted.base === null ? "" : `, on ${accepted.base}`}`;
    return { is: "accepted", where, root: project.root, ranges: accepted.spans.toReversed() };
  }
  if (workBase === null) return null;
  const root = worktree?.root ?? project.root;
  const where = completion === null ? "under way" : "accepted, on its way to the base";
  return { is: "under way", where, root, ranges: [{ from: workBase.base, to: null }] };
}
