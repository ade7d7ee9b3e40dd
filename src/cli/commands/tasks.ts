import { readState, refreshStatus, withLog } from "../../app/project-log.ts";
import { type Project, openProject, readConfig, usualPlace, requirePerson } from "../../app/project.ts";
import { type Style, asArgument } from "../../core/text.ts";
import {
  type SourceFlags,
  acceptProposal,
  addTask,
  shownSource,
  sourceOf,
  sourceRequest,
} from "../../app/task-lists.ts";
import type { SourceRequest } from "../../adapters/tasks/open-source.ts";
import { githubPlace } from "../../adapters/tasks/gh.ts";
import { type ImportRequest, importTasks, writeImported } from "../../adapters/tasks/import-tasks.ts";
import { prepareRalphFolder } from "../../adapters/files/ralph-folder.ts";
import { relative } from "node:path";
import type { Command } from "commander";
import { tell, type Act, type CliContext } from "../commands.ts";
import { unknownName } from "../report-error.ts";
import { withSourceOptions } from "../run-options.ts";
import { statusOf, type TaskStatus } from "../../core/loop/task-status.ts";
import type { Task } from "../../core/plan.ts";
import { isListGuarded, openProposals, proposalEntry, proposalLines } from "../../core/views/inbox.ts";
import { count } from "../../core/views/explain-words.ts";
import { RalphError } from "../../core/errors.ts";

export function define(command: Command, act: Act): void {
  withSourceOptions(command)
    .argument(
      "[action]",
      'nothing lists the tasks; "add" appends one, or begins a list; "proposals" lists what agents did to the list, "accept" takes one over, "dismiss" drops it',
    )
    .argument("[title]", "of the new task; or the number of the proposal")
    .option("--json", "print JSON")
    .action(act(tasks));
}

async function tasks(
  context: CliContext,
  action: string | undefined,
  title = "",
  flags: SourceFlags = {},
): Promise<number> {
  if (action !== undefined && !ACTIONS.includes(action))
    throw new RalphError("usage", `ralph tasks cannot "${action}"`, {
      hint: `ralph tasks lists them; besides: ${ACTIONS.join(", ")}`,
    });
  const project = await openProject(context);
  if (action === "proposals") {
    const open = openProposals(await readState(project));
    return tell(context, open.map(proposalEntry), () =>
      open.length === 0 ? ["No agent has changed the task list."] : open.flatMap(proposalLines),
    );
  }
  if (action === "accept" || action === "dismiss") return settleProposal(project, action, title, context);
  const request = sourceRequest(project, await readConfig(project), flags, context);
  return action === "add" ? add(project, request, title, context) : list(project, request, context);
}

const ACTIONS: readonly string[] = ["add", "proposals", "accept", "dismiss"];

async function settleProposal(
  project: Project,
  action: "accept" | "dismiss",
  number: string,
  context: CliContext,
): Promise<number> {
  requirePerson(project, `${action} what agents propose`);
  const state = await readState(project);
  const proposal = state.proposals.find((one) => String(one.number) === number);
  if (proposal === undefined) {
    const known = openProposals(state).map((one) => String(one.number));
    throw unknownName("open proposal", number, known);
  }
  const isNew = action === "accept" && (await acceptProposal(project, proposal, isListGuarded(state)));
  const as = action === "accept" ? "accepted" : "dismissed";
  await withLog(project, (log) => log.append([{ type: "proposal.settled", number: proposal.number, as }]));
  await refreshStatus(project);
  const into = isNew ? `: ${proposal.path} now has it` : `: ${proposal.path} had all of it already`;
  const said = `${as} proposal ${number}${action === "accept" ? into : ""}`;
  return tell(context, { done: true, said, number: proposal.number, as, path: proposal.path }, () => [said]);
}

async function add(
  project: Project,
  request: SourceRequest,
  title: string,
  { json, print }: CliContext,
): Promise<number> {
  const { id, path, isNew } = await addTask(project, request, title);
  const said = isNew ? `began ${path} with ${id}` : `added ${id} to ${path}`;
  print(json ? JSON.stringify({ id, path }) : said);
  return 0;
}

async function list(project: Project, request: SourceRequest, context: CliContext): Promise<number> {
  const { source, why } = sourceOf(project, request);
  const plan = await (await shownSource(project, source)).observe();
  const state = await readState(project);
  const rows = plan.tasks.map((task) => taskRow(task, statusOf(state, task)));
  if (!context.json) context.say(why);
  const width = Math.max(0, ...rows.map((row) => row.id.length));
  return tell(context, rows, () => rows.map((row) => taskLine(row, width, context.style)));
}

type TaskRow = ReturnType<typeof taskRow>;

/** A task as every source gives it. */
function taskRow(task: Task, status: TaskStatus) {
  return {
    id: task.id,
    title: task.title,
    status,
    description: task.description,
    acceptance: task.criteria,
    success: task.success,
    depends_on: task.dependsOn,
    priority: task.priority,
    agent: task.agent,
    timeout_seconds: task.timeoutMs === null ? null : task.timeoutMs / 1_000,
    max_iterations: task.maxIterations,
    completion_promise: task.promise,
    ralph: task.loops,
    changes: task.changes ?? null,
    optional: task.optional,
  };
}

function taskLine(row: TaskRow, width: number, style: Style): string {
  const depends = row.depends_on.length === 0 ? "" : `after ${row.depends_on.join(", ")}`;
  const notes = [row.status, row.optional ? "optional" : "", depends].filter((note) => note !== "");
  return `[${row.status === "done" ? "x" : " "}] ${row.id.padEnd(width)}  ${row.title}  ${style.dim(notes.join(", "))}`;
}

interface ImportFlags {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

export function defineImport(command: Command, act: Act): void {
  command
    .argument("<file>", "a file with tasks; github or github:LABEL takes issues")
    .option("--dry-run", "print what would be written, and write nothing")
    .option("--force", "replace a tasks.json that is there")
    .option("--json", "print JSON")
    .action(act(importFile));
}

/** Makes stories of somebody's tasks; the original stays as it is. */
async function importFile(context: CliContext, file: string, flags: ImportFlags): Promise<number> {
  const project = await openProject(context);
  const isIssues = /^github(?::|$)/.test(file);
  const place = isIssues ? githubPlace(file, usualPlace(await readConfig(project))) : null;
  const request: ImportRequest = place === null ? { is: "file", path: file } : { is: "github", place };
  const imported = await importTasks(request, { ...context, ...project });
  const { count: found, as, source, losses, json, isThere } = imported;
  const { stdout, stderr } = context;
  const path = relative(project.root, imported.path);
  const tasks = count(found, "task");
  const lost = losses.map((loss) => `Left out, as a tasks.json cannot say it: ${loss}.\n`).join("");
  if (flags.dryRun === true) {
    stdout.write(json);
    const there = isThere ? "; it is there already, so --force would be needed" : "";
    stderr.write(`ralph: would write ${tasks} from ${source}, read as ${as}, into ${path}${there}\n${lost}`);
    return 0;
  }
  prepareRalphFolder(project.ralphDir);
  writeImported(imported, flags.force === true);
  if (context.json) {
    context.print(JSON.stringify({ path, tasks: found, read_as: as, left_out: losses }));
    return 0;
  }
  stdout.write(`${path}: ${tasks} from ${source}
Read as ${as}. The original stays as it is; to work on it in place: ralph run --source ${asArgument(source)}
${lost}Look them over (ralph tasks), add verifyCommands, then: ralph run
`);
  return 0;
}
