import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Database } from "better-sqlite3";
import type { Instant } from "../../core/time.ts";
import { migrate, usableVersion } from "./schema.ts";
import { mendIfDamaged } from "./mend-database.ts";
import { openSqlite } from "./exclusive-hold.ts";
import { DamagedFact, isBusy, isDamage, storeError } from "./store-error.ts";

/** How long SQLite itself may wait, and with it the whole process; longer waits are up to the caller. */
const BUSY_TIMEOUT_MS = 20;
const OPEN_PATIENCE_MS = 10_000;

export interface OpenedDatabase {
  readonly db: Database;
  /** What the person should be told: a damaged file was set aside, and what of it was saved. */
  readonly notice: string | null;
}

/** Opens the state database, made and migrated if need be; of a damaged one what can be saved. */
export function openDatabase(file: string, now: () => Instant): OpenedDatabase {
  const path = resolve(file);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return { db: openPatiently(path), notice: null };
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const notice = mendIfDamaged(path, now);
    return { db: openPatiently(path), notice };
  } catch (error) {
    throw storeError(error, path);
  }
}

/** Opening waits in place: nothing else is under way in the process yet, and only the very first one writes. */
function openPatiently(path: string): Database {
  const deadline = performance.now() + OPEN_PATIENCE_MS;
  for (;;) {
    try {
      return open(path);
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20);
  }
}

/** We write at the end and read what is recent: more would only make the memory of a long run grow. */
const CACHE_KB = 4_096;

/** So much is looked through in two milliseconds. Of more, what is read is checked, and all of it by `ralph doctor`. */
const CHECKED_BYTES = 1_000_000;

function open(path: string): Database {
  createPrivately(path);
  const db = openSqlite(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    usableVersion(db, path);
    if (statSync(path).size <= CHECKED_BYTES && db.pragma("integrity_check(1)", { simple: true }) !== "ok")
      throw new DamagedFact("something", path);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.pragma(`cache_size = -${CACHE_KB}`);
    migrate(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** SQLite would make the file readable for everyone; its companions take over the mode of this one. */
function createPrivately(path: string): void {
  // A database that exists is never opened here: closing it would drop the locks of this process (POSIX).
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!existsSync(path)) throw error; // else another process was faster
  }
}
