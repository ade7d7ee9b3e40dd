import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { DETACHED } from "../../core/text.ts";
import type { BranchMove, BranchMoved } from "../../engine/parallel-ports.ts";
import type { OpenRepository, Repository } from "../git/find-repository.ts";
import { bytesOf, contains, createGit, emptyTree, gitError, type Git, textOf } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";
import { findCheckouts, followBranch, moveFiles, openGit } from "./advance.ts";
import { type Change, changesBetween, findObstacles } from "./find-obstacles.ts";
import { refOf, SUBMODULE_MODE } from "./write-commit.ts";

/**
 * Moves a branch, and the checkout that has it, to any other commit. Git's own commands would either lose a commit that
 * somebody made meanwhile, or files that are not committed: the files go first, then the branch by compare-and-swap.
 */
export async function setBranch(
  checkout: OpenRepository,
  scratch: string,
  move: BranchMove,
): Promise<BranchMoved> {
  const git = openGit(checkout, move.branch);
  const stands = await whereItStands(git, move);
  if (stands !== "before") return stands;
  const { closed, open } = await findCheckouts(git, checkout, refOf(move.branch));
  if (closed !== undefined) return { is: "stays", why: `${closed.why} in ${closed.root}`, paths: [] };
  const [place, another] = open;
  if (another !== undefined)
    return { is: "stays", why: `it is checked out in ${another.root} as well`, paths: [] };
  return place === undefined ? swap(git, move) : moveCheckout(place, scratch, move);
}

async function moveCheckout(place: Repository, scratch: string, move: BranchMove): Promise<BranchMoved> {
  const { root } = place;
  const git = openGit(place, move.branch);
  const sibling = move.from ?? move.to ?? "";
  const [from, to] = [move.from ?? emptyTree(sibling), move.to ?? emptyTree(sibling)];
  const changes = await changesBetween(git, from, to);
  const held = new Set(move.hold.map(bytesOf));
  const { paths, halfway } = await findObstacles({ root, git }, scratch, changes);
  const inTheWay = paths.filter((path) => !held.has(bytesOf(path)) && isTouched(bytesOf(path), changes));
  if (inTheWay.length > 0)
    return { is: "stays", why: "files there have uncommitted changes", paths: inTheWay };
  // What is held stays as it is in the work tree: to git it has arrived already.
  const arrived = [...changes.values()].filter(({ bytes }) => held.has(bytes));
  const settled = [
    ...halfway.settled.filter(([bytes]) => !held.has(bytes)),
    ...arrived.map(({ bytes, after }) => [bytes, after] as const),
  ];
  const found = [...arrived.map(({ bytes, before }) => [bytes, before] as const), ...halfway.found];
  const refusal = await moveFiles({ place, git, scratch }, { from, to, settled, found });
  if (refusal !== null) return { is: "stays", ...refusal };
  await moveSubmodules(place, changes);
  const swapped = await swap(git, move);
  if (swapped.is !== "moved") await followBranch(git, refOf(move.branch), to);
  const kept = arrived.filter(({ after }) => after !== null).map(({ bytes }) => textOf(bytes));
  return swapped.is === "moved" ? { ...swapped, held: kept } : swapped;
}

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

/** Whether the move has anything to do at this path, above or below it. */
function isTouched(bytes: string, changes: ReadonlyMap<string, unknown>): boolean {
  return (
    changes.has(bytes) ||
    [...changes.keys()].some((path) => path.startsWith(`${bytes}/`) || bytes.startsWith(`${path}/`))
  );
}

async function swap(git: Git, move: BranchMove): Promise<BranchMoved> {
  const { branch, from, to } = move;
  const nothing = "0".repeat((from ?? to ?? "").length);
  const how = to === null ? ["-d", refOf(branch), from ?? nothing] : [refOf(branch), to, from ?? nothing];
  const args = ["update-ref", "--no-deref", "-m", "ralph: unaccepted work", ...how];
  const result = await git.run(args);
  const stands = await whereItStands(git, move);
  if (stands === "before") throw gitError(args, result);
  return stands;
}

async function whereItStands(git: Git, { branch, from, to }: BranchMove): Promise<BranchMoved | "before"> {
  const isAttached = branch === DETACHED && (await git.ask(["symbolic-ref", "-q", "HEAD"])).code === 0;
  if (isAttached) return { is: "stays", why: "a branch is checked out by now", paths: [] };
  const tip = await resolveCommit(git, refOf(branch));
  if (tip === to) return { is: "moved", held: [] };
  return tip === from ? "before" : { is: "stays", why: "somebody else has moved it", paths: [] };
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
  const { open, closed } = await findCheckouts(checkout.git, checkout, refOf(branch));
  return closed !== undefined || open.length > 0;
}

const NAMES_MAX = 1_000;
