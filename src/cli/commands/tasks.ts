import { asArgument } from "../../core/text.ts";
import { relative } from "node:path";
import { Option, type Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { styleFor, type Style } from "../print/style.ts";
import { readState, refreshStatus, withLog } from "../project-state.ts";
import { requirePerson, unknownName } from "../require-person.ts";
import { sourceRequest, withSourceOptions, type SourceFlags } from "../run-options.ts";
import {
  acceptProposal,
  addTask,
  beginList,
  detectedLists,
  githubPlace,
  IMPORT_FORMATS,
  importTasks,
  openProject,
  prepareFolder,
  readConfig,
  shownSource,
  sourceOf,
  usualPlace,
  writeImported,
  type ImportRequest,
  type Project,
  type SourceRequest,
} from "../../compose.ts";
import { statusOf, type TaskStatus } from "../../core/loop/task-status.ts";
import type { Task } from "../../core/plan/task.ts";
import { isListGuarded, openProposals, proposalEntry, proposalLines } from "../../core/projections/inbox.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";

interface TasksFlags extends SourceFlags {
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  withSourceOptions(command)
    .argument(
      "[action]",
      'nothing lists the tasks; "add" appends one, or begins a list; "proposals" lists what agents did to the list, "accept" takes one over, "dismiss" drops it',
    )
    .argument("[title]", "of the new task; or the number of the proposal")
    .option("--json", "print JSON")
    .action((action: string | undefined, title: string | undefined, flags: TasksFlags) =>
      act((context) => tasks(action, title, flags, context)),
    );
}

async function tasks(
  action: string | undefined,
  title: string | undefined,
  flags: TasksFlags,
  context: CliContext,
): Promise<number> {
  if (action !== undefined && !ACTIONS.includes(action))
    throw new RalphError("usage", `ralph tasks cannot "${action}"`, {
      hint: `ralph tasks lists them; besides: ${ACTIONS.join(", ")}`,
    });
  const project = await openProject(context);
  if (action === "proposals") return listProposals(project, flags.json === true, context);
  if (action === "accept" || action === "dismiss")
    return settleProposal(project, action, title ?? "", context);
  const config = await readConfig(project, context.env);
  const request = sourceRequest(undefined, flags, config, { ...context, root: project.root });
  if (action === "add") return add(project, request, title ?? "", flags.json === true, context);
  const { source, why } = await sourceOf(project, request);
  const shown = await shownSource(project, source, context.env);
  return list(project, shown, why, flags.json === true, context);
}

const ACTIONS: readonly string[] = ["add", "proposals", "accept", "dismiss"];

/** What agents did to the list, and nobody has settled yet. */
async function listProposals(project: Project, asJson: boolean, { stdout }: CliContext): Promise<number> {
  const open = openProposals(await readState(project));
  if (asJson) stdout.write(`${JSON.stringify(open.map(proposalEntry), null, 2)}\n`);
  else if (open.length === 0) stdout.write("No agent has changed the task list.\n");
  else for (const proposal of open) for (const line of proposalLines(proposal)) stdout.write(`${line}\n`);
  return 0;
}

async function settleProposal(
  project: Project,
  action: "accept" | "dismiss",
  number: string,
  { env, stdout }: CliContext,
): Promise<number> {
  requirePerson(project, env, `${action} what agents propose`);
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
  stdout.write(`${as} proposal ${number}${action === "accept" ? into : ""}\n`);
  return 0;
}

async function add(
  project: Project,
  request: SourceRequest,
  title: string,
  asJson: boolean,
  { stdout, env }: CliContext,
): Promise<number> {
  requirePerson(project, env, "add tasks");
  const isFirst = request.is === "auto" && detectedLists(project).length === 0;
  const { id, path, isNew } = isFirst
    ? beginList(project.root, title)
    : {
        ...addTask(
          project,
          (await sourceOf(project, request)).source.identity,
          title,
          await isGuarded(project),
        ),
        isNew: false,
      };
  const said = isNew ? `began ${path} with ${id}` : `added ${id} to ${path}`;
  stdout.write(`${asJson ? JSON.stringify({ id, path }) : said}\n`);
  return 0;
}

async function list(
  project: Project,
  source: TaskSource,
  why: string,
  asJson: boolean,
  { stdout, stderr, env }: CliContext,
): Promise<number> {
  const plan = await source.observe();
  const state = await readState(project);
  const rows = plan.tasks.map((task) => taskRow(task, statusOf(state, task)));
  if (asJson) {
    stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  stderr.write(`ralph: ${why}\n`);
  const style = styleFor(stdout, env);
  const width = Math.max(0, ...rows.map((row) => row.id.length));
  for (const row of rows) stdout.write(`${taskLine(row, width, style)}\n`);
  return 0;
}

async function isGuarded(project: Project): Promise<boolean> {
  return isListGuarded(await readState(project));
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
  readonly from?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

export function defineImport(command: Command, act: Act): void {
  command
    .argument(
      "<file>",
      "a file with tasks, or a folder of the program that keeps them; github or github:LABEL takes issues",
    )
    .addOption(
      new Option("--from <format>", "what the file is; without it, that shows").choices(
        Object.keys(IMPORT_FORMATS),
      ),
    )
    .option("--dry-run", "print what would be written, and write nothing")
    .option("--force", "replace a tasks.json that is there")
    .option("--json", "print JSON")
    .action((file: string, flags: ImportFlags) => act((context) => importFile(file, flags, context)));
}

/** Makes stories of somebody's tasks; the original stays as it is. */
async function importFile(file: string, flags: ImportFlags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const request = await requestOf(file, flags, project, context);
  const imported = await importTasks(request, { ...context, ...project });
  const { count, as, source, losses, json, isThere } = imported;
  const path = relative(project.root, imported.path);
  const tasks = `${count} ${count === 1 ? "task" : "tasks"}`;
  const lost = losses.map((loss) => `Left out, as a tasks.json cannot say it: ${loss}.\n`).join("");
  if (flags.dryRun === true) {
    context.stdout.write(json);
    const there = isThere ? "; it is there already, so --force would be needed" : "";
    context.stderr.write(
      `ralph: would write ${tasks} from ${source}, read as ${as}, into ${path}${there}\n${lost}`,
    );
    return 0;
  }
  prepareFolder(project);
  writeImported(imported, flags.force === true);
  if (flags.json === true) {
    context.stdout.write(`${JSON.stringify({ path, tasks: count, read_as: as, left_out: losses })}\n`);
    return 0;
  }
  context.stdout.write(`${path}: ${tasks} from ${source}\n`);
  context.stdout.write(
    `Read as ${as}. The original stays as it is; to work on it in place: ralph run --source ${asArgument(source)}\n`,
  );
  context.stdout.write(lost);
  context.stdout.write("Look them over (ralph tasks), add verifyCommands, then: ralph run\n");
  return 0;
}

async function requestOf(
  file: string,
  { from }: ImportFlags,
  project: Project,
  { env }: CliContext,
): Promise<ImportRequest> {
  const mayBeIssues = from === undefined && /^github(?::|$)/.test(file);
  const place = mayBeIssues ? githubPlace(file, usualPlace(await readConfig(project, env))) : null;
  return place === null ? { is: "file", path: file, from } : { is: "github", place };
}
