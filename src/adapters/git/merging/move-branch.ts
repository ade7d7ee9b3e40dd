import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { DETACHED } from "../../../core/text.ts";
import type { Advanced, AdvanceRequest, BranchMove, BranchMoved } from "../../../engine/parallel-ports.ts";
import { textAt } from "../../process/look-at.ts";
import { type OpenRepository, registeredWorktrees, type Repository } from "../find-repository.ts";
import {
  bytesOf,
  contains,
  createGit,
  emptyTree,
  gitError,
  type Git,
  textOf,
  whereBaseStands,
} from "../git.ts";
import { keepBackup, resolveCommit } from "../read-head.ts";
import {
  type Change,
  changesBetween,
  type EntryAt,
  setEntries,
  SUBMODULE_MODE,
  withEntries,
  withWorkbench,
} from "../tree-entries.ts";
import { removeStaleLocks } from "../stale-locks.ts";
import { refOf, underWay } from "../write-commit.ts";
import { findObstacles } from "./find-obstacles.ts";

/** Moves the base where it is checked out, or its reference alone where it is not. */
export async function advance(
  checkout: OpenRepository,
  scratch: string,
  request: AdvanceRequest,
): Promise<Advanced> {
  const { base: branch, from, to, run, iteration } = request;
  const moved = await moveBranch(checkout, scratch, {
    branch,
    from,
    to,
    hold: [],
    reason: "ralph: merge",
    findStand: async (git) => whereBaseStands(git, await resolveCommit(git, refOf(branch)), request),
    prepare: (git) => keepBackup(git, { run, iteration, commit: from }),
  });
  return "why" in moved ? { is: "waits", ...moved } : moved.stand;
}

/** Moves a branch, and the checkout that has it, to any other commit. */
export async function setBranch(
  checkout: OpenRepository,
  scratch: string,
  move: BranchMove,
): Promise<BranchMoved> {
  const moved = await moveBranch(checkout, scratch, {
    ...move,
    reason: "ralph: unaccepted work",
    findStand: (git) => findBranchStand(git, move),
    isInTheWay: isTouched,
    afterFiles: moveSubmodules,
  });
  if ("why" in moved) return { is: "stays", why: `${moved.why} in ${moved.root}`, paths: moved.paths };
  return moved.stand.is === "moved" ? { is: "moved", held: moved.held } : moved.stand;
}

async function findBranchStand(git: Git, { branch, from, to }: BranchMove): Promise<BranchMoved | "before"> {
  const isAttached = branch === DETACHED && (await git.ask(["symbolic-ref", "-q", "HEAD"])).code === 0;
  if (isAttached) return { is: "stays", why: "a branch is checked out by now", paths: [] };
  const tip = await resolveCommit(git, refOf(branch));
  if (tip === to) return { is: "moved", held: [] };
  return tip === from ? "before" : { is: "stays", why: "somebody else has moved it", paths: [] };
}

/** Whether the move has anything to do at this path, above or below it. */
function isTouched(bytes: string, changes: Changes): boolean {
  return (
    changes.has(bytes) ||
    [...changes.keys()].some((path) => path.startsWith(`${bytes}/`) || bytes.startsWith(`${path}/`))
  );
}

interface Move<Stand> extends BranchMove {
  /** For the reflog. */
  readonly reason: string;
  /** "before" while the branch is still at `from`. */
  readonly findStand: (git: Git) => Promise<Stand | "before">;
  /** Runs right before anything changes, and may run twice. */
  readonly prepare?: (git: Git) => Promise<void>;
  /** Whether an uncommitted change at this path blocks the move; any does without. */
  readonly isInTheWay?: (bytes: string, changes: Changes) => boolean;
  readonly afterFiles?: (place: Repository, changes: Changes) => Promise<void>;
}

type Changes = ReadonlyMap<string, Change>;

type Moved<Stand> =
  | { readonly stand: Stand; readonly held: readonly string[] }
  | { readonly root: string; readonly why: string; readonly paths: readonly string[] };

/**
 * Git's own commands would either lose a commit that somebody made meanwhile, or files that are not committed: the files
 * go first, then the branch by compare-and-swap.
 */
async function moveBranch<Stand extends { readonly is: string }>(
  checkout: OpenRepository,
  scratch: string,
  move: Move<Stand>,
): Promise<Moved<Stand>> {
  const git = openGit(checkout, move.branch);
  const stand = await move.findStand(git);
  if (stand !== "before") return { stand, held: [] };
  const checkouts = await findCheckouts(git, checkout, refOf(move.branch));
  for (const { root, why } of checkouts) if (why !== null) return { root, why, paths: [] };
  const [place, another] = checkouts;
  if (place === undefined) return { stand: await swap(git, move), held: [] };
  if (another === undefined) return moveCheckout(place, scratch, move);
  return { root: another.root, why: `it is checked out in ${place.root} as well`, paths: [] };
}

async function moveCheckout<Stand extends { readonly is: string }>(
  place: Repository,
  scratch: string,
  move: Move<Stand>,
): Promise<Moved<Stand>> {
  const { root } = place;
  const git = openGit(place, move.branch);
  const nothing = emptyTree(move.from ?? move.to ?? "");
  const [from, to] = [move.from ?? nothing, move.to ?? nothing];
  const changes = await changesBetween(git, from, to);
  const held = new Set(move.hold.map(bytesOf));
  const isInTheWay = (bytes: string): boolean =>
    !held.has(bytes) && (move.isInTheWay === undefined || move.isInTheWay(bytes, changes));
  const { paths: uncommitted, halfway } = await findObstacles({ root, git }, scratch, changes);
  const paths = uncommitted.filter((path) => isInTheWay(bytesOf(path)));
  if (paths.length > 0) {
    // The person who is asked to tidy up could not, with a dead git's lock on it.
    await removeStaleLocks(place, [refOf(move.branch)]);
    return { root, why: "it has uncommitted changes", paths };
  }
  await move.prepare?.(git);
  // What is held stays as it is in the work tree: to git it has arrived already.
  const arrived = [...changes.values()].filter(({ bytes }) => held.has(bytes));
  const settled = [...halfway, ...arrived];
  const refusal = await moveFiles(place, git, scratch, { from, to, settled });
  if (refusal !== null) return { root, ...refusal };
  await move.afterFiles?.(place, changes);
  const stand = await swap(git, move);
  // Somebody has committed at the last moment: the files are theirs again.
  const theirs = stand.is === "moved" ? null : await resolveCommit(git, refOf(move.branch));
  if (theirs !== null) await git.run([...MOVE_FILES, to, theirs]);
  const kept = arrived.filter(({ after }) => after !== null).map(({ bytes }) => textOf(bytes));
  return { stand, held: kept };
}

async function swap<Stand>(git: Git, move: Move<Stand>): Promise<Stand> {
  await move.prepare?.(git);
  const { branch, from, to, reason } = move;
  const nothing = "0".repeat((from ?? to ?? "").length);
  const how = to === null ? ["-d", refOf(branch), from ?? nothing] : [refOf(branch), to, from ?? nothing];
  // Somebody may check out a branch where there was none: it is not to be moved in place of HEAD.
  const isHead = branch === DETACHED;
  const args = ["update-ref", ...(isHead ? ["--no-deref"] : []), "-m", reason, ...how];
  const result = await git.run(args);
  const stand = await move.findStand(git);
  if (stand === "before") throw gitError(args, result);
  return stand;
}

export function openGit(repository: Repository, ...branches: readonly string[]): Git {
  return createGit(repository.root, {
    unlock: () => removeStaleLocks(repository, branches.map(refOf)),
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
}

/**
 * Takes the files of a checkout from one commit to another, also when a killed move has begun with it: to git, the files
 * that are there already are somebody's changes, so the index is made to agree with them first. Says why git refuses.
 */
async function moveFiles(
  place: Repository,
  git: Git,
  scratch: string,
  { from, to, settled }: { readonly from: string; readonly to: string; readonly settled: readonly Change[] },
): Promise<{ readonly why: string; readonly paths: readonly string[] } | null> {
  const arrived = settled.map(({ bytes, after }): EntryAt => [bytes, after]);
  if (settled.length > 0) await setEntries(git, arrived, to);
  // Git moves nothing that could have been edited: it has to look at the files once to know that they were not.
  await git.run(["update-index", "-q", "--refresh"]);
  // Without what else is staged: it stays so.
  const here = await withWorkbench(place, scratch, (bench) => withEntries(bench, from, arrived));
  const moved = await git.run([...MOVE_FILES, here, to]);
  if (moved.code === 0) return null;
  const before = settled.toReversed().map((one): EntryAt => [one.bytes, one.before]);
  if (settled.length > 0) await setEntries(git, before, to);
  const named = moved.stderr.matchAll(/^error: [A-Z][^']*'([^]*?)' (?:not|would)/gm);
  return { why: gitError(["read-tree"], moved).message, paths: [...named].map(([, path = ""]) => path) };
}

const MOVE_FILES = ["read-tree", "-m", "-u", "--no-recurse-submodules"];

/** A submodule that is where the work has left it goes along; any other is somebody's. */
async function moveSubmodules({ root, commonDir }: Repository, changes: Changes): Promise<void> {
  for (const { bytes, before, after } of changes.values()) {
    if (before?.mode !== SUBMODULE_MODE || after?.mode !== SUBMODULE_MODE) continue;
    const folder = join(root, textOf(bytes));
    const gitDir = harmlessModule(commonDir, folder);
    if (gitDir === null) continue;
    const git = createGit(folder, { place: { GIT_DIR: gitDir, GIT_WORK_TREE: folder } });
    if ((await resolveCommit(git, "HEAD")) === before.oid)
      await git.run(["checkout", "--quiet", "--detach", after.oid]);
  }
}

/** The git directory of a submodule, unless its own settings could start a program; null otherwise. */
function harmlessModule(commonDir: string, folder: string): string | null {
  try {
    const [, named = ""] = /^gitdir: (.+)$/m.exec(readFileSync(join(folder, ".git"), "utf8")) ?? [];
    const gitDir = realpathSync(resolve(folder, named));
    if (!gitDir.startsWith(join(realpathSync(commonDir), "modules", "/"))) return null;
    if (["commondir", "config.worktree"].some((name) => existsSync(join(gitDir, name)))) return null;
    return /filter|include/i.test(readFileSync(join(gitDir, "config"), "utf8")) ? null : gitDir;
  } catch {
    return null; // it is no submodule that git has made here
  }
}

interface FoundCheckout extends Repository {
  /** Why the branch may not be moved there; null: it may. */
  readonly why: string | null;
}

/** Everywhere that moving the branch would be felt. */
async function findCheckouts(
  git: Git,
  repository: Repository,
  ref: string,
): Promise<readonly FoundCheckout[]> {
  const { commonDir } = repository;
  const linked = registeredWorktrees(commonDir);
  const listed = (await git.must(["worktree", "list", "--porcelain", "-z"])).split("\0\0");
  const found: FoundCheckout[] = [];
  for (const [at, record] of listed.entries()) {
    const fields = new Map(
      textOf(record)
        .split("\0")
        .map((field): [string, string] => {
          const [name = "", value = ""] = field.split(/ ([^]*)/);
          return [name, value];
        }),
    );
    const named = fields.get("worktree");
    // A folder that is gone for good is no checkout; one on a disk that comes back is locked, and is one.
    if (named === undefined || fields.has("bare") || fields.has("prunable")) continue;
    const root = at === 0 ? await mainRoot(git, repository, named) : named;
    const gitDir = at === 0 ? commonDir : linked.find((one) => one.root === root)?.gitDir;
    if (gitDir === undefined) continue; // just being removed
    const isOwnHead = ref === DETACHED && root === repository.root && fields.has("detached");
    const isNamed = isOwnHead || fields.get("branch") === ref;
    if (!isNamed && !branchesUnderWay(gitDir).includes(ref)) continue;
    const begun = underWay(gitDir);
    const hindrance = begun === null ? null : `${begun} is under way there`;
    const why = existsSync(root) ? hindrance : "its folder is not there";
    found.push({ root, gitDir, commonDir, why });
  }
  return found;
}

/** Git takes the first one to lie around the git directory, which it need not. */
async function mainRoot(git: Git, { root, gitDir, commonDir }: Repository, named: string): Promise<string> {
  if (gitDir === commonDir) return root;
  const { code, stdout } = await git.run(["config", "--file", `${commonDir}/config`, "core.worktree"]);
  return code === 0 ? resolve(commonDir, textOf(stdout.trimEnd())) : named;
}

/** The branches that will move, or be checked out again, when it ends: HEAD does not name them meanwhile. */
function branchesUnderWay(gitDir: string): readonly string[] {
  const linesOf = (file: string): readonly string[] => (textAt(join(gitDir, file)) ?? "").split("\n");
  const rebased = ["rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs"];
  const refs = rebased.flatMap(linesOf).filter((line) => line.startsWith("refs/"));
  return [...refs, ...linesOf("BISECT_START").map((name) => `refs/heads/${name}`)];
}

/** Keeps a commit on a branch of this name, or of one like it where the name has other work; null: git refuses. */
export async function keepOnBranch(
  checkout: OpenRepository,
  name: string,
  commit: string,
): Promise<string | null> {
  const { git } = checkout;
  // Where a branch has the name of a folder of ours, git makes no other below it.
  for (const plain of [name, name.replaceAll("/", "-")]) {
    for (let at = 1; at <= NAMES_MAX; at += 1) {
      const branch = at === 1 ? plain : `${plain}-${at}`;
      const there = await resolveCommit(git, refOf(branch));
      if (there !== null && (await isCheckedOut(checkout, branch))) continue;
      if (there === commit) return branch;
      if (there !== null && !(await contains(git, commit, there))) continue;
      const before = there ?? "0".repeat(commit.length);
      const args = ["update-ref", "-m", "ralph: unaccepted work", refOf(branch), commit, before];
      if ((await git.run(args)).code === 0) return branch;
      break;
    }
  }
  return null;
}

/** Deletes a branch that is still there, but not under somebody's feet. */
export async function dropBranch(checkout: OpenRepository, branch: string, commit: string): Promise<void> {
  const { git } = checkout;
  const isThere = branch !== "" && (await resolveCommit(git, refOf(branch))) === commit;
  if (isThere && !(await isCheckedOut(checkout, branch)))
    await git.run(["update-ref", "-d", refOf(branch), commit]);
}

async function isCheckedOut(checkout: OpenRepository, branch: string): Promise<boolean> {
  return (await findCheckouts(checkout.git, checkout, refOf(branch))).length > 0;
}

const NAMES_MAX = 1_000;
