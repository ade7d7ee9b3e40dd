import { shownDiff } from "../../app/git-parts.ts";
import { openProject } from "../../app/project.ts";
import { meantTask, readState } from "../../app/project-log.ts";
import type { Style } from "../../core/text.ts";
import type { Command } from "commander";
import { act as actOn, type ProjectAct } from "../../app/operator.ts";
import { taskWork } from "../../app/take-back.ts";
import { tell, tellActed, type Act, type CliContext } from "../commands.ts";

export function defineDiff(command: Command, act: Act): void {
  command
    .argument("[task]", "the task; the last one that was worked on without")
    .option("--stat", "only the files, with the lines added and removed")
    .option("--json", "print JSON")
    .action(act(showDiff));
}

interface DiffFlags {
  readonly stat?: boolean;
}

export async function showDiff(
  context: CliContext,
  asked: string | undefined,
  flags: DiffFlags,
): Promise<number> {
  const { stderr, style } = context;
  const project = await openProject(context);
  const state = await readState(project);
  const begun = Object.values(state.tasks).filter(({ workBase }) => workBase !== null);
  const last = begun.toSorted((a, b) => b.position - a.position)[0]?.id ?? null;
  const task = asked === undefined ? last : await meantTask(asked, state, project);
  if (task === null) {
    tellActed(context, { is: "refused", why: "no task has been worked on yet", isMoot: true });
    return 1;
  }
  const shown = await taskWork(project, state, task);
  if (shown === null) {
    tellActed(context, { is: "refused", why: `${task} has no work yet`, isMoot: true });
    return 1;
  }
  const { root, ranges, is, where } = shown;
  const parts = await Promise.all(ranges.map((range) => shownDiff(root, range)));
  if (!context.json) stderr.write(`${task}: ${where}\n`);
  return tell(context, { task, is, ranges, patch: parts.join("") }, () =>
    flags.stat === true
      ? statOf(parts.join("\n"))
      : parts.flatMap((part) => part.split("\n")).map((line) => coloured(line, style)),
  );
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

function coloured(line: string, style: Style): string {
  if (/^(?:diff|index|---|\+\+\+) /.test(line)) return style.bold(line);
  if (line.startsWith("@@")) return style.dim(line);
  if (line.startsWith("+")) return style.good(line);
  return line.startsWith("-") ? style.bad(line) : line;
}

export function defineDiscard(command: Command, act: Act): void {
  command
    .argument("<task>", "the task whose work is not wanted")
    .option("--json", "print JSON")
    .action(act((context, asked: string) => takeBack(context, asked, (task) => ({ do: "discard", task }))));
}

export function defineUndo(command: Command, act: Act): void {
  command
    .argument("[task]", "the task; the last accepted one without")
    .option("--dry-run", "only say what would be done")
    .option("--json", "print JSON")
    .action(
      act((context, asked: string | undefined, { dryRun = false }: { dryRun?: boolean }) =>
        takeBack(context, asked ?? null, (task) => ({ do: "undo", task, isDry: dryRun })),
      ),
    );
}

async function takeBack<Asked extends string | null>(
  context: CliContext,
  asked: Asked,
  wanted: (task: Asked | string) => ProjectAct,
): Promise<number> {
  const project = await openProject(context);
  const task = asked === null ? asked : await meantTask(asked, await readState(project), project);
  const acted = await actOn(project, wanted(task));
  if (acted.is === "refused" || context.json) tellActed(context, acted);
  else context.print(acted.said.replace(/\n$/, ""));
  return acted.is === "done" ? 0 : 1;
}
