import Database from "better-sqlite3";
import { RalphError } from "../../core/ralph-error.ts";

/** A connection to a file. SQLite is native code, and a machine may have none that fits. */
export function openSqlite(path: string, options: Database.Options): Database.Database {
  try {
    return new Database(path, options);
  } catch (error) {
    throw nativeError(error) ?? error;
  }
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
