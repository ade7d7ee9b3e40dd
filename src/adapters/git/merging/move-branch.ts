import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { DETACHED } from "../../../core/text.ts";
import type { Advanced, AdvanceRequest, BranchMove, BranchMoved } from "../../../engine/parallel-ports.ts";
import { bytesOf, createGit, emptyTree, gitError, type Git, textOf, whereBaseStands } from "../git.ts";
import type { OpenRepository, Repository } from "../find-repository.ts";
import { keepBackup } from "../keep-backup.ts";
import { resolveCommit } from "../read-head.ts";
import { removeStaleLocks } from "../stale-locks.ts";
import { findCheckouts } from "./find-checkouts.ts";
import { type Change, changesBetween, findObstacles, type Halfway } from "./find-obstacles.ts";
import { withWorkbench } from "./workbench.ts";
import { indexInfo, refOf, SUBMODULE_MODE, withEntries } from "./write-commit.ts";

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
    isInTheWay: () => true,
    afterFiles: async () => {},
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
    prepare: async () => {},
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
function isTouched(bytes: string, changes: ReadonlyMap<string, unknown>): boolean {
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
  readonly prepare: (git: Git) => Promise<void>;
  /** Whether an uncommitted change at this path blocks the move. */
  readonly isInTheWay: (bytes: string, changes: ReadonlyMap<string, Change>) => boolean;
  readonly afterFiles: (place: Repository, changes: ReadonlyMap<string, Change>) => Promise<void>;
}

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
  const { closed, open } = await findCheckouts(git, checkout, refOf(move.branch));
  if (closed !== undefined) return { ...closed, paths: [] };
  const [place, another] = open;
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
  const { paths: uncommitted, halfway } = await findObstacles({ root, git }, scratch, changes);
  const paths = uncommitted.filter(
    (path) => !held.has(bytesOf(path)) && move.isInTheWay(bytesOf(path), changes),
  );
  if (paths.length > 0) {
    // The person who is asked to tidy up could not, with a dead git's lock on it.
    await removeStaleLocks(place, [refOf(move.branch)]);
    return { root, why: "it has uncommitted changes", paths };
  }
  await move.prepare(git);
  // What is held stays as it is in the work tree: to git it has arrived already.
  const arrived = [...changes.values()].filter(({ bytes }) => held.has(bytes));
  const settled = [
    ...halfway.settled.filter(([bytes]) => !held.has(bytes)),
    ...arrived.map(({ bytes, after }) => [bytes, after] as const),
  ];
  const found = [...arrived.map(({ bytes, before }) => [bytes, before] as const), ...halfway.found];
  const refusal = await moveFiles({ place, git, scratch }, { from, to, settled, found });
  if (refusal !== null) return { root, ...refusal };
  await move.afterFiles(place, changes);
  const stand = await swap(git, move);
  if (stand.is !== "moved") await followBranch(git, refOf(move.branch), to);
  const kept = arrived.filter(({ after }) => after !== null).map(({ bytes }) => textOf(bytes));
  return { stand, held: kept };
}

async function swap<Stand>(git: Git, move: Move<Stand>): Promise<Stand> {
  await move.prepare(git);
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

interface FileMove extends Halfway {
  /** Commits, or trees. */
  readonly from: string;
  readonly to: string;
}

/**
 * Takes the files of a checkout from one commit to another, also when a killed move has begun with it: to git, the files
 * that are there already are somebody's changes, so the index is made to agree with them first. Says why git refuses.
 */
async function moveFiles(
  { place, git, scratch }: { readonly place: Repository; readonly git: Git; readonly scratch: string },
  { from, to, settled, found }: FileMove,
): Promise<{ readonly why: string; readonly paths: readonly string[] } | null> {
  if (settled.length > 0) await git.must(INDEX, { input: indexInfo(settled, to) });
  // Git moves nothing that could have been edited: it has to look at the files once to know that they were not.
  await git.run(["update-index", "-q", "--refresh"]);
  // Without what else is staged: it stays so.
  const here = await withWorkbench(place, scratch, (bench) => withEntries(bench, from, settled));
  const moved = await git.run([...MOVE_FILES, here, to]);
  if (moved.code === 0) return null;
  if (settled.length > 0) await git.run(INDEX, { input: indexInfo(found, to) });
  const named = moved.stderr.matchAll(/^error: [A-Z][^']*'([^]*?)' (?:not|would)/gm);
  return { why: gitError(["read-tree"], moved).message, paths: [...named].map(([, path = ""]) => path) };
}

/** Somebody has committed at the last moment: the files are theirs again. */
async function followBranch(git: Git, ref: string, from: string): Promise<void> {
  const theirs = await resolveCommit(git, ref);
  if (theirs !== null) await git.run([...MOVE_FILES, from, theirs]);
}

const MOVE_FILES = ["read-tree", "-m", "-u", "--no-recurse-submodules"];
const INDEX = ["update-index", "-z", "--index-info"];

/** A submodule that is where the work has left it goes along; any other is somebody's. */
async function moveSubmodules(
  { root, commonDir }: Repository,
  changes: ReadonlyMap<string, Change>,
): Promise<void> {
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
