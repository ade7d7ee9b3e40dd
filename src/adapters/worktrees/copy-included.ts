import { constants, lstatSync, type BigIntStats } from "node:fs";
import { chmod, copyFile, mkdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { TEMPORARY_PREFIX } from "../system/atomic-file.ts";
import { fileError } from "../system/file-error.ts";
import { safePath } from "../system/safe-path.ts";
import { textOf } from "../git/git.ts";
import { findIncluded } from "./find-included.ts";
import type { RegisteredWorktree } from "./registry.ts";
import { gitIn, type Site } from "./site.ts";
import type { CopiedFile } from "./worktree-record.ts";

/**
 * Copies what the operator wants in every worktree, and answers what of it git does not ignore there. Nothing that is
 * there already is replaced.
 */
export async function copyIncluded(
  site: Site,
  worktree: RegisteredWorktree,
  include: readonly string[],
): Promise<readonly CopiedFile[]> {
  const paths = await findIncluded(site, include);
  for (const path of paths) await copyOne(site.root, worktree.root, path);
  if (paths.length === 0) return [];
  const output = await gitIn(worktree).must(["ls-files", "-z", "--others", "--exclude-standard"]);
  const visible = new Set(output.split("\0").map(textOf));
  return paths
    .filter((path) => visible.has(path))
    .map((path) => ({ path, stamp: stampOf(worktree.root, path) ?? "" }));
}

/** Whether it is still the file that was copied. */
export function isAsCopied(root: string, { path, stamp }: CopiedFile): boolean {
  return stampOf(root, path) === stamp;
}

async function copyOne(from: string, to: string, path: string): Promise<void> {
  const source = join(from, path);
  const target = join(to, path);
  const stats = statsOf(source);
  if (stats === null) return; // gone meanwhile
  try {
    const isCopied = stats.isFile() || (stats.isSymbolicLink() && (await staysInside(from, path)));
    if (!isCopied || !leadsInside(to, path) || statsOf(target) !== null) return;
    await mkdir(dirname(target), { recursive: true });
    // At once or not at all: half of a file would be taken for all of it the next time.
    const draft = join(dirname(target), `${TEMPORARY_PREFIX}copy`);
    await rm(draft, { force: true });
    if (stats.isSymbolicLink()) {
      await symlink(await readlink(source), draft);
    } else {
      await copyFile(source, draft, constants.COPYFILE_FICLONE);
      await chmod(draft, Number(stats.mode) & 0o7777);
    }
    await rename(draft, target);
  } catch (error) {
    throw copyError(error, source, target);
  }
}

/** An absolute link would lead from the worktree into the user's checkout. */
async function staysInside(root: string, path: string): Promise<boolean> {
  return !isAbsolute(await readlink(join(root, path))) && leadsInside(root, path);
}

function leadsInside(root: string, path: string): boolean {
  try {
    safePath(root, path);
    return true;
  } catch {
    return false;
  }
}

function stampOf(root: string, path: string): string | null {
  const stats = statsOf(join(root, path));
  return stats === null ? null : `${stats.size}-${stats.mtimeNs}-${stats.ino}`;
}

function statsOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return null; // below something that is not a folder
  }
}

function copyError(error: unknown, source: string, target: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOSPC" || code === "EDQUOT") return fileError(error, target);
  return new RalphError("not-writable", `${source} could not be copied to ${target} (${code})`, {
    cause: error,
  });
}
