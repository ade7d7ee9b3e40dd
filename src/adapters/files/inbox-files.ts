import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { RalphError } from "../../core/errors.ts";
import type { InboxFiles } from "../../engine/ports.ts";
import { fileError, writeFileAtomically } from "../process/atomic-file.ts";

/** Inbox files to the operator as files under `.ralph/`. */
export function createInboxFiles(ralphDir: string): InboxFiles {
  const pathOf = (file: string): string => join(ralphDir, plainName(file));
  return {
    publish: async (file, text) => publish(pathOf(file), text),
    read: async (file) => readInboxFile(pathOf(file)),
    withdraw: async (file) => withdraw(pathOf(file)),
  };
}

/** Far more than a person writes; somebody may have put anything there. */
const INBOX_FILE_BYTES_MAX = 1_048_576;

function publish(path: string, text: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw fileError(error, dirname(path));
  }
  // A symbolic link in its place is replaced, not followed.
  writeFileAtomically(path, text);
  return readInboxFile(path)?.sha256 ?? "";
}

function readInboxFile(path: string): { text: string; sha256: string } | null {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined) return null;
  // A folder, a link or a pipe is not an answer, and nobody deleted the inbox file either.
  const isInboxFile = stats.isFile() && stats.size <= INBOX_FILE_BYTES_MAX;
  const bytes = isInboxFile ? readFileSync(path) : Buffer.alloc(0);
  return { text: bytes.toString("utf8"), sha256: digest(bytes, stats.mtimeNs) };
}

function withdraw(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw fileError(error, path);
  }
}

function plainName(file: string): string {
  if (file === basename(file) && file !== "" && !file.startsWith(".")) return file;
  throw new RalphError("internal", `${file} is not the name of a letter`);
}

/** Of the text and its date: saving the same words again is an act too. */
function digest(text: Uint8Array, savedAt: bigint): string {
  return createHash("sha256").update(text).update(String(savedAt)).digest("hex");
}
