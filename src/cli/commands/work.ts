import type { Command } from "commander";
import { knownMerging, knownWorktrees, shownDiff } from "../../compose-beside.ts";
import { hasLog, openProject, sourceOf, workspaceOf, type Project } from "../../compose.ts";
import { leftoversInPlace, taskState, type State, type TaskState } from "../../core/loop/state.ts";
import { lastUndoable, UNDOABLE_EVENTS, type Undoable } from "../../core/projections/verification.ts";
import { leftWork } from "../../engine/effects/set-aside.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { asArgument, DETACHED, few, mergedBranch } from "../../core/text.ts";
import type { FileMark } from "../../engine/parallel-ports.ts";
import type { TaskSource } from "../../engine/ports.ts";
import type { Act, CliContext } from "../commands.ts";
import { styleFor, type Style } from "../print/style.ts";
import { readState, withLog } from "../project-state.ts";
import { refuseWhileDriven, requirePerson, unknownTask } from "../require-person.ts";

export function defineDiff(command: Command, act: Act): void {
  command
    .argument("[task]", "the task; the last one that was worked on without")
    .option("--json", "print JSON")
    .action((task: string | undefined, flags: { json?: boolean }) =>
      act((context) => diff(task, flags, context)),
    );
}

/** Where the work of a task is, and between which commits. */
interface Shown {
  readonly is: "accepted" | "aside" | "under way";
  readonly where: string;
  readonly root: string;
  /** Oldest first; null at the end is the work tree. */
  readonly ranges: readonly { readonly from: string | null; readonly to: string | null }[];
}

async function diff(
  asked: string | undefined,
  flags: { readonly json?: boolean },
  context: CliContext,
): Promise<number> {
  const project = await openProject(context);
  const state = await readState(project);
  const task = asked ?? lastWorkedOn(state);
  if (task === null) {
    context.stderr.write("ralph: no task has been worked on yet\n");
    return 1;
  }
  const shown = await workOf(project, state, task);
  if (shown === null) {
    if (!Object.hasOwn(state.tasks, task)) throw await unknownTask(task, state, project);
    context.stderr.write(`ralph: ${task} has no work yet\n`);
    return 1;
  }
  const { root, ranges, is, where } = shown;
  const parts = await Promise.all(ranges.map((range) => shownDiff(root, range)));
  if (flags.json === true) {
    context.stdout.write(`${JSON.stringify({ task, is, ranges, patch: parts.join("") }, null, 2)}\n`);
    return 0;
  }
  const style = styleFor(context.stdout, context.env);
  context.stderr.write(`${task}: ${where}\n`);
  for (const part of parts)
    for (const line of part.split("\n")) context.stdout.write(`${coloured(line, style)}\n`);
  return 0;
}

function lastWorkedOn(state: State): string | null {
  const begun = Object.values(state.tasks).filter(({ footing }) => footing !== null);
  return begun.toSorted((a, b) => b.position - a.position)[0]?.id ?? null;
}

async function workOf(project: Project, state: State, task: string): Promise<Shown | null> {
  const { work, footing, worktree, completion } = taskState(state, task);
  if (work !== null && "aside" in work && work.is !== "returning") {
    if (!(await knownMerging(project).has(work.head)))
      throw new RalphError("git-failed", `git no longer has the work of ${task}, ${work.head}`, {
        hint: `have it begin anew: ralph discard ${task}`,
      });
    const ranges = [{ from: work.base, to: work.head }];
    return { is: "aside", where: `not accepted, on the branch ${work.aside}`, root: project.root, ranges };
  }
  const accepted = await lastUndoableOf(project, task);
  if (completion !== null && accepted !== null) {
    const where = `accepted${accepted.base === null ? "" : `, on ${accepted.base}`}`;
    return { is: "accepted", where, root: project.root, ranges: accepted.spans.toReversed() };
  }
  if (footing === null) return null;
  const root = worktree?.root ?? project.root;
  const where = completion === null ? "under way" : "accepted, on its way to the base";
  return { is: "under way", where, root, ranges: [{ from: footing.base, to: null }] };
}

function coloured(line: string, style: Style): string {
  if (/^(?:diff|index|---|\+\+\+) /.test(line)) return style.bold(line);
  if (line.startsWith("@@")) return style.dim(line);
  if (line.startsWith("+")) return style.good(line);
  return line.startsWith("-") ? style.bad(line) : line;
}

export function defineDiscard(command: Command, act: Act): void {
  command
    .argument("<task>", "the task whose work is not wanted")
    .action((task: string) => act((context) => discard(task, context)));
}

/** Drops work that was not accepted; the task begins anew when it goes on. */
async function discard(task: string, context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "discard work");
  await refuseWhileDriven(project);
  const state = await readState(project);
  const known = taskState(state, task);
  if (known.completion !== null)
    throw new RalphError("usage", `the work of ${task} is accepted`, {
      hint: `take it back: ralph undo ${asArgument(task)}`,
    });
  if (known.footing === null && known.work === null) {
    if (!Object.hasOwn(state.tasks, task)) throw await unknownTask(task, state, project);
    context.stderr.write(`ralph: ${task} has no work to discard\n`);
    return 1;
  }
  const backup = { run: state.run?.id ?? "none", iteration: state.lastIteration };
  const head = await dropWork(project, state, known, { backup, env: context.env });
  await withLog(project, (log) => log.append([{ type: "work.discarded", task, head }]));
  const kept = head === null ? "" : ` (git keeps it for now as ${head.slice(0, 7)})`;
  context.stdout.write(`Discarded the work of ${task}${kept}; it begins anew when it goes on.\n`);
  return 0;
}

interface Dropping {
  readonly backup: { readonly run: string; readonly iteration: number };
  readonly env: NodeJS.ProcessEnv;
}

/** Answers the commit that was dropped, if there was one. */
async function dropWork(
  project: Project,
  state: State,
  { id, work, footing, worktree }: TaskState,
  { backup, env }: Dropping,
): Promise<string | null> {
  const merging = knownMerging(project);
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
    const listed = (await knownWorktrees(project, env).list()).find(({ task }) => task === id);
    await knownWorktrees(project, env).remove(id, { force: true });
    if (listed?.head != null) await merging.drop(worktree.branch, listed.head, backup);
    return listed?.head ?? null;
  }
  if (footing === null || work?.is !== "in-place") throw notAlone(id, "nobody knows on which branch it is");
  if (footing.earlier.files > 0) throw notAlone(id, "others have committed in between");
  const workspace = workspaceOf(project);
  // Of an agent that was killed nobody knows what it left; of any other we do.
  const isKilled = state.iterations.some((open) => open.task === id);
  const theirs = isKilled ? [] : await workspace.dirtyPaths(hold, leftoversInPlace(state));
  const left = leftWork(id, state, { head: footing.head, branch: work.branch }, hold);
  const committed = await workspace.commitWork({ ...left, leaveAlone: [...left.leaveAlone, ...theirs] });
  if (committed.is === "moved") {
    const killed = "Ralph was killed while its agent worked, so nobody knows whose the last commits are";
    throw notAlone(id, isKilled ? killed : "somebody has moved the branch since");
  }
  const { head } = committed;
  if (head === null || head === footing.base) return null;
  await merging.drop("", head, backup);
  await takeOff(work.branch ?? DETACHED, head, footing.base);
  return head;
}

function notAlone(task: string, why: string): RalphError {
  return new RalphError("git-failed", `the work of ${task} cannot be taken off the branch: ${why}`, {
    hint: `see what it is: ralph diff ${asArgument(task)}; take it back by hand: git revert`,
  });
}

export function defineUndo(command: Command, act: Act): void {
  command
    .argument("[task]", "the task; the last accepted one without")
    .option("--dry-run", "only say what would be done")
    .action((task: string | undefined, flags: { dryRun?: boolean }) =>
      act((context) => undo(task, flags.dryRun === true, context)),
    );
}

/** Takes accepted work back by a commit on top: of the named task, else what was accepted last. */
async function undo(asked: string | undefined, isDry: boolean, context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "take accepted work back");
  if (!isDry && project.queue === null) await refuseWhileDriven(project);
  const last = await lastUndoableOf(project, asked ?? null);
  if (last === null) {
    const state = await readState(project);
    if (asked !== undefined && !Object.hasOwn(state.tasks, asked))
      throw await unknownTask(asked, state, project);
    const what = asked === undefined ? "no accepted task is left" : `${asked} has no accepted work`;
    context.stderr.write(`ralph: nothing to undo: ${what} that git could take back\n`);
    return 1;
  }
  const { run, task, branch, spans } = last;
  const base = requireBranch(last);
  if (project.queue !== null) throw notHere(last, base);
  const list = await listOf(project, last);
  const prepared = await prepareUndo(project, last, base, list);
  if (isDry) {
    const { from, to } = prepared;
    context.stdout.write(`Would undo ${task} on ${base} by one commit, with these changes:\n`);
    context.stdout.write(await shownDiff(project.root, { from, to }));
    return 0;
  }
  await moveBase(project, last, base, prepared);
  const { to } = prepared;
  // A list that git does not know is unmarked where it lies.
  if (list !== null && !list.isInGit) await list.source.unmark?.(task);
  await withLog(project, (log) => log.append([{ type: "task.undone", run, task, to }]));
  const where = branch === null ? (spans[0]?.to ?? "").slice(0, 7) : mergedBranch(branch);
  context.stdout.write(`Undid ${task} on ${base} by ${to.slice(0, 7)}; its work is still there: ${where}\n`);
  // Others have read that it is done, so a person says why it is not.
  if (last.source?.kind === "github")
    context.stdout.write(
      `Its issue is still closed: gh issue reopen ${task.replace(/^\D+/, "")} --comment "…"\n`,
    );
  return 0;
}

async function lastUndoableOf(project: Project, task: string | null): Promise<Undoable | null> {
  if (!hasLog(project)) return null;
  return withLog(project, async (log) => lastUndoable(await log.read(0, { types: UNDOABLE_EVENTS }), task));
}

/** Workers bring their work to the remote's base, and this clone may be behind it. */
function notHere({ task, spans }: Undoable, base: string): RalphError {
  const commit = (spans[0]?.to ?? "").slice(0, 12);
  return new RalphError("usage", `${task} is on the base of the remote, which undo does not reach`, {
    hint: `take it back by hand: git switch ${asArgument(base)} && git pull && git revert ${commit} && git push; then: ralph reset --task ${asArgument(task)}`,
  });
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

interface ListToUnmark {
  readonly source: TaskSource;
  readonly path: string;
  /** The commit that takes the work back takes the mark along. */
  isInGit: boolean;
}

/** Where the task is marked, if that is a file. */
async function listOf(project: Project, { source: identity }: Undoable): Promise<ListToUnmark | null> {
  if (identity === null || identity.path === null) return null;
  const { path, kind } = identity;
  if (kind === "goal" || kind === "github" || kind === "plugin") return null;
  const { source } = await sourceOf(project, { is: "file", path, base: project.root, kind });
  return { source, path, isInGit: false };
}
