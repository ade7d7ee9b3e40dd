import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { RalphError } from "../../core/errors.ts";
import { isBusy } from "./store-error.ts";

export interface Hold {
  release(): void;
}

/** Locks a file by an exclusive transaction, which ends with the process; null when it is held. */
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
const held = new Map<string, Database.Database>();

function realPathOf(file: string): string {
  return join(realpathSync(dirname(file)), basename(file));
}

/** A connection to a file. SQLite is native code, and a machine may have none that fits. */
export function openSqlite(
  path: string,
  options: Database.Options,
  binding: string | null = usualBinding(),
): Database.Database {
  try {
    return new Database(path, binding === null ? options : { ...options, nativeBinding: binding });
  } catch (error) {
    const unusable = nativeError(error);
    if (unusable === null || binding === null) throw unusable ?? error;
    usual = null;
    return openSqlite(path, options, null);
  }
}

/** Null: the package looks for a binary itself. */
let usual: string | null | undefined;

/** The usual Linux binary: the package's own search takes a tenth of the time of a short command. */
function usualBinding(): string | null {
  if (usual !== undefined) return usual;
  const library = dirname(createRequire(import.meta.url).resolve("better-sqlite3"));
  const path = join(library, "..", "prebuilds", `linux-${process.arch}.node`);
  usual = process.platform === "linux" && existsSync(path) ? path : null;
  return usual;
}

/** Null: it was something else. */
export function nativeError(error: unknown): RalphError | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code !== "MODULE_NOT_FOUND" && code !== "ERR_DLOPEN_FAILED") return null;
  const machine = `${process.arch}, Node ${process.version}`;
  return new RalphError(
    "state-unusable",
    `better-sqlite3, which keeps the state, has no binary that works here (${machine})`,
    {
      hint: "install ralph again on this machine; where no binary is made for it, compile one in the folder of better-sqlite3: npx node-gyp rebuild --release --force_build=1",
      cause: error,
    },
  );
}
