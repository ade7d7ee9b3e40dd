import { existsSync, renameSync } from "node:fs";
import Database from "better-sqlite3";
import { holdExclusively } from "./exclusive-hold.ts";
import { isDamage, storeError } from "./store-error.ts";

const PATIENCE_MS = 5_000;

/**
 * Renames a damaged database, so that a fresh one can be made; answers its new name, or null when the file turns
 * out to be sound. Reads the whole file: only for one that SQLite has complained about.
 */
export function setAsideIfDamaged(file: string, now: () => number): string | null {
  // Of several processes that meet the damage at once, the later ones must not set aside the fresh file.
  const hold = holdExclusively(`${file}.repair`, PATIENCE_MS);
  if (hold === null) return null;
  try {
    if (!isDamaged(file)) return null;
    const aside = `${file}.corrupt-${new Date(now()).toISOString().replaceAll(":", "-")}`;
    // The main file goes last: from then on others make a fresh one, whose companions are theirs.
    for (const suffix of ["-shm", "-wal", ""]) {
      if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
    }
    return aside;
  } catch (error) {
    throw storeError(error, file);
  } finally {
    hold.release();
  }
}

function isDamaged(file: string): boolean {
  if (!existsSync(file)) return false;
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: PATIENCE_MS });
  try {
    // Not quick_check: that one overlooks an index that disagrees with its table.
    return db.pragma("integrity_check(1)", { simple: true }) !== "ok";
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  } finally {
    db.close();
  }
}
