import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Database } from "better-sqlite3";
import { RalphError } from "../../core/errors.ts";
import { asArgument } from "../../core/text.ts";
import { openSqlite } from "./exclusive-hold.ts";
import { temporaryBeside } from "../process/atomic-file.ts";
import { storeError } from "./store-error.ts";

/** What the project's rows in the store are known by; made once, the same for everybody who asks. */
export function projectId(folder: string): string {
  const file = join(folder, "project");
  try {
    return read(file) ?? create(folder, file);
  } catch (error) {
    throw storeError(error, file);
  }
}

function read(file: string): string | null {
  const text = readIfThere(file);
  if (text === null) return null;
  const id = text.trim();
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return id;
  throw damagedId(file, onlyProjectBeside(file));
}

function damagedId(file: string, only: string | null): RalphError {
  return new RalphError("state-unusable", `${file} does not hold the id of the project`, {
    hint:
      only === null
        ? `restore or delete it; after deleting, the project's history in the state database is not found again`
        : `the history beside it is that of one project only; put its id back: echo ${only} > ${asArgument(file)}`,
  });
}

/** An id that was damaged and still looks like one would begin a new history, and nobody would be told. */
export function requireKnown(db: Database, stateFile: string, id: string): void {
  if (db.prepare("SELECT 1 FROM events WHERE project = ? LIMIT 1").get(id) !== undefined) return;
  const only = onlyProjectIn(db);
  const file = join(dirname(stateFile), "project");
  if (only !== null && readIfThere(file)?.trim() === id) throw damagedId(file, only);
}

function onlyProjectIn(db: Database): string | null {
  const [only, ...others] = db
    .prepare<[], string>("SELECT DISTINCT project FROM events LIMIT 2")
    .pluck()
    .all();
  return others.length === 0 ? (only ?? null) : null;
}

function onlyProjectBeside(file: string): string | null {
  try {
    const db = openSqlite(join(dirname(file), "state.db"), { readonly: true, fileMustExist: true });
    try {
      return onlyProjectIn(db);
    } finally {
      db.close();
    }
  } catch {
    return null; // there is none, or it cannot be read either
  }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
}

/** Linking a finished file into place is atomic and never replaces the one of a process that was faster. */
function create(folder: string, file: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const id = crypto.randomUUID();
  const draft = temporaryBeside(file);
  try {
    // Losing the id in a power cut would lose the way to the history that was recorded under it.
    writeFileSync(draft, `${id}\n`, { flag: "wx", mode: 0o600, flush: true });
    linkSync(draft, file);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(folder);
  return read(file) ?? id;
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
