import { copyFileSync, existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { EVENT_VERSION } from "../../core/events.ts";
import { evolve } from "../../core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../../core/state.ts";
import { isoTime } from "../../core/time.ts";
import { holdExclusively } from "./exclusive-hold.ts";
import { isOurs, migrate, usableVersion } from "./schema.ts";
import { isDamage, storeError } from "./store-error.ts";
import { dataOf, type EventColumns, type EventRow, recordedFrom, sealed, unsealed } from "./stored-rows.ts";

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
    removeDatabase(draft);
    // SQLite would make it readable for everyone.
    writeFileSync(draft, "", { flag: "wx", mode: 0o600 });
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
    if (db.pragma("integrity_check(1)", { simple: true }) !== "ok") return true;
    return usableVersion(db, file) > 0 && (!isOurs(db) || hasDamagedFact(db));
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  } finally {
    db.close();
  }
}

function hasDamagedFact(db: Database.Database): boolean {
  const last = new Map<string, number>();
  const rows = db.prepare<[], StoredRow>("SELECT * FROM events ORDER BY project, position");
  for (const row of rows.iterate()) {
    if (dataOf(row) === null || row.position !== (last.get(row.project) ?? 0) + 1) return true;
    last.set(row.project, row.position);
  }
  return false;
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
  for (const suffix of COMPANIONS) rmSync(file + suffix, { force: true });
  renameSync(draft, file);
}

function keep(path: string, aside: string): void {
  try {
    linkSync(path, aside);
  } catch {
    copyFileSync(path, aside); // where files cannot have two names
  }
}

const COMPANIONS = ["-shm", "-wal", "-journal"];

function removeDatabase(path: string): void {
  for (const suffix of ["", ...COMPANIONS]) rmSync(path + suffix, { force: true });
}

interface StoredRow extends EventRow, EventColumns {
  readonly project: string;
}

interface Damaged {
  /** In the order in which they were recorded. */
  readonly rows: readonly StoredRow[];
  /** Whether nothing was met that could not be read. */
  readonly isWhole: boolean;
}

const PAGE_BYTES = 4096;
/** Where the first page tells how many there are. */
const COUNT_AT = 28;

/** Every event that can be read in a damaged database. It is not touched: the work is done on a copy, which is removed. */
function readDamaged(file: string, copy: string): Damaged {
  const bytes = readFileSync(file);
  const first = readCopy(file, copy, bytes);
  if (first !== null && first.rows.length > 0) return first;
  // Its first page tells what is where. That is the same in every database of ours, so a new one's does as well.
  const mended = Buffer.concat([firstPage(), bytes.subarray(PAGE_BYTES)]);
  return readCopy(file, copy, mended) ?? { rows: [], isWhole: false };
}

/** Null when SQLite cannot make sense of it. */
function readCopy(file: string, copy: string, bytes: Buffer): Damaged | null {
  // SQLite refuses a file that is shorter than it says; what is left of it can be read all the same.
  if (bytes.length >= PAGE_BYTES) bytes.writeUInt32BE(Math.floor(bytes.length / PAGE_BYTES), COUNT_AT);
  try {
    writeFileSync(copy, bytes, { mode: 0o600 });
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    return readable(() => {
      const db = new Database(copy);
      try {
        return readRows(db);
      } finally {
        db.close();
      }
    });
  } finally {
    removeDatabase(copy);
  }
}

function firstPage(): Buffer {
  const db = new Database(":memory:");
  migrate(db, "memory");
  const page = db.serialize().subarray(0, PAGE_BYTES);
  db.close();
  return page;
}

/** So many rows in a row that cannot be read mean that there are no more. */
const UNREADABLE_MAX = 5_000;

/** By the number of the row, without any index: these may be what is damaged. */
function readRows(db: Database.Database): Damaged {
  const next = db.prepare<[number], StoredRow & { readonly rowid: number }>(
    `SELECT rowid, project, position, at, v, type, run, task, iteration, data
     FROM events NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT 1`,
  );
  const rows: StoredRow[] = [];
  let isWhole = true;
  let unreadable = 0;
  for (let after = 0; unreadable < UNREADABLE_MAX;) {
    const row = readable(() => next.get(after));
    if (row === undefined) break;
    // In a damaged page a row may have a number that was asked for long ago: it would come again and again.
    if (row !== null && row.rowid > after) {
      const { rowid, ...stored } = row;
      rows.push(stored);
      after = rowid;
      unreadable = 0;
    } else {
      isWhole = false;
      unreadable += 1;
      after += 1;
    }
  }
  return { rows, isWhole };
}

/** Null for what SQLite cannot make sense of, and for a file without our table. */
function readable<Read>(read: () => Read): Read | null {
  try {
    return read();
  } catch (error) {
    const isAboutContent =
      error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB|ERROR|IOERR)/.test(error.code);
    if (isAboutContent) return null;
    throw error;
  }
}

/**
 * Of each project the events from its first one on, up to one that is missing or cannot be replayed. What is known of
 * an iteration whose end is lost is left out: it would be taken for one that was interrupted just now, and everything
 * that has happened since for its work.
 */
function replayable({ rows, isWhole }: Damaged): Damaged {
  const ends = new Map<string, State>();
  const broken = new Set<string>();
  const good = rows.filter((row) => {
    const after = broken.has(row.project) ? null : replayed(ends.get(row.project) ?? EMPTY_STATE, row);
    if (after === null) broken.add(row.project);
    else ends.set(row.project, after);
    return after !== null;
  });
  if (isWhole && broken.size === 0) return { rows: good, isWhole };
  const isOver = ({ project, iteration }: StoredRow): boolean =>
    ends.get(project)?.iterations.some(({ number }) => number === iteration) !== true;
  return { rows: numbered(good.filter(isOver)), isWhole: false };
}

function replayed(state: State, row: StoredRow): State | null {
  if (row.position !== state.position + 1 || dataOf(row) === null) return null;
  // What a newer ralph recorded is kept for it, though nobody here can replay it.
  if (row.v > EVENT_VERSION) return { ...state, position: row.position };
  try {
    const event = recordedFrom(row, row.project);
    return event.type === row.type ? evolve(state, event) : null;
  } catch {
    return null; // half of an event, or none: what came after it cannot be understood without it
  }
}

/** Positions have no gaps, also where something was left out. */
function numbered(rows: readonly StoredRow[]): readonly StoredRow[] {
  const last = new Map<string, number>();
  return rows.map((row) => {
    const position = (last.get(row.project) ?? 0) + 1;
    last.set(row.project, position);
    if (position === row.position) return row;
    const { data, at, v } = row;
    return { ...row, position, data: sealed(unsealed(data, row.position, at, v), position, at, v) };
  });
}
