import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A worktree as the repository knows it; its folder may be gone. */
export interface RegisteredWorktree {
  readonly root: string;
  /** Its own, below `worktrees/` in the common one. */
  readonly gitDir: string;
}

/** Read without git: it says nothing of worktrees that are half made. */
export function registeredWorktrees(commonDir: string): RegisteredWorktree[] {
  return namesIn(join(commonDir, "worktrees")).flatMap((name) => {
    const gitDir = join(commonDir, "worktrees", name);
    const link = readText(join(gitDir, "gitdir"))?.replace(/\n$/, "");
    return link === undefined || link === "" ? [] : [{ root: dirname(resolve(gitDir, link)), gitDir }];
  });
}

/** Its folder is there and says the same. */
export function isWhole({ root, gitDir }: RegisteredWorktree): boolean {
  const link = /^gitdir: (.+?)\n?$/s.exec(readText(join(root, ".git")) ?? "")?.[1];
  if (link === undefined || !existsSync(join(gitDir, "HEAD")) || !existsSync(join(gitDir, "commondir"))) {
    return false;
  }
  try {
    return realpathSync(resolve(root, link)) === realpathSync(gitDir);
  } catch {
    return false; // it leads nowhere
  }
}

/** Its `git worktree add` never came to its end. */
export function isHalfMade({ gitDir }: RegisteredWorktree): boolean {
  return !hasIndex({ gitDir }) && lockOf({ gitDir }) === "initializing";
}

export function hasIndex({ gitDir }: Pick<RegisteredWorktree, "gitDir">): boolean {
  return existsSync(join(gitDir, "index"));
}

/** Why it was locked by `git worktree lock`, or is still; null when it is not. */
export function lockOf({ gitDir }: Pick<RegisteredWorktree, "gitDir">): string | null {
  return readText(join(gitDir, "locked"))?.trim() ?? null;
}

export function unlock({ gitDir }: RegisteredWorktree): void {
  rmSync(join(gitDir, "locked"), { force: true });
}

/** What `git worktree prune` does, for this one alone: the others are none of our business. */
export function forget({ gitDir }: RegisteredWorktree): void {
  rmSync(gitDir, { recursive: true, force: true });
  try {
    rmdirSync(dirname(gitDir));
  } catch {
    // there are others
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // there never was one
  }
}

function readText(path: string): string | null {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, "utf8") : null;
  } catch {
    return null; // not there
  }
}
