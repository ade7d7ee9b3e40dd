import { knownMerging, shownDiff } from "../../app/git-parts.ts";
import { type Project, openProject } from "../../app/project.ts";
import { readState, unknownTask } from "../../app/project-log.ts";
import type { Style } from "../../core/text.ts";
import type { Command } from "commander";
import { act as actOn, type ProjectAct } from "../../app/operator.ts";
import { lastUndoableOf } from "../../app/take-back.ts";
import { RalphError } from "../../core/errors.ts";
import { taskState, type State } from "../../core/state.ts";
import { tell, type Act, type CliContext } from "../commands.ts";

export function defineDiff(command: Command, act: Act): void {
  command
    .argument("[task]", "the task; the last one that was worked on without")
    .option("--json", "print JSON")
    .action(act(diff));
}

/** Where the work of a task is, and between which commits. */
interface Shown {
  readonly is: "accepted" | "aside" | "under way";
  readonly where: string;
  readonly root: string;
  /** Oldest first; null at the end is the work tree. */
  readonly ranges: readonly { readonly from: string | null; readonly to: string | null }[];
}

async function diff(context: CliContext, asked: string | undefined): Promise<number> {
  const { stderr, style } = context;
  const project = await openProject(context);
  const state = await readState(project);
  const begun = Object.values(state.tasks).filter(({ workBase }) => workBase !== null);
  const task = asked ?? begun.toSorted((a, b) => b.position - a.position)[0]?.id ?? null;
  if (task === null) {
    context.say("no task has been worked on yet");
    return 1;
  }
  const shown = await workOf(project, state, task);
  if (shown === null) {
    if (!Object.hasOwn(state.tasks, task)) throw await unknownTask(task, state, project);
    context.say(`${task} has no work yet`);
    return 1;
  }
  const { root, ranges, is, where } = shown;
  const parts = await Promise.all(ranges.map((range) => shownDiff(root, range)));
  if (!context.json) stderr.write(`${task}: ${where}\n`);
  return tell(context, { task, is, ranges, patch: parts.join("") }, () =>
    parts.flatMap((part) => part.split("\n")).map((line) => coloured(line, style)),
  );
}

async function workOf(project: Project, state: State, task: string): Promise<Shown | null> {
  const { work, workBase, worktree, completion } = taskState(state, task);
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
  if (workBase === null) return null;
  const root = worktree?.root ?? project.root;
  const where = completion === null ? "under way" : "accepted, on its way to the base";
  return { is: "under way", where, root, ranges: [{ from: workBase.base, to: null }] };
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
    .action(act((context, task: string) => takeBack(context, { do: "discard", task })));
}

export function defineUndo(command: Command, act: Act): void {
  command
    .argument("[task]", "the task; the last accepted one without")
    .option("--dry-run", "only say what would be done")
    .action(
      act((context, task: string | undefined, { dryRun = false }: { dryRun?: boolean }) =>
        takeBack(context, { do: "undo", task: task ?? null, isDry: dryRun }),
      ),
    );
}

async function takeBack(context: CliContext, wanted: ProjectAct): Promise<number> {
  const acted = await actOn(await openProject(context), wanted);
  if (acted.is === "done") context.print(acted.said.replace(/\n$/, ""));
  else context.say(acted.why);
  return acted.is === "done" ? 0 : 1;
}
