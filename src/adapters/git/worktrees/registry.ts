import { folderName } from "../../../core/text.ts";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { z } from "zod";
import type { TaskId } from "../../../core/plan.ts";
import { RalphError } from "../../../core/errors.ts";
import {
  findRepository,
  type RegisteredWorktree,
  realPathOf,
  REMOVED,
  registeredWorktrees,
  type Repository,
} from "../find-repository.ts";
import { createGit, type Git } from "../git.ts";
import { removeStaleLocks } from "../stale-locks.ts";
import { fileError, writeFileAtomically } from "../../process/atomic-file.ts";
import { textAt } from "../../process/look-at.ts";
import { isOutside } from "../../process/safe-path.ts";

type GitDir = Pick<RegisteredWorktree, "gitDir">;

/** Its folder is there and says the same. */
export function isWhole({ root, gitDir }: RegisteredWorktree): boolean {
  const link = /^gitdir: (.+?)\n?$/s.exec(textAt(join(root, ".git")) ?? "")?.[1];
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
export function isHalfMade(worktree: GitDir): boolean {
  return !hasIndex(worktree) && lockOf(worktree) === "initializing";
}

export function hasIndex({ gitDir }: GitDir): boolean {
  return existsSync(join(gitDir, "index"));
}

/** Why it was locked by `git worktree lock`, or is still; null when it is not. */
export function lockOf({ gitDir }: GitDir): string | null {
  return textAt(join(gitDir, "locked"))?.trim() ?? null;
}

/**
 * What `git worktree prune` does, for this one alone: the others are none of our business. Renamed first: half of such a
 * folder would be neither a worktree nor a leftover that anybody knows.
 */
export function forget({ gitDir }: GitDir): void {
  const grave = gitDir.endsWith(REMOVED) ? gitDir : `${gitDir}${REMOVED}`;
  if (grave !== gitDir && existsSync(gitDir)) {
    rmSync(grave, { recursive: true, force: true });
    renameSync(gitDir, grave);
  }
  rmSync(grave, { recursive: true, force: true });
  try {
    rmdirSync(dirname(gitDir));
  } catch {
    // there are others
  }
}

const COPIED_FILE = z.object({
  path: z.string(),
  /** Another text when the file has been written since. */
  stamp: z.string(),
});

/** How far the making of a worktree came. It lies in the worktree's own git directory and goes with it. */
const WORKTREE_RECORD = z.object({
  /** Null for a checkout of one commit. */
  task: z.string().nullable(),
  /** The files of the commit are there, so somebody may have worked on them. */
  isFilled: z.boolean(),
  /** What was copied in and git does not ignore; null until all is copied. */
  copied: z.array(COPIED_FILE).readonly().nullable(),
  isSetUp: z.boolean(),
  /** The set-up that runs, or ran when its process died. */
  settingUp: z.object({ marker: z.string(), pid: z.int() }).nullable(),
});

export type WorktreeRecord = Readonly<z.infer<typeof WORKTREE_RECORD>>;
export type CopiedFile = Readonly<z.infer<typeof COPIED_FILE>>;

export function newRecord(task: TaskId | null): WorktreeRecord {
  return { task, isFilled: false, copied: null, isSetUp: false, settingUp: null };
}

/** Null when there is none, or not one of ours: an agent can write there. */
export function readRecord({ gitDir }: RegisteredWorktree): WorktreeRecord | null {
  try {
    return WORKTREE_RECORD.parse(JSON.parse(textAt(join(gitDir, FILE)) ?? ""));
  } catch {
    return null; // then all of it is done again, which hurts nobody
  }
}

export function writeRecord({ gitDir }: RegisteredWorktree, record: WorktreeRecord): void {
  writeFileAtomically(join(gitDir, FILE), `${JSON.stringify(record)}\n`, { durable: false });
}

const FILE = "ralph-worktree.json";

/** The repository whose worktrees they are, seen from the user's checkout, and where they lie. */
export interface Site extends Repository {
  readonly git: Git;
  readonly place: string;
  /** Upper and lower case are the same to the file system. */
  readonly foldsCase: boolean;
}

export interface SiteOptions {
  /** Of the user's checkout, which may be a linked worktree itself. */
  readonly root: string;
  /** Where programs keep their state: worktrees lie below `ralph/<projectId>/` there. */
  readonly stateHome: string;
  readonly projectId: string;
  /** Branches are named alike on all machines, whether or not their disks tell upper from lower case. */
  readonly isShared?: boolean;
}

export async function openSite(options: SiteOptions): Promise<Site> {
  const { root, stateHome, projectId, isShared = false } = options;
  const repository = await findRepository(root);
  const git = createGit(repository.root, {
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
  const place = findPlace(stateHome, projectId, repository);
  const { stdout } = await git.ask(["config", "--type=bool", "--get", "core.ignorecase"]);
  return { ...repository, git, place, foldsCase: !isShared && stdout.trim() === "true" };
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

/**
 * The folder that holds the project's worktrees, links followed. Below a `.git` test runners see no files and agents
 * refuse to write; inside a checkout of the repository everybody's tools would find everything twice.
 */
export function findPlace(stateHome: string, projectId: string, repository: Repository): string {
  const place = realPathOf(join(resolve(stateHome), "ralph", projectId));
  const { root, gitDir, commonDir } = repository;
  const isInGit =
    place.split(sep).includes(".git") ||
    [gitDir, commonDir].some((dir) => !isOutside(realPathOf(dir), place));
  const main = basename(commonDir) === ".git" ? dirname(commonDir) : root;
  const checkout = [root, main].find((candidate) => !isOutside(realPathOf(candidate), place));
  if (!isInGit && checkout === undefined) return place;
  const where = isInGit ? "below a git directory" : `inside the checkout ${checkout}`;
  throw new RalphError("not-writable", `worktrees cannot be made in ${place}: it lies ${where}`, {
    hint: "set XDG_STATE_HOME to a folder outside of the repository",
  });
}

/** What is copied into worktrees may be secret. */
export function makePlace(place: string): void {
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw fileError(error, place);
  }
}

/** All our branches lie below it. */
export const BRANCH_FOLDER = "ralph";

/**
 * What a task's checkout is called, in the file system and as a branch: the id itself where git and file systems allow
 * it, else a readable part with a hash; never shared.
 */
export function worktreeName(
  task: TaskId,
  { foldsCase }: Pick<Site, "foldsCase">,
): { readonly folder: string; readonly branch: string } {
  const readable = (folderName(task) ?? "task").replaceAll(/\.{2,}/g, ".");
  const isKept = readable === task && !MAY_MISLEAD.test(task) && !(foldsCase && /[^a-z0-9._-]/.test(task));
  // As JSON, since two halves of broken characters are the same in UTF-8.
  const hash = createHash("sha256").update(JSON.stringify(task)).digest("hex").slice(0, 8);
  const folder = isKept ? readable : `${readable}-${hash}`;
  return { folder, branch: `${BRANCH_FOLDER}/${folder}` };
}

/** Names that git refuses as branches, or that could be taken for another id with its hash. */
const MAY_MISLEAD = /\.lock$|-[0-9a-f]{8}$|^(?:merged|aside)$/i;
