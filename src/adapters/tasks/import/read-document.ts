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

const WANTED = "name a file with tasks, or the folder of a program that keeps them; a path counts from here";

export function readDocument(path: string, shown: string): Document {
  if (shown.trim() === "") throw new RalphError("usage", "the file to import has no name", { hint: WANTED });
  try {
    const stats = statSync(path);
    if (stats.isFile()) return { shown, path, bytes: readFileSync(path) };
    if (!stats.isDirectory())
      throw new RalphError("no-tasks", `${shown} is not a file`, {
        hint: "write what comes out of it into a file, and name that",
      });
    const name = INSIDE.find((inside) => existsSync(join(path, inside)));
    if (name === undefined)
      throw new RalphError("no-tasks", `${shown} is a folder, and no list of tasks that is known is in it`, {
        hint: "name the file",
      });
    return readDocument(join(path, name), join(shown, name));
  } catch (error) {
    if (error instanceof RalphError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new RalphError("no-tasks", `${shown} does not exist`, { hint: WANTED, cause: error });
    throw new RalphError("no-tasks", `${shown} cannot be read (${code})`, {
      hint: "make it readable for this user",
      cause: error,
    });
  }
}
