import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../../core/ralph-error.ts";

/** A file to import, as it was read; of a folder of another program, the file that it keeps its tasks in. */
export interface Document {
  /** As it was named, with what was found below it. */
  readonly shown: string;
  readonly path: string;
  readonly bytes: Buffer;
}

const INSIDE = [
  "issues.jsonl",
  "beads.jsonl",
  "tasks/tasks.json",
  "tasks.json",
  "prd.json",
  "@fix_plan.md",
  "fix_plan.md",
];

export function readDocument(path: string, shown: string): Document {
  try {
    if (!statSync(path).isDirectory()) return { shown, path, bytes: readFileSync(path) };
    const name = INSIDE.find((inside) => existsSync(join(path, inside)));
    if (name === undefined)
      throw new RalphError("no-tasks", `${shown} is a folder, and no list of tasks that is known is in it`, {
        hint: "name the file",
      });
    return readDocument(join(path, name), join(shown, name));
  } catch (error) {
    if (error instanceof RalphError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw new RalphError("no-tasks", `${shown} ${problem}`, { cause: error });
  }
}
