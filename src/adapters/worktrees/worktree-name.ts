import { createHash } from "node:crypto";
import { folderName } from "../../core/folder-name.ts";
import type { TaskId } from "../../core/plan/task.ts";

/** What a task's checkout is called, in the file system and as a branch. */
export interface WorktreeName {
  readonly folder: string;
  readonly branch: string;
}

/** All our branches lie below it. */
export const BRANCH_FOLDER = "ralph";

/**
 * The id itself where git and file systems allow it; otherwise what can be read of it, with a hash of all of it. Two
 * tasks never share a name, also where upper and lower case are the same.
 */
export function worktreeName(task: TaskId, { foldsCase }: { readonly foldsCase: boolean }): WorktreeName {
  const readable = (folderName(task) ?? "task").replaceAll(/\.{2,}/g, ".");
  const isKept = readable === task && !MAY_MISLEAD.test(task) && !(foldsCase && /[^a-z0-9._-]/.test(task));
  const folder = isKept ? readable : `${readable}-${hashOf(task)}`;
  return { folder, branch: `${BRANCH_FOLDER}/${folder}` };
}

/**
 * Git takes no name that ends in `.lock`, and no branch where a folder of branches is; and an id must not look like
 * another one with its hash.
 */
const MAY_MISLEAD = /\.lock$|-[0-9a-f]{8}$|^merged$/i;

function hashOf(task: TaskId): string {
  // As JSON, since two halves of broken characters are the same in UTF-8.
  return createHash("sha256").update(JSON.stringify(task)).digest("hex").slice(0, 8);
}
