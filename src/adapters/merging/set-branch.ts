import type { BranchMove, BranchMoved } from "../../engine/parallel-ports.ts";
import type { OpenRepository, Repository } from "../git/find-repository.ts";
import { bytesOf, contains, emptyTree, gitError, type Git, textOf } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";
import { findCheckouts, INDEX, MOVE_FILES, openGit } from "./advance.ts";
import { changesBetween, findObstacles } from "./find-obstacles.ts";
import { withWorkbench } from "./workbench.ts";
import { indexInfo, refOf, withEntries } from "./write-commit.ts";

/**
 * Moves a branch, and the checkout that has it, to any other commit. Git's own commands would either lose a commit that
 * somebody made meanwhile, or files that are not committed: the files go first, then the branch by compare-and-swap.
 */
export async function setBranch(
  checkout: OpenRepository,
  scratch: string,
  move: BranchMove,
): Promise<BranchMoved> {
  const git = openGit(checkout, { base: move.branch });
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
  const git = openGit(place, { base: move.branch });
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
  if (settled.length > 0) await git.must(INDEX, { input: indexInfo(settled, sibling) });
  await git.run(["update-index", "-q", "--refresh"]);
  // Without what else is staged: it stays so.
  const here = await withWorkbench(place, scratch, (bench) => withEntries(bench, from, settled));
  const files = await git.run([...MOVE_FILES, here, to]);
  if (files.code === 0) {
    const swapped = await swap(git, move);
    const kept = arrived.filter(({ after }) => after !== null).map(({ bytes }) => textOf(bytes));
    if (swapped.is === "moved") return { ...swapped, held: kept };
    // Somebody has committed in the meantime: the files are theirs again.
    const theirs = await resolveCommit(git, refOf(move.branch));
    if (theirs !== null) await git.run([...MOVE_FILES, to, theirs]);
    return swapped;
  }
  if (settled.length > 0) await git.run(INDEX, { input: indexInfo(halfway.found, sibling) });
  return { is: "stays", why: gitError(["read-tree"], files).message, paths: [] };
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
  const args = ["update-ref", "-m", "ralph: unaccepted work", ...how];
  const result = await git.run(args);
  const stands = await whereItStands(git, move);
  if (stands === "before") throw gitError(args, result);
  return stands;
}

async function whereItStands(git: Git, { branch, from, to }: BranchMove): Promise<BranchMoved | "before"> {
  const tip = await resolveCommit(git, refOf(branch));
  if (tip === to) return { is: "moved", held: [] };
  return tip === from ? "before" : { is: "stays", why: "somebody else has moved it", paths: [] };
}

/** Keeps a commit on a branch of this name, or of one like it where the name has other work; null: git refuses. */
export async function keepOnBranch(git: Git, name: string, commit: string): Promise<string | null> {
  for (let at = 1; at <= NAMES_MAX; at += 1) {
    const branch = at === 1 ? name : `${name}-${at}`;
    const there = await resolveCommit(git, refOf(branch));
    if (there === commit) return branch;
    if (there !== null && !(await contains(git, commit, there))) continue;
    const before = there ?? "0".repeat(commit.length);
    const args = ["update-ref", "-m", "ralph: unaccepted work", refOf(branch), commit, before];
    return (await git.run(args)).code === 0 ? branch : null;
  }
  return null;
}

const NAMES_MAX = 1_000;
