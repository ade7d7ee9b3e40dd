import { UNVERSIONED } from "../../core/views/ralph-files.ts";
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { RalphError } from "../../core/errors.ts";
import type { Instant } from "../../core/time.ts";
import { fileError, removeAbandonedIn, writeFileAtomically } from "../process/atomic-file.ts";
import { namesIn } from "../process/look-at.ts";

/** Makes `.ralph/` ready to be written to; it ignores its own views, so that a run never dirties the tree. */
export function prepareRalphFolder(folder: string, ...subfolders: readonly string[]): void {
  try {
    for (const path of [folder, ...["logs", ...subfolders].map((name) => join(folder, name))]) {
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw isLink(path);
      // Not recursive where it need not be: Node then reports a read-only disk as a missing folder.
      if (!existsSync(path)) mkdirSync(path, { recursive: path === folder });
    }
    // Another ralph may have made it for everybody.
    if ((statSync(join(folder, "logs")).mode & 0o077) !== 0) chmodSync(join(folder, "logs"), 0o700);
    for (const path of ["", "logs", "interventions"]) removeAbandonedIn(join(folder, path));
    const ignore = join(folder, ".gitignore");
    const wanted = `${[".gitignore", ...UNVERSIONED].join("\n")}\n`;
    // What else lies in its place (a link, a pipe) is replaced, not followed.
    if (!holds(ignore, wanted)) writeFileAtomically(ignore, wanted, { durable: false });
    // Opening for writing is the only honest test: a read-only mount looks writable by its mode.
    createFile(join(folder, "logs", ".writable"));
  } catch (error) {
    throw error instanceof RalphError ? error : fileError(error, folder);
  }
}

/** Writes views under `.ralph/`: each only when its text is new, or when an agent has cleaned up. */
export class ViewFiles {
  readonly #folder: string;
  readonly #written = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  put(file: string, text: string): void {
    const path = this.prepare(file);
    const known = this.#written.get(file);
    const isThere = known === undefined ? holds(path, text) : known === text && existsSync(path);
    if (!isThere) writeFileAtomically(path, text, { durable: false });
    this.#written.set(file, text);
  }

  putJson(file: string, value: unknown): void {
    this.put(file, `${JSON.stringify(value, null, 2)}\n`);
  }

  /** The path of a file, whose folder is ready; a link in the folder's place could lead elsewhere. */
  prepare(file: string): string {
    const path = join(this.#folder, file);
    const there = lstatSync(dirname(path), { throwIfNoEntry: false });
    if (there?.isDirectory() !== true) prepareRalphFolder(this.#folder, dirname(file));
    return path;
  }
}

/** Whether a plain file has exactly this text; one of another size is not even read. */
function holds(path: string, text: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size !== Buffer.byteLength(text)) return false;
  return readFileSync(path, "utf8") === text;
}

/** Without it nothing that is configured would be found, and something else would be said. */
export function refuseUnlessFolder(folder: string): void {
  const there = lstatSync(folder, { throwIfNoEntry: false });
  if (there === undefined || statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (there.isSymbolicLink()) throw isLink(folder);
  throw new RalphError("not-writable", `${folder} is not a folder, and ralph keeps its files in one`, {
    hint: "move it away",
  });
}

function isLink(path: string): RalphError {
  return new RalphError(
    "not-writable",
    `${path} is a symbolic link; ralph writes only inside the repository`,
    { hint: "remove the link" },
  );
}

/** The highest number among the transcripts that are there. */
export function lastTranscript(folder: string, name = "iteration"): number {
  const numbers = namesIn(join(folder, "logs")).map((file) =>
    file.startsWith(`${name}-`) ? Number(/^\d+(?=\.log$)/.exec(file.slice(name.length + 1))?.[0] ?? 0) : 0,
  );
  return Math.max(0, ...numbers);
}

function createFile(path: string): void {
  // Not rmSync: of a read-only disk that one tells no code that anybody could understand.
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path);
  closeSync(openSync(path, "wx"));
}

/** What agents printed and were told, and what a run printed that was watched in the monitor. */
const TEXT = /^(?:(iteration|plan)-(\d+)(?:\.reader)?\.(?:log|prompt\.md)|run-\d{8}T\d{6}-\d+\.log)$/;

/**
 * Deletes texts of iterations that nobody has written to since a moment; answers how many files. Links are no files of
 * ours, and the last number of each kind stays: by it numbers go on when the log is lost.
 */
export function deleteOldTexts(ralphDir: string, before: Instant): number {
  const logs = join(ralphDir, "logs");
  const texts = namesIn(logs).flatMap((name) => {
    const [is, kind = "run", number = "0"] = TEXT.exec(name) ?? [];
    return is === undefined ? [] : [{ name, kind, number: Number(number) }];
  });
  const last = new Map<string, number>();
  for (const { kind, number } of texts) last.set(kind, Math.max(number, last.get(kind) ?? 0));
  const isLast = (kind: string, number: number): boolean => kind !== "run" && number === last.get(kind);
  return texts
    .filter(({ kind, number }) => !isLast(kind, number))
    .filter(({ name }) => deleteIfOld(join(logs, name), before)).length;
}

/** What cannot be deleted stays; that is no reason not to work. */
function deleteIfOld(path: string, before: Instant): boolean {
  try {
    const file = lstatSync(path);
    if (!file.isFile() || file.mtimeMs >= before) return false;
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}
