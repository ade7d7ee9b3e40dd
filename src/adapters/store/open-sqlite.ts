import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { RalphError } from "../../core/ralph-error.ts";
import { THIS_PLATFORM } from "../system/platform/this-platform.ts";

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

/**
 * The binary for most Linux machines. To choose among all of them the package has Node describe the whole process, which is
 * a tenth of the time that a short command takes.
 */
function usualBinding(): string | null {
  if (usual !== undefined) return usual;
  const library = dirname(createRequire(import.meta.url).resolve("better-sqlite3"));
  const path = join(library, "..", "prebuilds", `linux-${process.arch}.node`);
  usual = THIS_PLATFORM === "linux" && existsSync(path) ? path : null;
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
