import { lastUndoable, UNDOABLE_EVENTS, type Undoable } from "../../core/projections/verification.ts";
import { few, mergedBranch } from "../../core/text.ts";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { columns } from "../print/style.ts";
import { readState, withLog } from "../project-state.ts";
import { requirePerson } from "../require-person.ts";
import { knownMerging, knownWorktrees } from "../../compose-beside.ts";
import { driverOf, hasLog, openProject, sourceOf, type Project } from "../../compose.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { FileMark, WorktreeEntry } from "../../engine/parallel-ports.ts";

interface Flags {
  readonly clean?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  command
    .option("--clean", "remove those whose work is merged")
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => worktrees(flags, context)));
}

async function worktrees(flags: Flags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const known = knownWorktrees(project, context.env);
  const state = await readState(project);
  if (flags.clean === true) {
    requirePerson(project, context.env, "remove worktrees");
    for (const { task } of await known.list()) if (isMerged(state, task)) await known.remove(task);
  }
  const left = await known.list();
  const entries = left.map((one) => shown(one, state));
  if (flags.json === true) context.stdout.write(`${JSON.stringify(entries, null, 2)}\n`);
  else if (left.length === 0) context.stdout.write("No worktrees.\n");
  else for (const line of columns(left.map((one) => rowOf(one, state)))) context.stdout.write(`${line}\n`);
  return 0;
}

function isMerged(state: State, task: string): boolean {
  return taskState(state, task).merge?.is === "merged";
}

function rowOf(entry: WorktreeEntry, state: State): readonly string[] {
  const words = [
    isMerged(state, entry.task) ? "merged" : "not merged",
    ...(entry.isDirty ? ["uncommitted work"] : []),
  ];
  return [entry.task, entry.branch, words.join(", "), entry.root];
}

function shown({ task, branch, root, head, isDirty }: WorktreeEntry, state: State): Record<string, unknown> {
  return { task, branch, root, head, dirty: isDirty, merged: isMerged(state, task) };
}

export function defineUndo(command: Command, act: Act): void {
  command.action(() => act((context) => undo(context)));
}

/** Takes the last merge, or the last task accepted in place, back by a commit on top. */
async function undo(context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "take accepted work back");
  if (project.queue === null && driverOf(project) !== null)
    throw new RalphError("already-running", "a run is under way", { hint: "end it first: ralph stop" });
  const last = hasLog(project)
    ? await withLog(project, async (log) => lastUndoable(await log.read(0, { types: UNDOABLE_EVENTS })))
    : null;
  if (last === null) {
    context.stderr.write("ralph: nothing to undo: no accepted task is left that git could take back\n");
    return 1;
  }
  const { run, task, branch, spans } = last;
  const base = requireBranch(last);
  if (project.queue !== null) throw notHere(last, base);
  const to = await takeBack(project, last, base);
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

/** Workers bring their work to the remote's base, and this clone may be behind it. */
function notHere({ task, spans }: Undoable, base: string): RalphError {
  const commit = (spans[0]?.to ?? "").slice(0, 12);
  return new RalphError("usage", `${task} is on the base of the remote, which undo does not reach`, {
    hint: `take it back by hand: git switch ${base} && git pull && git revert ${commit} && git push; then: ralph reset --task ${task}`,
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

async function takeBack(project: Project, last: Undoable, base: string): Promise<string> {
  const { run, task, iteration, spans, source } = last;
  const merging = knownMerging(project);
  const mark = await unmarking(project, task, source);
  const prepared = await merging.revert({ run, task, iteration, title: task, base, spans, mark });
  if (prepared.is === "conflict")
    throw new RalphError(
      "git-failed",
      `${task} cannot be taken back: later work changed ${few(prepared.paths)}`,
      { hint: `do it by hand: git revert ${spans[0]?.to.slice(0, 12) ?? ""}` },
    );
  if (prepared.is === "nothing") return prepared.from;
  const advanced = await merging.advance({ run, iteration, base, from: prepared.from, to: prepared.to });
  if (advanced.is === "moved") return prepared.to;
  const why = advanced.is === "waits" ? advanced.why : "somebody else has moved it meanwhile";
  throw new RalphError("git-failed", `${base} was not moved: ${why}`, {
    hint: "settle that, then: ralph undo",
  });
}

/** The task's own mark goes with it. */
async function unmarking(
  project: Project,
  task: string,
  identity: Undoable["source"],
): Promise<FileMark | null> {
  if (identity === null || identity.path === null) return null;
  if (identity.kind === "goal" || identity.kind === "github") return null;
  const { path, kind } = identity;
  if (kind === "plugin") return null;
  const { source } = await sourceOf(project, { is: "file", path, base: project.root, kind });
  return { path, apply: (file) => source.markedIn(file, task, false) };
}
