import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileError, systemCode } from "../process/atomic-file.ts";
import { RalphError } from "../../core/errors.ts";

/** What SQLite or the file system refused, in words that a person can act on. */
export function storeError(error: unknown, file: string): Error {
  if (error instanceof RalphError) return error;
  const code = systemCode(error);
  if (isBusy(error)) {
    return new RalphError(
      "state-unusable",
      `the database ${file} is busy: another process keeps writing to it`,
      { hint: "try again; if it stays busy, look for a stopped ralph process", cause: error },
    );
  }
  if (isFull(code, file)) {
    return new RalphError("disk-full", `no space left to write ${file}; nothing that was recorded is lost`, {
      hint: `free some space on the disk of ${dirname(file)}, then start ralph again`,
      cause: error,
    });
  }
  const opening = code.startsWith("SQLITE_CANTOPEN") ? whyNotOpened(dirname(file)) : error;
  if (/^(EMFILE|ENFILE|ESTALE)$/.test(systemCode(opening))) return fileError(opening, file) as Error;
  if (NOT_WRITABLE.test(code)) {
    return new RalphError("not-writable", `cannot write ${file} (${messageOf(error)})`, {
      hint: `make ${dirname(file)} writable, or name another place with RALPH_STATE`,
      cause: error,
    });
  }
  if (code.startsWith("SQLITE_")) {
    return new RalphError("state-unusable", `the database ${file} cannot be used (${messageOf(error)})`, {
      hint: "see what is wrong with it: ralph doctor",
      cause: error,
    });
  }
  return error instanceof Error ? error : new Error(String(error));
}

/** Another connection is in the way; SQLITE_PROTOCOL is what many opening at once can see. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|PROTOCOL)/.test(systemCode(error));
}

/** Also of a fact that can be read and is not what was written, and where the names of tables are not ours any more. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedFact) return true;
  const isNamed =
    systemCode(error) === "SQLITE_ERROR" && /^no such (table|column|index)/.test(messageOf(error));
  return isNamed || /^SQLITE_(CORRUPT|NOTADB)/.test(systemCode(error));
}

/** What is stored is not what was written. A file is mended when it is met; a shared database is not ours to mend. */
export class DamagedFact extends RalphError {
  constructor(what: string, place: string, cause?: unknown) {
    super("state-unusable", `${what} in ${place} is damaged`, {
      hint: "restore the database from a backup, or forget this project's history: ralph reset --all",
      cause,
    });
  }
}

const NOT_WRITABLE =
  /^(SQLITE_(READONLY|CANTOPEN|PERM|AUTH)|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|EISDIR|ENOENT)/;

function isFull(code: string, file: string): boolean {
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code)) return true;
  // SQLite calls it a plain I/O error where a quota is used up, or its shared-memory file finds no space.
  return code.startsWith("SQLITE_IOERR") && /^(ENOSPC|EDQUOT)$/.test(systemCode(whyNotWritten(file)));
}

/** SQLite does not say why it could not open a file. */
function whyNotOpened(folder: string): unknown {
  try {
    closeSync(openSync(folder, "r"));
    return null;
  } catch (error) {
    return error;
  }
}

/** What the system says to a few bytes beside the database; null when it takes them. */
function whyNotWritten(file: string): unknown {
  const probe = `${file}-probe-${process.pid}`;
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { flush: true });
    return null;
  } catch (error) {
    return error;
  } finally {
    rmSync(probe, { force: true });
  }
}

const PROBE_BYTES = 4096;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
