import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { constants as constantsOf } from "node:os";
import { basename, dirname, join } from "node:path";
import { RalphError } from "../../core/errors.ts";
import { entriesIn } from "./look-at.ts";

/** A process that dies in between leaves a file that begins so, and its number follows; it is nobody's work. */
export const TEMPORARY_PREFIX = ".ralph-tmp-";

interface WriteOptions {
  /** False for what can be made again: a power cut may then lose the new text, a crash of ours cannot. */
  readonly durable?: boolean;
}

/** Puts the whole text in place at once: a reader sees the old file or the new one, a full disk leaves the old. */
export function writeFileAtomically(
  path: string,
  text: string | Uint8Array,
  options: WriteOptions = {},
): void {
  const temporary = temporaryBeside(path);
  try {
    writeLike(path, temporary, text, options.durable ?? true);
    renameSync(temporary, path);
  } catch (error) {
    removeQuietly(temporary);
    throw fileError(error, path);
  }
}

/** A name that nobody else uses; whose file it is can be told by it. */
export function temporaryBeside(path: string): string {
  const unique = `${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
  return join(dirname(path), `${TEMPORARY_PREFIX}${unique}-${basename(path)}`);
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The first failure is the one to tell.
  }
}

function writeLike(path: string, temporary: string, text: string | Uint8Array, durable: boolean): void {
  const old = statSync(path, { throwIfNoEntry: false });
  const file = openSync(temporary, "wx");
  try {
    writeFileSync(file, text);
    if (old !== undefined) keepOwnerAndMode(file, old);
    if (durable) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function keepOwnerAndMode(file: number, old: { mode: number; uid: number; gid: number }): void {
  if (old.uid !== process.getuid?.() || old.gid !== process.getgid?.()) {
    try {
      fchownSync(file, old.uid, old.gid);
    } catch {
      // Only root may give files away; the content matters more than the owner.
    }
  }
  fchmodSync(file, old.mode & 0o7777);
}

/** Nobody takes so long to write a file: it is a dead process's, though its number may be another's by now. */
const OLD_MS = 3_600_000;

/** Removes the temporary files in a folder whose process died before they were in place. */
export function removeAbandonedIn(folder: string): void {
  for (const { name } of entriesIn(folder))
    if (name.startsWith(TEMPORARY_PREFIX)) removeIfAbandoned(join(folder, name));
}

export function removeIfAbandoned(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return;
  const pid = /^(\d+)-/.exec(basename(path).slice(TEMPORARY_PREFIX.length))?.[1];
  const isDead = pid !== undefined && !isAlive(Number(pid));
  if (isDead || Date.now() - stats.mtimeMs > OLD_MS) remove(path);
}

function remove(path: string): void {
  try {
    unlinkSync(path); // not rmSync: of a read-only disk that one tells no code that anybody could understand
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // else another process was faster
  }
}

/**
 * Removes a folder, also with folders in it that nobody may write to, as overlays and tools leave them. What stays,
 * because somebody still writes there, is left to the next pass: it is no reason to fail.
 */
export async function removeTree(folder: string): Promise<void> {
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(() => {
    openFolders(folder);
    return remove().catch(() => undefined);
  });
}

function openFolders(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch {
    // somebody else's
  }
  for (const entry of entriesIn(folder)) if (entry.isDirectory()) openFolders(join(folder, entry.name));
}

/** A failed write as one sentence: what, where, what to do. Errors that are not about files come back as they are. */
export function fileError(error: unknown, path: string): unknown {
  const code = systemCode(error);
  const [codes, says, hint] = FAILURES.find(([codes]) => code !== "" && codes.includes(code)) ?? [];
  if (codes === undefined || says === undefined || hint === undefined) return error;
  const told = says.replace("CODE", code).replace("PATH", () => path);
  return new RalphError(codes.includes("ENOSPC") ? "disk-full" : "not-writable", told, {
    hint,
    cause: error,
  });
}

const FAILURES: readonly (readonly [codes: readonly string[], says: string, hint: string])[] = [
  [
    ["ENOSPC", "EDQUOT"],
    "no space left on the disk while writing PATH",
    "free some space and start ralph again: it goes on where it was, nothing recorded is lost",
  ],
  [["ENOENT"], "PATH cannot be written: the folder for it does not exist", "make that folder"],
  [["EROFS", "EACCES", "EPERM"], "PATH cannot be written (CODE)", "make it writable for this user"],
  [
    ["ENOTDIR", "EISDIR", "ELOOP", "EEXIST"],
    "PATH cannot be written: something else is in its place (CODE)",
    "move it away",
  ],
  [
    ["ESTALE"],
    "PATH cannot be written: its network disk has lost it (CODE)",
    "mount it again and start ralph again: it goes on where it was",
  ],
  [
    ["EMFILE", "ENFILE"],
    "PATH cannot be opened: too many files are open (CODE)",
    "allow more, then start ralph again: ulimit -n 4096",
  ],
];

/** Some errors of a system Node knows by their number only, which is in the code or beside it. */
export function systemCode(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  const code = String(error.code);
  if (!/^(UNKNOWN$|Unknown system error)/.test(code)) return code;
  const number = "errno" in error ? Number(error.errno) : Number(code.split(" ").at(-1));
  return UNNAMED.find((name) => constantsOf.errno[name] === -number) ?? code;
}

const UNNAMED = ["EDQUOT", "ESTALE"] as const;

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const BYTES_MAX = 1024 * 1024;

export interface FileEnd {
  readonly text: string;
  readonly isWhole: boolean;
}

/** The text of a file, or the last lines of a huge one; null for what is no file or cannot be read. */
export function readEnd(path: string, { followsLinks }: { readonly followsLinks: boolean }): FileEnd | null {
  let file: number | null = null;
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    const from = Math.max(0, stats.size - BYTES_MAX);
    const buffer = Buffer.alloc(stats.size - from);
    const text = buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, from));
    return { text: from === 0 ? text : text.slice(text.indexOf("\n") + 1), isWhole: from === 0 };
  } catch {
    return null; // not there, or not ours to read: either way it tells nothing
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** The whole text of a file that is not huge. */
export function readSmallFile(path: string): string | null {
  const end = readEnd(path, { followsLinks: true });
  return end?.isWhole === true ? end.text : null;
}

/** Whether a process (below zero: a group) with this number exists, whoever it belongs to. Numbers are given out again. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
