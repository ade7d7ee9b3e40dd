import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Recorded } from "../../src/core/events.ts";

/** What the log of the only project in a state file holds. Reads a copy: a look must not mend what a death left. */
export function recordedIn(stateFolder: string): readonly Recorded[] {
  const file = join(stateFolder, "state.db");
  if (!existsSync(file)) return [];
  const folder = mkdtempSync(join(tmpdir(), "ralph-look-"));
  try {
    for (const suffix of ["", "-wal"])
      if (existsSync(file + suffix)) copyFileSync(file + suffix, join(folder, `state.db${suffix}`));
    const db = new Database(join(folder, "state.db"));
    try {
      return rowsOf(db);
    } finally {
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf(db: Database.Database): readonly Recorded[] {
  const hasTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'events'").get() !== undefined;
  if (!hasTable) return [];
  const rows = db.prepare("SELECT position, at, data FROM events ORDER BY position").all() as {
    position: number;
    at: number;
    data: string;
  }[];
  return rows.map(({ position, at, data }) => ({ ...(JSON.parse(data) as Recorded), position, at }));
}
