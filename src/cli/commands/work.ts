import { shownDiff } from "../../app/git-parts.ts";
import { openProject } from "../../app/project.ts";
import { meantTask, readState, unknownTask } from "../../app/project-log.ts";
import type { Style } from "../../core/text.ts";
import type { Command } from "commander";
import { act as actOn } from "../../app/operator.ts";
import { taskWork } from "../../app/task-work.ts";
import type { Acted } from "../../core/loop/operator-act.ts";
import type { State } from "../../core/state.ts";
import type { Act, CliContext } from "../commands.ts";
import { styleFor } from "../print/style.ts";

export function defineDiff(command: Command, act: Act): void {
  command
    .argument("[task]", "the task; the last one that was worked on without")
    .option("--stat", "only the files, with the lines added and removed")
    .option("--json", "print JSON")
    .action((task: string | undefined, flags: DiffFlags) => act((context) => showDiff(task, flags, context)));
}

interface DiffFlags {
  readonly stat?: boolean;
  readonly json?: boolean;
}

export async function showDiff(
  asked: string | undefined,
  flags: DiffFlags,
  context: CliContext,
): Promise<number> {
  const project = await openProject(context);
  const state = await readState(project);
  const task = asked === undefined ? lastWorkedOn(state) : await meantTask(asked, state, project);
  if (task === null) {
    context.stderr.write("ralph: no task has been worked on yet\n");
    return 1;
  }
  const shown = await taskWork(project, state, task);
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
  if (flags.stat === true) for (const line of statOf(parts.join("\n"))) context.stdout.write(`${line}\n`);
  for (const part of flags.stat === true ? [] : parts)
    for (const line of part.split("\n")) context.stdout.write(`${coloured(line, style)}\n`);
  return 0;
}

/** A line for each file of a patch: what was added and removed. */
function statOf(patch: string): readonly string[] {
  return patch.split(/^diff --git /m).flatMap((file) => {
    const path = /^\+\+\+ b\/(.*)$/m.exec(file)?.[1] ?? /^"?a\/(.*?)"? "?b\//.exec(file)?.[1];
    if (path === undefined) return [];
    const count = (sign: RegExp): number => file.match(sign)?.length ?? 0;
    return [`  ${path}  +${count(/^\+(?!\+\+ )/gm)} -${count(/^-(?!-- )/gm)}`];
  });
}

function lastWorkedOn(state: State): string | null {
  const begun = Object.values(state.tasks).filter(({ workBase }) => workBase !== null);
  return begun.toSorted((a, b) => b.position - a.position)[0]?.id ?? null;
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
    .action((task: string) =>
      act(async (context) => tell(await actOn(await openProject(context), { do: "discard", task }), context)),
    );
}

export function defineUndo(command: Command, act: Act): void {
  command
    .argument("[task]", "the task; the last accepted one without")
    .option("--dry-run", "only say what would be done")
    .action((task: string | undefined, { dryRun = false }: { dryRun?: boolean }) =>
      act(async (context) => {
        const project = await openProject(context);
        return tell(await actOn(project, { do: "undo", task: task ?? null, isDry: dryRun }), context);
      }),
    );
}

function tell(acted: Acted, { stdout, say }: CliContext): number {
  if (acted.is === "done") stdout.write(acted.said.endsWith("\n") ? acted.said : `${acted.said}\n`);
  else say(acted.why);
  return acted.is === "done" ? 0 : 1;
}
