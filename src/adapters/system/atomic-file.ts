import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileError } from "./file-error.ts";

/** A process that dies in between leaves a file that begins so, and its number follows; it is nobody's work. */
export const TEMPORARY_PREFIX = ".ralph-tmp-";

export interface WriteOptions {
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
