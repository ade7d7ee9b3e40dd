import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";
import { importChecklist } from "./import-checklist.ts";

/** Turns a document's checklist into a `tasks.json` in the folder; what is there stays, unless it is forced. */
export function writeImported(
  ralphDir: string,
  file: string,
  { cwd, force }: { readonly cwd: string; readonly force: boolean },
): { readonly path: string; readonly count: number } {
  const { json, count } = importChecklist(readDocument(resolve(cwd, file), file), basename(file));
  const path = join(ralphDir, "tasks.json");
  if (existsSync(path) && !force) {
    throw new RalphError("usage", `${path} is there already`, { hint: "replace it with --force" });
  }
  mkdirSync(ralphDir, { recursive: true });
  writeFileAtomically(path, json);
  return { path, count };
}

function readDocument(path: string, shown: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw new RalphError("no-tasks", `${shown} ${problem}`, { cause: error });
  }
}
