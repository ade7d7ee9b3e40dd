import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Database } from "better-sqlite3";
import { openSqlite } from "./open-sqlite.ts";
import { isBusy } from "./store-error.ts";

export interface Hold {
  release(): void;
}

/**
 * Holds a file for this process alone, by an exclusive transaction on it; null when somebody holds it already.
 * The operating system drops the lock when the process dies, however it dies, and keeps it while it is stopped.
 */
export function holdExclusively(file: string, patienceMs: number): Hold | null {
  const path = realPathOf(file);
  if (held.has(path)) return null;
  const db = openSqlite(path, { timeout: patienceMs });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
  held.set(path, db);
  return {
    release: () => {
      if (held.get(path) === db) held.delete(path);
      db.close();
    },
  };
}

/** Whether some process holds the file; makes no file, and does not disturb the holder. */
export function isHeld(file: string): boolean {
  if (!existsSync(file)) return false;
  const path = realPathOf(file);
  if (held.has(path)) return true;
  const db = openSqlite(path, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.close();
  }
}

/**
 * What this process holds. A second descriptor on a held file must never be opened here, since closing it would
 * drop the lock (POSIX); and a connection that nobody refers to would be collected, and the lock with it.
 */
const held = new Map<string, Database>();

function realPathOf(file: string): string {
  return join(realpathSync(dirname(file)), basename(file));
}
