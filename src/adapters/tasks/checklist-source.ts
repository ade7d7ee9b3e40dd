import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, posix } from "node:path";
import type { SourceIdentity, TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";
import { safePath } from "../system/safe-path.ts";
import { NO_DEMANDS } from "./no-demands.ts";
import { scanChecklist, type ChecklistItem } from "./scan-checklist.ts";

/** Tasks in a Markdown checklist; `path` is relative to `root`. Only the byte in the box is ever written. */
export function createChecklistSource({ root, path }: { root: string; path: string }): TaskSource {
  const identity: SourceIdentity = { kind: "checklist", label: posix.basename(path), path };
  let lastSeen: Buffer | null = null;
  return {
    identity,
    observe: async () => {
      const real = safePath(root, path);
      const file = readChecklist(real);
      if (file === null) throw notThere(path, existsSync(real));
      lastSeen = file;
      return { source: identity, tasks: scanChecklist(file).map((item) => item.task) };
    },
    demands: () => Promise.resolve(NO_DEMANDS),
    mark: async (task) => {
      rewrite(root, path, "x", (item) => item.task.id === task && !item.task.done);
    },
    takeBackMarks: async (done) => {
      putBack(root, path, lastSeen);
      return rewrite(root, path, " ", ({ task }) => task.done && !done.has(task.id));
    },
  };
}

/** The tasks are the operator's: an agent that deleted the file has not done them. */
function putBack(root: string, path: string, lastSeen: Buffer | null): void {
  const real = realPath(root, path);
  if (real !== null && lastSeen !== null && !existsSync(real) && existsSync(dirname(real)))
    writeFileAtomically(real, lastSeen);
}

/** Reads the file anew: somebody may have edited it since. Answers the tasks whose box it wrote. */
function rewrite(
  root: string,
  path: string,
  mark: "x" | " ",
  isWanted: (item: ChecklistItem) => boolean,
): readonly TaskId[] {
  const real = realPath(root, path);
  const file = real === null ? null : readChecklist(real);
  if (real === null || file === null) return [];
  const wanted = scanChecklist(file).filter(isWanted);
  if (wanted.length === 0) return [];
  for (const { offset } of wanted) file.write(mark, offset, "latin1");
  writeFileAtomically(real, file);
  return wanted.map((item) => item.task.id);
}

/** An agent may have put anything in the file's place; the next look at the tasks says so to the operator. */
function realPath(root: string, path: string): string | null {
  try {
    return safePath(root, path);
  } catch {
    return null;
  }
}

function readChecklist(path: string): Buffer | null {
  try {
    return statSync(path).isFile() ? readFileSync(path) : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new RalphError("no-tasks", `${path} cannot be read (${code})`, { cause: error });
  }
}

function notThere(path: string, isSomething: boolean): RalphError {
  return new RalphError("no-tasks", isSomething ? `${path} is not a file` : `${path} does not exist`, {
    hint: "name the file that has the tasks with --source",
  });
}
