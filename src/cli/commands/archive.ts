import { RECORD_EVENTS } from "../../core/projections/history.ts";
import { archiveSummary } from "../../core/projections/summary.ts";
import { folderName } from "../../core/text.ts";
import { rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import type { Act, CliContext } from "../commands.ts";
import { freshText } from "../init/templates.ts";
import { readState, refreshStatus, withLog } from "../project-state.ts";
import { refuseWhileDriven, refuseWhileHeld, requirePerson } from "../require-person.ts";
import { sourceRequest, withSourceOptions, type SourceFlags } from "../run-options.ts";
import {
  hasLog,
  listFilesOf,
  lockProject,
  openProject,
  prepareFolder,
  readConfig,
  shownSource,
  sourceOf,
  trackedAmong,
  workspaceOf,
  writeArchive,
  type ListFile,
  type Project,
} from "../../compose.ts";
import type { Event, Recorded } from "../../core/events.ts";
import { isOpen, type State } from "../../core/loop/state.ts";
import { sameSource, type Plan, type SourceIdentity, type TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { isoTime } from "../../core/time.ts";
import type { TaskSource } from "../../engine/ports.ts";

interface ArchiveFlags extends SourceFlags {
  readonly label?: string;
  readonly includeLogs?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  withSourceOptions(command)
    .option("--label <name>", "names the folder after the date; the branch's name otherwise")
    .option("--include-logs", "copy what the agents printed, too")
    .option("--json", "print JSON")
    .action((flags: ArchiveFlags) => act((context) => archive(flags, context)));
}

async function archive(flags: ArchiveFlags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "archive the list");
  const name = flags.label === undefined ? null : givenName(flags.label);
  if (project.queue !== null) await refuseWhileDriven(project);
  const lock = lockProject(project);
  try {
    await putAway(project, name, flags, context);
  } finally {
    lock.release();
  }
  if (hasLog(project)) await refreshStatus(project);
  return 0;
}

/** Copies first, forgets second, replaces last: whenever it is cut off, every file is in its old or its new place. */
async function putAway(
  project: Project,
  name: string | null,
  flags: ArchiveFlags,
  context: CliContext,
): Promise<void> {
  const list = await listToArchive(project, flags, context);
  const files = filesOf(project, list);
  prepareFolder(project);
  const at = Date.now();
  const label = flags.label ?? (await workspaceOf(project).snapshot()).branch ?? "run";
  const { folder, replace, ...written } = writeArchive({
    ralphDir: project.ralphDir,
    name: `${isoTime(at).slice(0, 10)}-${name ?? folderName(label) ?? "run"}`,
    files,
    includeLogs: flags.includeLogs === true,
    summary: (archived) =>
      archiveSummary({ ...list, project: basename(project.root), label, at, files: archived }),
  });
  await recordArchived(project, list);
  replace();
  await recordFresh(project, list, files);
  const shown = relative(project.root, folder);
  if (flags.json === true)
    context.stdout.write(`${JSON.stringify({ folder: shown, files: written.files })}\n`);
  else await report(project, shown, files, context);
}

function givenName(label: string): string {
  const name = folderName(label);
  if (name !== null) return name;
  throw new RalphError("usage", `--label is "${label}", of which no folder can be named`, {
    hint: "give it a letter or a digit: ralph archive --label login",
  });
}

type Replaced = Parameters<typeof writeArchive>[0]["files"];

function filesOf(project: Project, list: ListToArchive): Replaced {
  const kind = list.identity?.kind ?? "checklist";
  const files = listFilesOf(project, list.opened, list.letters)
    .map((file) => ({ file, fresh: freshText(file.role, kind, file.bytes.toString("utf8")) }))
    .filter(
      ({ file, fresh }) => fresh !== file.bytes.toString("utf8") || (file.role === "tasks" && list.isBegun),
    );
  if (files.some(({ file }) => file.role !== "letter")) return files;
  const what = list.source === null ? "no task source was found" : `${list.source} is fresh`;
  throw new RalphError("usage", `there is nothing to archive: ${what}`, {
    hint: 'begin a list: ralph init, or ralph tasks add "what is to be done"',
  });
}

async function report(project: Project, folder: string, files: Replaced, context: CliContext): Promise<void> {
  const { stdout } = context;
  stdout.write(`archived  ${files.map(({ file }) => file.path).join(", ")}\n`);
  stdout.write(`      in  ${folder}  (summary.md says what came of it)\n`);
  const fresh = files.filter((one) => one.fresh !== null).map(({ file }) => file);
  stdout.write(`   fresh  ${fresh.map((file) => file.path).join(", ")}\n`);
  const tracked = await trackedAmong(
    project,
    fresh.map((file) => file.real),
  );
  const list = fresh.find((file) => file.role === "tasks")?.path ?? "TODO.md";
  const steps = [
    `write the new tasks into ${list}`,
    ...(tracked.length === 0
      ? []
      : [
          `git commit -m "A new list" -- ${tracked.map(quoted).join(" ")}     # archive commits nothing itself`,
        ]),
    project.queue === null ? "ralph run" : "ralph submit",
  ];
  stdout.write(`\nNext:\n${steps.map((step, at) => `  ${at + 1}. ${step}\n`).join("")}`);
}

function quoted(path: string): string {
  return /^[\w./@-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}

interface ListToArchive {
  readonly opened: TaskSource | null;
  readonly identity: SourceIdentity | null;
  /** What a person knows the source by. */
  readonly source: string | null;
  readonly plan: Plan | null;
  /** Why there is no plan. */
  readonly problem: string | null;
  readonly state: State;
  readonly events: readonly Recorded[];
  /** Every task that was ever seen in this source and that the state knows. */
  readonly tasks: readonly TaskId[];
  /** Names of their letters in `.ralph/`. */
  readonly letters: readonly string[];
  /** Whether any of its tasks was ever worked on. */
  readonly isBegun: boolean;
}

/** Refuses while an iteration is open, even one whose process died. */
async function listToArchive(
  project: Project,
  flags: SourceFlags,
  context: CliContext,
): Promise<ListToArchive> {
  const state = await readState(project);
  refuseHalfDone(project, state);
  const opened = await openedSource(project, flags, context);
  const identity = opened?.identity ?? null;
  refuseForeign(identity);
  const events = await eventsOf(project);
  const { plan, problem } = await planOf(opened);
  const seen = events.flatMap((event) =>
    event.type === "tasks.observed" && identity !== null && sameSource(event.plan.source, identity)
      ? event.plan.tasks
      : [],
  );
  const ids = new Set([...(plan?.tasks ?? []), ...seen].map(({ id }) => id));
  const known = Object.values(state.tasks).filter(({ id }) => ids.has(id));
  return {
    opened,
    identity,
    source: identity?.path ?? identity?.label ?? null,
    plan,
    problem,
    state,
    events,
    tasks: known.map(({ id }) => id),
    letters: known.flatMap(({ letter }) => letter?.file ?? []),
    isBegun: known.some(({ footing }) => footing !== null),
  };
}

/** Their lists have no end: what is done stays in them, marked. */
function refuseForeign(identity: SourceIdentity | null): void {
  if (identity === null || !["task-list", "beads", "ralphex", "github"].includes(identity.kind)) return;
  throw new RalphError("usage", `${identity.label} belongs to another program, so it is not put away`, {
    hint: "begin the next list there, as that program does; ralph reset --task forgets a task",
  });
}

function refuseHalfDone({ queue }: Project, { iterations: [open] }: State): void {
  if (open === undefined) return;
  if (queue !== null)
    throw new RalphError("already-running", `iteration ${open.number} of ${open.task} is not at its end`, {
      hint: "let a worker take it up first: ralph worker --drain; after that: ralph archive",
    });
  throw new RalphError("already-running", `the last run died in the middle of iteration ${open.number}`, {
    hint: "let it be taken up first: ralph run (Ctrl-C then ends it); after that: ralph archive",
  });
}

/** A file that is named must be there; without one, requirements and notes may be archived alone. */
async function openedSource(
  project: Project,
  flags: SourceFlags,
  { cwd, env }: CliContext,
): Promise<TaskSource | null> {
  const config = await readConfig(project, env);
  const request = sourceRequest(undefined, flags, config, { cwd, root: project.root, env });
  try {
    return await shownSource(project, (await sourceOf(project, request)).source, env);
  } catch (error) {
    if (request.is === "auto" && error instanceof RalphError && error.code === "no-tasks") return null;
    throw error;
  }
}

/** A list that cannot be worked on can still be put away. */
async function planOf(
  source: TaskSource | null,
): Promise<{ readonly plan: Plan | null; readonly problem: string | null }> {
  try {
    return { plan: (await source?.observe()) ?? null, problem: null };
  } catch (error) {
    if (error instanceof RalphError && (error.code === "bad-tasks" || error.code === "no-tasks"))
      return { plan: null, problem: error.message };
    throw error;
  }
}

async function eventsOf(project: Project): Promise<readonly Recorded[]> {
  if (!hasLog(project)) return [];
  const types = [...RECORD_EVENTS, "run.started", "run.ended", "task.reset", "tasks.observed"] as const;
  return withLog(project, (log) => log.read(0, { types }));
}

/** Its tasks begin anew: another list may use their ids. A run that died would otherwise go on with it. */
async function recordArchived(project: Project, { state, tasks }: ListToArchive): Promise<void> {
  const ended: Event[] = isOpen(state.run)
    ? [
        {
          type: "run.ended",
          run: state.run.id,
          outcome: "stopped",
          reason:
            project.queue === null ? "its process died, and the list was archived" : "the list was archived",
        },
      ]
    : [];
  const reset = tasks.map((task): Event => ({ type: "task.reset", task }));
  await append(project, [...ended, ...reset]);
}

/** What is in place now: no letter, and the fresh list where the last run had the old one. */
async function recordFresh(
  project: Project,
  { state, tasks, opened }: ListToArchive,
  files: readonly { readonly file: ListFile }[],
): Promise<void> {
  const letters = files.filter(({ file }) => file.role === "letter");
  const moved = new Set(letters.map(({ file }) => basename(file.path)));
  const withdrawn = tasks.flatMap((task): Event[] => {
    const letter = state.tasks[task]?.letter?.file;
    const isMoved = letter !== undefined && moved.has(letter);
    return isMoved ? [{ type: "letter.withdrawn", task, file: letter }] : [];
  });
  const observed: Event[] = [];
  const { run } = state;
  if (run !== null && opened !== null && sameSource(run.settings.source, opened.identity)) {
    const plan = await freshPlan(opened);
    if (plan !== null) observed.push({ type: "tasks.observed", run: run.id, plan });
  }
  await append(project, [...withdrawn, ...observed]);
}

async function freshPlan(source: NonNullable<ListToArchive["opened"]>): Promise<ListToArchive["plan"]> {
  try {
    return await source.observe();
  } catch (error) {
    if (error instanceof RalphError) return null; // the next run says what is wrong with it
    throw error;
  }
}

async function append(project: Project, events: readonly Event[]): Promise<void> {
  if (events.length === 0 || !hasLog(project)) return;
  await withLog(project, (log) => log.append(events));
}

interface ResetFlags {
  readonly circuit?: boolean;
  readonly calls?: boolean;
  readonly task?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

export function defineReset(command: Command, act: Act): void {
  command
    .option("--circuit", "let an open breaker try again")
    .option("--calls", "count the calls of this hour from now on")
    .option("--task <id>", "forget this task's counters, questions and feedback")
    .option("--all", "forget everything, the history too")
    .option("--yes", "do not ask")
    .action((flags: ResetFlags) => act((context) => reset(flags, context)));
}

async function reset(flags: ResetFlags, context: CliContext): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, context.env, "reset anything");
  await refuseAtWork(flags, project);
  if (flags.all === true) return resetAll(project, flags.yes === true, context);
  if (flags.circuit !== true && flags.calls !== true && flags.task === undefined) {
    throw new RalphError("usage", "say what to reset", {
      hint: "ralph reset --circuit, --calls, --task ID, or --all",
    });
  }
  if (flags.task !== undefined) await resetTask(project, flags.task, context);
  if (flags.circuit === true) await resetCircuit(project, context);
  if (flags.calls === true) await resetCalls(project, context);
  return 0;
}

/** Workers hear of everything, and are asked to leave only for what would be gone under their hands. */
async function refuseAtWork(flags: ResetFlags, project: Project): Promise<void> {
  const isOnlyCalls = flags.calls === true && !flags.all && !flags.circuit && flags.task === undefined;
  if (project.queue === null ? !isOnlyCalls : flags.all === true) return refuseWhileDriven(project);
  if (flags.task !== undefined) return refuseWhileHeld(project, flags.task);
}

/** Half open: one iteration without progress opens it again. */
async function resetCircuit(project: Project, { stderr }: CliContext): Promise<void> {
  const { position, reason } = (await readState(project)).breaker;
  if (position !== "OPEN") {
    stderr.write(`ralph: the breaker is ${position}; there is nothing to reset\n`);
    return;
  }
  const move = { type: "breaker.moved", run: null, from: "OPEN", to: "HALF_OPEN", head: null } as const;
  await withLog(project, (log) => log.append([{ ...move, reason: "somebody reset it" }]));
  stderr.write(
    `ralph: the breaker (${reason}) is HALF_OPEN now: one iteration shows whether it helps. ${project.queue === null ? "ralph run" : "Workers go on"}\n`,
  );
}

async function resetCalls(project: Project, { stderr }: CliContext): Promise<void> {
  await withLog(project, (log) => log.append([{ type: "calls.reset" }]));
  stderr.write("ralph: the calls of this hour are counted from now on\n");
}

async function resetTask(project: Project, task: string, context: CliContext): Promise<void> {
  const state = await readState(project);
  if (state.tasks[task] === undefined) {
    throw new RalphError("usage", `there is no task "${task}"`, {
      hint: `known: ${Object.keys(state.tasks).join(", ") || "none yet"}`,
    });
  }
  await withLog(project, (log) => log.append([{ type: "task.reset", task }]));
  context.stderr.write(`ralph: ${task} starts from the beginning\n`);
}

async function resetAll(project: Project, sure: boolean, context: CliContext): Promise<number> {
  if (!sure && !(await confirmed(context))) return 1;
  await withLog(project, (log) => log.forget());
  for (const view of [
    "logs",
    "interventions",
    "status.json",
    "active.json",
    "progress.json",
    "metrics.json",
  ]) {
    rmSync(join(project.ralphDir, view), { recursive: true, force: true });
  }
  context.stderr.write("ralph: everything is forgotten; the code and the task source are as they were\n");
  return 0;
}

async function confirmed(context: CliContext): Promise<boolean> {
  if (!context.stderr.isTTY || !process.stdin.isTTY) {
    throw new RalphError(
      "usage",
      "reset --all forgets the whole history and asks first, but there is no terminal",
      {
        hint: "ralph reset --all --yes",
      },
    );
  }
  const question = createInterface({ input: process.stdin, output: context.stderr, terminal: false });
  const answer = await question.question(
    "Forget every run, iteration and transcript of this repository? [y/N] ",
  );
  question.close();
  return /^y(es)?$/i.test(answer.trim());
}
