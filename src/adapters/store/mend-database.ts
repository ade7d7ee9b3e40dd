import { closeSync, copyFileSync, existsSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { isoTime } from "../../core/time.ts";
import { holdExclusively } from "./exclusive-hold.ts";
import { readDamaged } from "./read-damaged.ts";
import { replayable } from "./replayable.ts";
import { migrate } from "./schema.ts";
import { isDamage, storeError } from "./store-error.ts";

/** Others wait in place while one of them reads the whole file, perhaps a big one. */
const PATIENCE_MS = 30_000;

/**
 * Puts a new database in the place of a damaged one, with every event that can still be read, in order and without
 * gaps, as far as they can be replayed; the damaged one is kept beside it. Answers what the person should be told, or
 * null when the file turns out to be sound. Reads the whole file: only for one that SQLite has complained about.
 */
export function mendIfDamaged(file: string, now: () => number): string | null {
  // Of several processes that meet the damage at once, the later ones must not set aside the new file.
  const hold = holdExclusively(`${file}.repair`, PATIENCE_MS);
  if (hold === null) return null;
  try {
    if (!isDamaged(file)) return null;
    const aside = `${file}.corrupt-${new Date(now()).toISOString().replaceAll(":", "-")}`;
    const draft = `${file}.mended`;
    for (const path of [draft, ...companionsOf(draft)]) rmSync(path, { force: true });
    // SQLite would make it readable for everyone.
    closeSync(openSync(draft, "wx", 0o600));
    const fate = salvage(file, draft);
    putInPlace(file, draft, aside);
    return `${file} was damaged and has been set aside as ${aside}; ${fate}`;
  } catch (error) {
    throw storeError(error, file);
  } finally {
    hold.release();
  }
}

function isDamaged(file: string): boolean {
  if (!existsSync(file)) return false;
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 });
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

/** Fills a new database with what is left of a damaged one; answers in words what that is. */
function salvage(file: string, draft: string): string {
  const { rows, isWhole } = replayable(readDamaged(file, `${draft}-copy`));
  const db = new Database(draft);
  try {
    migrate(db, draft);
    const insert = db.prepare(
      `INSERT INTO events (project, position, at, v, type, run, task, iteration, data)
       VALUES (@project, @position, @at, @v, @type, @run, @task, @iteration, @data)`,
    );
    db.transaction(() => {
      for (const row of rows) insert.run(row);
    })();
  } finally {
    db.close();
  }
  if (rows.length === 0) return "none of its history could be read, so a new one begins";
  const last = isoTime(rows.reduce((latest, { at }) => Math.max(latest, at), 0));
  return isWhole
    ? `all ${rows.length} events that it held were saved`
    : `${rows.length} events, up to ${last}, were saved, and what came after them is lost`;
}

/** There is always a file in the place, so that nobody takes a crash in between for a project without history. */
function putInPlace(file: string, draft: string, aside: string): void {
  for (const suffix of ["", "-wal"]) if (existsSync(file + suffix)) keep(file + suffix, aside + suffix);
  // Before the new one comes: SQLite would take them for its own.
  for (const path of companionsOf(file)) rmSync(path, { force: true });
  renameSync(draft, file);
}

function keep(path: string, aside: string): void {
  try {
    linkSync(path, aside);
  } catch {
    copyFileSync(path, aside); // where files cannot have two names
  }
}

function companionsOf(file: string): readonly string[] {
  return [`${file}-shm`, `${file}-wal`, `${file}-journal`];
}
