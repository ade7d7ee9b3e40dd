import type { Command } from "commander";
import { knownMerging } from "../../compose-beside.ts";
import { driverOf, hasLog, openProject, readConfig, sourceOf, type Project } from "../../compose.ts";
import { few } from "../../core/few.ts";
import { mergedBranch } from "../../core/merged-branch.ts";
import { lastMerge, MERGE_EVENTS, type LastMerge } from "../../core/projections/last-merge.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { FileMark } from "../../engine/parallel-ports.ts";
import type { Act, CliContext } from "../commands.ts";
import { withLog } from "../project-state.ts";
import { requirePerson } from "../require-person.ts";
import { sourceRequest } from "../source-request.ts";

export function define(command: Command, act: Act): void {
  command.action(() => act((context) => undo(context)));
}

/** Takes the last merge back by a commit on top; the work itself stays on its branch. */
async function undo(context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "take a merge back");
  if (driverOf(project) !== null)
    throw new RalphError("already-running", "a run is under way", { hint: "end it first: ralph stop" });
  const last = hasLog(project)
    ? await withLog(project, async (log) => lastMerge(await log.read(0, { types: MERGE_EVENTS })))
    : null;
  if (last === null) {
    context.stderr.write("ralph: nothing to undo, no task was merged here\n");
    return 1;
  }
  const to = await takeBack(project, last, context);
  const { run, task, branch, base } = last;
  await withLog(project, (log) => log.append([{ type: "task.undone", run, task, to }]));
  const kept = `its work is still there: ${mergedBranch(branch)}`;
  context.stdout.write(`Undid ${task} on ${base} by ${to.slice(0, 7)}; ${kept}\n`);
  return 0;
}

async function takeBack(project: Project, last: LastMerge, context: CliContext): Promise<string> {
  const { run, task, iteration, base, from, to } = last;
  const merging = knownMerging(project);
  const mark = await unmarking(project, task, context);
  const prepared = await merging.revert({ run, task, iteration, title: task, base, from, to, mark });
  if (prepared.is === "conflict")
    throw new RalphError(
      "git-failed",
      `${task} cannot be taken back: later work changed ${few(prepared.paths)}`,
      {
        hint: `do it by hand: git revert ${to.slice(0, 12)}`,
      },
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
async function unmarking(project: Project, task: string, context: CliContext): Promise<FileMark | null> {
  const config = await readConfig(project, context.env);
  const places = { cwd: context.cwd, root: project.root };
  const { source } = sourceOf(project, sourceRequest(undefined, {}, config.source, places));
  const { path } = source.identity;
  return path === null ? null : { path, apply: (file) => source.markedIn(file, task, false) };
}
