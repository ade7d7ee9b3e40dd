import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { RalphError } from "../../core/errors.ts";
import { fileError, TEMPORARY_PREFIX, writeFileAtomically } from "../process/atomic-file.ts";
import { namesIn } from "../process/look-at.ts";
import { isOutside, safePath } from "../process/safe-path.ts";

export interface ArchiveRequest {
  readonly ralphDir: string;
  /** Of the folder; one that is there already gets a number. */
  readonly name: string;
  /** `fresh` takes the file's place; null leaves nothing there. */
  readonly files: readonly { readonly file: ListFile; readonly fresh: string | null }[];
  readonly includeLogs: boolean;
  /** The text of `summary.md`. */
  readonly summary: (files: readonly ArchivedFile[]) => string;
}

interface ArchivedFile {
  /** In the folder. */
  readonly name: string;
  /** Where it was, relative to the root. */
  readonly from: string;
}

export interface Archive {
  readonly folder: string;
  /** Names of everything in the folder. */
  readonly files: readonly string[];
  /** Puts the fresh files in place of the archived ones; until then every file is where it was, too. */
  readonly replace: () => void;
}

/** Copies a list into a folder of its own, which appears whole or not at all. */
export function writeArchive(request: ArchiveRequest): Archive {
  const { ralphDir, name, files, includeLogs } = request;
  const archives = safePath(ralphDir, "archive");
  const named = withNames(files.map(({ file }) => file));
  const temporary = join(archives, `${TEMPORARY_PREFIX}${randomBytes(4).toString("hex")}`);
  try {
    mkdirSync(archives, { recursive: true });
    // What a process left that died while it copied: the originals are where they were.
    for (const half of namesIn(archives).filter((one) => one.startsWith(TEMPORARY_PREFIX)))
      rmSync(join(archives, half), { recursive: true, force: true });
    mkdirSync(temporary);
    for (const { name: to, file } of named) writeFileAtomically(join(temporary, to), file.bytes);
    const from = named.map((one) => ({ name: one.name, from: one.file.path }));
    writeFileAtomically(join(temporary, SUMMARY), request.summary(from));
    const logs = includeLogs ? copyLogs(ralphDir, temporary) : [];
    syncFolder(temporary);
    const folder = freeName(archives, name);
    renameSync(temporary, folder);
    syncFolder(archives);
    return {
      folder,
      files: [...named.map((one) => one.name), SUMMARY, ...logs],
      replace: () => replaceAll(files),
    };
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error instanceof RalphError ? error : fileError(error, archives);
  }
}

const SUMMARY = "summary.md";
const LOGS = "logs";

/** Files of one name from two places are told apart by the folder they come from. */
function withNames(
  files: readonly ListFile[],
): readonly { readonly name: string; readonly file: ListFile }[] {
  const taken = new Set([SUMMARY, LOGS]);
  return files.map((file) => {
    const long = file.path.replaceAll(/[/\\]+/g, "-").replace(/^[.-]+/, "");
    let name = basename(file.path);
    for (let count = 1; taken.has(name.toLowerCase()); count += 1)
      name = count === 1 ? long : `${count}-${long}`;
    taken.add(name.toLowerCase());
    return { name, file };
  });
}

function freeName(archives: string, name: string): string {
  for (let count = 1; ; count += 1) {
    const folder = join(archives, count === 1 ? name : `${name}-${count}`);
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return folder;
  }
}

/** Files only: a link among them is not followed. The originals stay, so the copies need not be durable. */
function copyLogs(ralphDir: string, to: string): readonly string[] {
  const from = safePath(ralphDir, LOGS);
  if (!existsSync(from)) return [];
  const names = readdirSync(from, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => entry.name)
    .toSorted();
  mkdirSync(join(to, LOGS), { mode: 0o700 });
  for (const name of names) copyFileSync(join(from, name), join(to, LOGS, name), constants.COPYFILE_FICLONE);
  return names.map((name) => `${LOGS}/${name}`);
}

/** Nobody's edit is overwritten: a file that changed since it was copied stops the rest. */
function replaceAll(files: ArchiveRequest["files"]): void {
  for (const { file, fresh } of files) {
    if (!readFileSync(file.real).equals(file.bytes)) {
      throw new RalphError("usage", `${file.path} was changed while it was being archived`, {
        hint: "it is as somebody left it; archive it again: ralph archive",
      });
    }
    try {
      if (fresh === null) rmSync(file.real);
      else writeFileAtomically(file.real, fresh);
    } catch (error) {
      throw fileError(error, file.real);
    }
  }
  for (const folder of new Set(files.map(({ file }) => dirname(file.real)))) syncFolder(folder);
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** What a file of a list is for: the tasks, a checklist that agents tick, the requirements, notes, a letter. */
type FileRole = "tasks" | "checklist" | "requirements" | "notes" | "letter";

/** One file that belongs to a list of tasks, as it was read. */
export interface ListFile {
  readonly role: FileRole;
  /** As a person knows it, relative to the root. */
  readonly path: string;
  /** Where it really lies, symbolic links followed. */
  readonly real: string;
  readonly bytes: Buffer;
}

interface ListPlaces {
  readonly root: string;
  readonly ralphDir: string;
  /** Of the task source, relative to the root. */
  readonly source: readonly { readonly path: string; readonly isAgents: boolean }[];
  /** Names of letters in `.ralph/`. */
  readonly letters: readonly string[];
}

const BESIDE: readonly (readonly [name: string, role: FileRole])[] = [
  ["prd.md", "requirements"],
  ["PRD.md", "requirements"],
  ["progress.txt", "notes"],
];

/** Reads what belongs to a list: its source, and requirements and notes beside it or in `.ralph/`. */
export function readListFiles({ root, ralphDir, source, letters }: ListPlaces): readonly ListFile[] {
  const folders = new Set([ralphDir, ...source.map(({ path }) => dirname(join(root, path)))]);
  const candidates: (readonly [path: string, role: FileRole])[] = [
    ...source.map(({ path, isAgents }) => [join(root, path), isAgents ? "checklist" : "tasks"] as const),
    ...[...folders].flatMap((folder) => BESIDE.map(([name, role]) => [join(folder, name), role] as const)),
    ...letters.map((name) => [join(ralphDir, name), "letter"] as const),
  ];
  const found: ListFile[] = [];
  const seen = new Set<string>();
  for (const [path, role] of candidates) {
    const file = readFile({ root, ralphDir }, path, role);
    if (file === null || seen.has(file.identity)) continue;
    seen.add(file.identity);
    found.push({ role, path: relative(root, path), real: file.real, bytes: file.bytes });
  }
  return found;
}

function readFile(
  { root, ralphDir }: { readonly root: string; readonly ralphDir: string },
  path: string,
  role: FileRole,
): { readonly real: string; readonly bytes: Buffer; readonly identity: string } | null {
  // A letter is ours, and a link in its place is not: its own reader does not follow it either.
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined || (role === "letter" && !there.isFile())) return null;
  const base = isOutside(root, path) ? ralphDir : root;
  const real = safePath(base, relative(base, path));
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!stats.isFile()) {
    throw new RalphError("usage", `${relative(root, path)} is not a file`, { hint: "move it away" });
  }
  try {
    // Two names may be one file where case does not count.
    return { real, bytes: readFileSync(real), identity: `${stats.dev}:${stats.ino}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new RalphError("usage", `${relative(root, path)} cannot be read (${code})`, { cause: error });
  }
}
