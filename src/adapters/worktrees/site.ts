import { basename, dirname } from "node:path";
import { findRepository, type Repository } from "../git/find-repository.ts";
import { createGit, type Git } from "../git/git.ts";
import { removeStaleLocks } from "../git/stale-locks.ts";
import { findPlace } from "./find-place.ts";
import { registeredWorktrees, type RegisteredWorktree } from "./registry.ts";

/** The repository whose worktrees they are, seen from the user's checkout, and where they lie. */
export interface Site extends Repository {
  readonly git: Git;
  readonly place: string;
  /** Upper and lower case are the same to the file system. */
  readonly foldsCase: boolean;
}

export async function openSite(root: string, stateHome: string, projectId: string): Promise<Site> {
  const repository = await findRepository(root);
  const git = createGit(repository.root, {
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
  const place = findPlace(stateHome, projectId, repository);
  const { stdout } = await git.ask(["config", "--type=bool", "--get", "core.ignorecase"]);
  return { ...repository, git, place, foldsCase: stdout.trim() === "true" };
}

export function worktreesAt({ commonDir, place }: Site): RegisteredWorktree[] {
  return registeredWorktrees(commonDir).filter(({ root }) => dirname(root) === place);
}

/** Folders of tasks have no such sign in their names: only ours do. */
export function isOfTask({ root }: RegisteredWorktree): boolean {
  return !/[@~]/.test(basename(root));
}

/** Git inside of a worktree, whatever the environment or an agent say about where that is. */
export function gitIn({ root, gitDir }: RegisteredWorktree): Git {
  return createGit(root, {
    unlock: () => removeOwnLocks({ root, gitDir }),
    place: { GIT_DIR: gitDir, GIT_WORK_TREE: root, GIT_INDEX_FILE: `${gitDir}/index` },
  });
}

/** Those of its index and HEAD. What all worktrees share may be locked by a git that is alive in another one. */
export async function removeOwnLocks({ root, gitDir }: RegisteredWorktree): Promise<void> {
  await removeStaleLocks({ root, gitDir, commonDir: gitDir });
}
