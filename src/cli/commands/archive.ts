import { hasLog, meantTask, readEvents, readState, refreshStatus, withLog } from "../../app/project-log.ts";
import {
  type Project,
  openProject,
  readConfig,
  refuseWhileDriven,
  refuseWhileHeld,
  requirePerson,
  withLock,
} from "../../app/project.ts";
import { workspaceOf } from "../../app/git-parts.ts";
import {
  type SourceFlags,
  shownSource,
  sourceOf,
  sourceRequest,
  trackedAmong,
} from "../../app/task-lists.ts";
import { prepareRalphFolder } from "../../adapters/files/ralph-folder.ts";
import { readListFiles, writeArchive } from "../../adapters/files/archive.ts";
import { RECORD_EVENTS } from "../../core/views/iteration-record.ts";
import { archiveSummary } from "../../core/report/markdown-report.ts";
import { asArgument, folderName } from "../../core/text.ts";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { tell, tellActed, type Act, type CliContext } from "../commands.ts";
import { freshText } from "../init/templates.ts";
import { withSourceOptions } from "../run-options.ts";
import type { Event } from "../../core/events.ts";
import { isOpen, type State } from "../../core/state.ts";
import { sameSource, type Plan } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import { isoTime } from "../../core/time.ts";
import type { TaskSource } from "../../engine/ports.ts";

interface ArchiveFlags extends SourceFlags {
  readonly label?: string;
  readonly includeLogs?: boolean;
}

export function define(command: Command, act: Act): void {
  withSourceOptions(command)
    .option("--label <name>", "names the folder after the date; the branch's name otherwise")
    .option("--include-logs", "copy what the agents printed, too")
    .option("--json", "print JSON")
    .action(act(archive));
}

async function archive(context: CliContext, flags: ArchiveFlags): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, "archive the list");
  const name = flags.label === undefined ? null : folderName(flags.label);
  if (flags.label !== undefined && name === null)
    throw new RalphError("usage", `--label is "${flags.label}", of which no folder can be named`, {
      hint: "give it a letter or a digit: ralph archive --label login",
    });
  if (project.queue !== null) await refuseWhileDriven(project);
  await withLock(project, () => putAway(project, name, flags, context));
  if (hasLog(project)) await refreshStatus(project);
  return 0;
}

/** Copies first, forgets second, replaces last: whenever it is cut off, every file is in its old or its new place. */
async function putAway(
  project: Project,
  name: string | null,
  flags: ArchiveFlags,
  { cwd, json, print }: CliContext,
): Promise<void> {
  const list = await listToArchive(project, flags, cwd);
  const files = filesOf(project, list);
  prepareRalphFolder(project.ralphDir);
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
  print(
    json ? JSON.stringify({ folder: shown, files: written.files }) : await reportLines(project, shown, files),
  );
}

type Replaced = Parameters<typeof writeArchive>[0]["files"];

function filesOf(project: Project, { opened, source, inboxFiles, isBegun }: ListToArchive): Replaced {
  const kind = opened?.identity.kind ?? "checklist";
  const files = readListFiles({ ...project, source: opened?.files ?? [], letters: inboxFiles }).flatMap(
    (file) => {
      const old = file.bytes.toString("utf8");
      const fresh = freshText(file.role, kind, old);
      return fresh !== old || (file.role === "tasks" && isBegun) ? [{ file, fresh }] : [];
    },
  );
  if (files.some(({ file }) => file.role !== "letter")) return files;
  const what = source === null ? "no task source was found" : `${source} is fresh`;
  throw new RalphError("usage", `there is nothing to archive: ${what}`, {
    hint: 'begin a list: ralph init, or ralph tasks add "what is to be done"',
  });
}

async function reportLines(project: Project, folder: string, files: Replaced): Promise<readonly string[]> {
  const fresh = files.filter((one) => one.fresh !== null).map(({ file }) => file);
  const real = fresh.map((file) => file.real);
  const tracked = (await trackedAmong(project, real)).map(asArgument).join(" ");
  const list = fresh.find((file) => file.role === "tasks")?.path ?? "TODO.md";
  const steps = [
    `write the new tasks into ${list}`,
    ...(tracked === ""
      ? []
      : [`git commit -m "A new list" -- ${tracked}     # archive commits nothing itself`]),
    project.queue === null ? "ralph run" : "ralph submit",
  ];
  return [
    `archived  ${files.map(({ file }) => file.path).join(", ")}`,
    `      in  ${folder}  (summary.md says what came of it)`,
    `   fresh  ${fresh.map((file) => file.path).join(", ")}`,
    "",
    "Next:",
    ...steps.map((step, at) => `  ${at + 1}. ${step}`),
  ];
}

type ListToArchive = Awaited<ReturnType<typeof listToArchive>>;

/** Refuses while an iteration is open, even one whose process died. */
async function listToArchive(project: Project, flags: SourceFlags, cwd: string) {
  const state = await readState(project);
  refuseHalfDone(project, state);
  const opened = await openedSource(project, flags, cwd);
  const identity = opened?.identity ?? null;
  if (identity?.kind === "github")
    throw new RalphError("usage", `${identity.label} belongs to another program, so it is not put away`, {
      hint: "begin the next list there, as that program does; ralph reset --task forgets a task",
    });
  const types = [...RECORD_EVENTS, "run.started", "run.ended", "task.reset", "tasks.observed"] as const;
  const events = await readEvents(project, { types });
  const { plan, problem } = await planOf(opened);
  // Every task that was ever seen in this source.
  const seen = events.flatMap((event) =>
    event.type === "tasks.observed" && identity !== null && sameSource(event.plan.source, identity)
      ? event.plan.tasks
      : [],
  );
  const ids = new Set([...(plan?.tasks ?? []), ...seen].map(({ id }) => id));
  const known = Object.values(state.tasks).filter(({ id }) => ids.has(id));
  return {
    opened,
    /** What a person knows the source by. */
    source: identity?.path ?? identity?.label ?? null,
    plan,
    problem,
    state,
    events,
    tasks: known.map(({ id }) => id),
    inboxFiles: known.flatMap(({ inboxFile }) => inboxFile?.file ?? []),
    /** Whether any of its tasks was ever worked on. */
    isBegun: known.some(({ workBase }) => workBase !== null),
  };
}

function refuseHalfDone({ queue }: Project, { iterations: [open] }: State): void {
  if (open === undefined) return;
  const isHere = queue === null;
  const why = isHere
    ? `the last run died in the middle of iteration ${open.number}`
    : `iteration ${open.number} of ${open.task} is not at its end`;
  const how = isHere
    ? "it be taken up first: ralph run (Ctrl-C then ends it)"
    : "a worker take it up first: ralph worker --drain";
  throw new RalphError("already-running", why, {
    hint: `let ${how}; after that: ralph archive`,
  });
}

/** A file that is named must be there; without one, requirements and notes may be archived alone. */
async function openedSource(project: Project, flags: SourceFlags, cwd: string): Promise<TaskSource | null> {
  const request = sourceRequest(project, await readConfig(project), flags, { cwd });
  try {
    return await shownSource(project, sourceOf(project, request).source);
  } catch (error) {
    if (request.is === "auto" && error instanceof RalphError && error.code === "no-tasks") return null;
    throw error;
  }
}

/** A list that cannot be worked on can still be put away. */
async function planOf(source: TaskSource | null): Promise<{ plan: Plan | null; problem: string | null }> {
  try {
    return { plan: (await source?.observe()) ?? null, problem: null };
  } catch (error) {
    if (error instanceof RalphError && (error.code === "bad-tasks" || error.code === "no-tasks"))
      return { plan: null, problem: error.message };
    throw error;
  }
}

/** Its tasks begin anew: another list may use their ids. A run that died would otherwise go on with it. */
async function recordArchived(project: Project, { state, tasks }: ListToArchive): Promise<void> {
  const reason = `${project.queue === null ? "its process died, and " : ""}the list was archived`;
  const ended: readonly Event[] = isOpen(state.run)
    ? [{ type: "run.ended", run: state.run.id, outcome: "stopped", reason }]
    : [];
  await append(project, [...ended, ...tasks.map((task): Event => ({ type: "task.reset", task }))]);
}

/** What is in place now: no inbox file, and the fresh list where the last run had the old one. */
async function recordFresh(
  project: Project,
  { state, tasks, opened }: ListToArchive,
  files: Replaced,
): Promise<void> {
  const moved = new Set(files.flatMap(({ file }) => (file.role === "letter" ? basename(file.path) : [])));
  const withdrawn = tasks.flatMap((task): readonly Event[] => {
    const file = state.tasks[task]?.inboxFile?.file;
    return file !== undefined && moved.has(file) ? [{ type: "letter.withdrawn", task, file }] : [];
  });
  const { run } = state;
  const isSame = run !== null && opened !== null && sameSource(run.settings.source, opened.identity);
  // The next run says what is wrong with the fresh list, if anything is.
  const { plan } = isSame ? await planOf(opened) : { plan: null };
  const observed: readonly Event[] =
    run === null || plan === null ? [] : [{ type: "tasks.observed", run: run.id, plan }];
  await append(project, [...withdrawn, ...observed]);
}

async function append(project: Project, events: readonly Event[]): Promise<void> {
  if (events.length > 0 && hasLog(project)) await withLog(project, (log) => log.append(events));
}

interface ResetFlags {
  readonly circuit?: boolean;
  readonly calls?: boolean;
  readonly task?: string | undefined;
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
    .option("--json", "print JSON")
    .action(act(reset));
}

async function reset(context: CliContext, flags: ResetFlags): Promise<number> {
  const project = await openProject(context);
  requirePerson(project, "reset anything");
  const state = await readState(project);
  const task = flags.task === undefined ? undefined : await meantTask(flags.task, state, project);
  await refuseAtWork({ ...flags, task }, project);
  if (flags.all === true) return resetAll(project, flags.yes === true, context);
  if (flags.circuit !== true && flags.calls !== true && task === undefined)
    throw new RalphError("usage", "say what to reset", {
      hint: "ralph reset --circuit, --calls, --task ID, or --all",
    });
  const record = (event: Event) => withLog(project, (log) => log.append([event]));
  const { breaker } = state;
  const said: string[] = [];
  if (task !== undefined) {
    await record({ type: "task.reset", task });
    said.push(`${task} starts from the beginning`);
  }
  if (flags.circuit === true && breaker.position === "OPEN") {
    const move = { type: "breaker.moved", run: null, from: "OPEN", to: "HALF_OPEN", head: null } as const;
    // One iteration without progress opens it again.
    await record({ ...move, reason: "somebody reset it" });
    const next = project.queue === null ? "ralph run" : "Workers go on";
    said.push(
      `the breaker (${breaker.reason}) is HALF_OPEN now: one iteration shows whether it helps. ${next}`,
    );
  } else if (flags.circuit === true)
    said.push(`the breaker is ${breaker.position}; there is nothing to reset`);
  if (flags.calls === true) {
    await record({ type: "calls.reset" });
    said.push("the calls of this hour are counted from now on");
  }
  if (!context.json) for (const line of said) context.say(line);
  return tell(context, { done: true, said: said.join("\n") }, () => []);
}

/** Workers hear of everything, and are asked to leave only for what would be gone under their hands. */
async function refuseAtWork(flags: ResetFlags, project: Project): Promise<void> {
  const isOnlyCalls = flags.calls === true && !flags.all && !flags.circuit && flags.task === undefined;
  if (project.queue === null ? !isOnlyCalls : flags.all === true) return refuseWhileDriven(project);
  if (flags.task !== undefined) return refuseWhileHeld(project, flags.task);
}

const VIEWS = ["logs", "interventions", "status.json", "active.json", "progress.json", "metrics.json"];

async function resetAll(project: Project, sure: boolean, context: CliContext): Promise<number> {
  if (!sure && !(await confirmed(context))) {
    if (context.json) tell(context, { done: false, said: "nothing is forgotten" }, () => []);
    return 1;
  }
  await withLog(project, (log) => log.forget());
  // The next run would take what we have asked for another program's question.
  const there = existsSync(project.ralphDir) ? readdirSync(project.ralphDir) : [];
  const asked = there.filter((name) => /^(?:blocked|decide)(?:-.+)?\.txt$/.test(name));
  for (const view of [...VIEWS, ...asked])
    rmSync(join(project.ralphDir, view), { recursive: true, force: true });
  const said = "everything is forgotten; the code and the task source are as they were";
  return tellActed(context, { is: "done", said });
}

async function confirmed({ stderr }: CliContext): Promise<boolean> {
  if (!stderr.isTTY || !process.stdin.isTTY)
    throw new RalphError("usage", "reset --all needs confirmation, and there is no terminal to ask on", {
      hint: "ralph reset --all --yes",
    });
  const question = createInterface({ input: process.stdin, output: stderr, terminal: false });
  const answer = await question.question(
    "Forget every run, iteration and transcript of this repository? [y/N] ",
  );
  question.close();
  return /^y(es)?$/i.test(answer.trim());
}
