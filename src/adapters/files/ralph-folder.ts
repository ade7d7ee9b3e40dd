import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileError } from "../system/file-error.ts";
import { UNVERSIONED } from "../../core/projections/unversioned.ts";
import { RalphError } from "../../core/ralph-error.ts";

/** Makes `.ralph/` ready to be written to; it ignores its own views, so that a run never dirties the tree. */
export function prepareRalphFolder(folder: string): void {
  try {
    for (const path of [folder, join(folder, "logs")]) {
      // Not recursive where it need not be: Node then reports a read-only disk as a missing folder.
      if (!existsSync(path)) mkdirSync(path, { recursive: path === folder });
      if (lstatSync(path).isSymbolicLink()) {
        throw new RalphError(
          "not-writable",
          `${path} is a symbolic link; ralph writes only inside the repository`,
          {
            hint: "remove the link",
          },
        );
      }
    }
    const ignore = join(folder, ".gitignore");
    const wanted = `${[".gitignore", ...UNVERSIONED].join("\n")}\n`;
    if (textOf(ignore) !== wanted) writeFileSync(ignore, wanted);
    // Opening for writing is the only honest test: a read-only mount looks writable by its mode.
    writeFileSync(join(folder, "logs", ".writable"), "");
  } catch (error) {
    throw error instanceof RalphError ? error : fileError(error, folder);
  }
}

/** The highest number among the transcripts that are there. */
export function lastTranscript(folder: string, name = "iteration"): number {
  const logs = join(folder, "logs");
  if (!existsSync(logs)) return 0;
  const numbers = readdirSync(logs).map((file) =>
    file.startsWith(`${name}-`) ? Number(/^\d+(?=\.log$)/.exec(file.slice(name.length + 1))?.[0] ?? 0) : 0,
  );
  return Math.max(0, ...numbers);
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Missing or unreadable is the same here: it is written anew, and that fails loudly if it must.
    return null;
  }
}
