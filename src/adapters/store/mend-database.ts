import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
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

interface StoredRow extends EventRow, EventColumns {
  readonly project: string;
}

interface Damaged {
  /** In the order in which they were recorded. */
  readonly rows: readonly StoredRow[];
  /** Whether nothing was met that could not be read. */
  readonly isWhole: boolean;
}

const NOTHING: Damaged = { rows: [], isWhole: false };

/** Every event that can be read in a damaged database. It is not touched: the work is done on a copy, which is removed. */
function readDamaged(file: string, copy: string): Damaged {
  const first = readWith(file, copy, () => {});
  if (first.rows.length > 0) return first;
  // Its first page tells what is where. That is the same in every database of ours, so a new one's does as well.
  return readWith(file, copy, (descriptor) =>
    writeSync(descriptor, firstPage(`${copy}-new`), 0, PAGE_BYTES, 0),
  );
}

const PAGE_BYTES = 4096;
/** Where the first page tells how many there are. */
const COUNT_AT = 28;

function readWith(file: string, copy: string, mend: (descriptor: number) => void): Damaged {
  try {
    copyFileSync(file, copy);
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    changeInPlace(copy, (descriptor) => {
      mend(descriptor);
      tellPages(descriptor);
    });
    const db = new Database(copy);
    try {
      return readRows(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if (isAboutContent(error)) return NOTHING;
    throw error;
  } finally {
    remove(copy);
  }
}

/** What SQLite says of a file that it cannot make sense of, and of one without our table. */
function isAboutContent(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB|ERROR|IOERR)/.test(error.code);
}

function changeInPlace(path: string, change: (descriptor: number) => void): void {
  const descriptor = openSync(path, "r+");
  try {
    change(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** SQLite refuses a file that is shorter than it says; what is left of it can be read all the same. */
function tellPages(descriptor: number): void {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(Math.floor(fstatSync(descriptor).size / PAGE_BYTES));
  writeSync(descriptor, count, 0, 4, COUNT_AT);
}

function firstPage(scratch: string): Buffer {
  const db = new Database(scratch);
  try {
    migrate(db, scratch);
    return db.serialize().subarray(0, PAGE_BYTES);
  } finally {
    db.close();
    remove(scratch);
  }
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

/** Null for what cannot be read. */
function readable<Row>(read: () => Row): Row | null {
  try {
    return read();
  } catch (error) {
    if (isAboutContent(error)) return null;
    throw error;
  }
}

function remove(copy: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(copy + suffix, { force: true });
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
  if (isWhole && broken.size === 0) return { rows: good, isWhole: true };
  return { rows: numbered(good.filter((row) => !isOfOpen(row, ends.get(row.project)))), isWhole: false };
}

function replayed(state: State, row: StoredRow): State | null {
  if (row.position !== state.position + 1) return null;
  if (dataOf(row) === null) return null;
  // What a newer ralph recorded is kept for it, though nobody here can replay it.
  if (row.v > EVENT_VERSION) return { ...state, position: row.position };
  try {
    const event = recordedFrom(row, row.project);
    return event.type === row.type ? evolve(state, event) : null;
  } catch {
    return null; // half of an event, or none: what came after it cannot be understood without it
  }
}

function isOfOpen({ iteration }: StoredRow, end: State | undefined): boolean {
  return end?.iterations.some(({ number }) => number === iteration) === true;
}

/** Positions have no gaps, also where something was left out. */
function numbered(rows: readonly StoredRow[]): readonly StoredRow[] {
  const last = new Map<string, number>();
  return rows.map((row) => {
    const position = (last.get(row.project) ?? 0) + 1;
    last.set(row.project, position);
    return position === row.position ? row : { ...row, position, data: resealed(row, position) };
  });
}

function resealed({ data, position, at, v }: StoredRow, to: number): string {
  return sealed(unsealed(data, position, at, v), to, at, v);
}
