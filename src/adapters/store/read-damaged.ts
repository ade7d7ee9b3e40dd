import { closeSync, copyFileSync, existsSync, fstatSync, openSync, rmSync, writeSync } from "node:fs";
import Database from "better-sqlite3";
import { migrate } from "./schema.ts";

/** A row of the events as it was stored. */
export interface StoredRow {
  readonly project: string;
  readonly position: number;
  readonly at: number;
  readonly v: number;
  readonly type: string;
  readonly run: string | null;
  readonly task: string | null;
  readonly iteration: number | null;
  readonly data: string;
}

export interface Damaged {
  /** In the order in which they were recorded. */
  readonly rows: readonly StoredRow[];
  /** Whether nothing was met that could not be read. */
  readonly isWhole: boolean;
}

const NOTHING: Damaged = { rows: [], isWhole: false };

/** Every event that can be read in a damaged database. It is not touched: the work is done on a copy, which is removed. */
export function readDamaged(file: string, copy: string): Damaged {
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
