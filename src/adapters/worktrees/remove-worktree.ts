import { lstatSync, readdirSync, renameSync, chmodSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileError } from "../system/file-error.ts";
import { asOwn, ownPath } from "./own-work.ts";
import { forget, type RegisteredWorktree } from "./registry.ts";

/**
 * Removes it with all that is in it. It is renamed first: a process that is killed meanwhile leaves no half of a
 * worktree for the next one to take up.
 */
export async function removeWorktree(worktree: RegisteredWorktree): Promise<void> {
  const grave = ownPath(`${worktree.root}~removed`);
  await asOwn(grave, async () => {
    const isThere = lstatSync(worktree.root, { throwIfNoEntry: false }) !== undefined;
    try {
      if (isThere) renameSync(worktree.root, grave);
    } catch (error) {
      throw fileError(error, worktree.root);
    }
    forget(worktree);
    if (isThere) await deleteFolder(grave);
  });
}

/** As far as it goes: what stays is tried again when leftovers are cleared. */
export async function deleteFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    makeWritable(folder);
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Some tools keep their files in folders that nobody may write to. */
function makeWritable(folder: string): void {
  try {
    chmodSync(folder, 0o700);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) makeWritable(join(folder, entry.name));
    }
  } catch {
    // somebody else's
  }
}
