import { basename, relative } from "node:path";
import type { Command } from "commander";
import {
  archiveFiles,
  hasLog,
  listFilesOf,
  lockProject,
  openProject,
  prepareFolder,
  trackedAmong,
  workspaceOf,
  type Project,
} from "../../compose.ts";
import { folderName } from "../../core/folder-name.ts";
import { archiveSummary } from "../../core/projections/archive-summary.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { isoTime } from "../../core/time.ts";
import { listToArchive, type ListToArchive } from "../archive/list-to-archive.ts";
import { recordArchived, recordFresh } from "../archive/record-archived.ts";
import type { Act, CliContext } from "../commands.ts";
import { freshText } from "../init/fresh-files.ts";
import { refuseWhileDriven } from "../refuse-while-driven.ts";
import { refreshStatus } from "../refresh-status.ts";
import { withSourceOptions, type SourceFlags } from "../source-request.ts";
import { requirePerson } from "../require-person.ts";

interface Flags extends SourceFlags {
  readonly label?: string;
  readonly includeLogs?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, act: Act): void {
  withSourceOptions(command)
    .option("--label <name>", "names the folder after the date; the branch's name otherwise")
    .option("--include-logs", "copy what the agents printed, too")
    .option("--json", "print JSON")
    .action((flags: Flags) => act((context) => archive(flags, context)));
}

async function archive(flags: Flags, context: CliContext): Promise<number> {
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
  flags: Flags,
  context: CliContext,
): Promise<void> {
  const list = await listToArchive(project, flags, context);
  const files = filesOf(project, list);
  prepareFolder(project);
  const at = Date.now();
  const label = flags.label ?? (await workspaceOf(project).snapshot()).branch ?? "run";
  const { folder, replace, ...written } = archiveFiles(project, {
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

type Replaced = Parameters<typeof archiveFiles>[1]["files"];

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
