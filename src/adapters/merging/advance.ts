import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Advanced, AdvanceRequest } from "../../engine/parallel-ports.ts";
import { createGit, type Git, gitError, type GitResult, textOf, whereBaseStands } from "../git/git.ts";
import { findRepository, type OpenRepository, type Repository } from "../git/find-repository.ts";
import { keepBackup } from "../git/keep-backup.ts";
import { resolveCommit } from "../git/read-head.ts";
import { removeStaleLocks } from "../git/stale-locks.ts";
import { changesBetween, findObstacles, type Halfway } from "./find-obstacles.ts";
import { indexInfo, refOf } from "./write-commit.ts";

/** Moves the base where it is checked out, or its reference alone where it is not. */
export async function advance(
  checkout: OpenRepository,
  scratch: string,
  request: AdvanceRequest,
): Promise<Advanced> {
  const git = openGit(checkout, request);
  const stands = await whereItStands(git, request);
  if (stands !== "before") return stands;
  const { closed, open } = await findCheckouts(git, checkout, refOf(request.base));
  if (closed !== undefined) return { is: "waits", ...closed, paths: [] };
  const [place, another] = open;
  if (place === undefined) return swap(git, request);
  if (another !== undefined)
    return { is: "waits", root: another.root, why: `it is checked out in ${place.root} as well`, paths: [] };
  return moveCheckout(place, { checkout, scratch, request });
}

interface Move {
  readonly checkout: OpenRepository;
  readonly scratch: string;
  readonly request: AdvanceRequest;
}

async function moveCheckout(place: Repository, move: Move, isSecond = false): Promise<Advanced> {
  const { checkout, scratch, request } = move;
  const { base, from, to, run, iteration } = request;
  const { root } = place;
  const git = openGit(place, request);
  const changes = await changesBetween(git, from, to);
  const { paths, halfway } = await findObstacles({ root, git }, scratch, changes);
  if (paths.length > 0) {
    // The person who is asked to tidy up could not, with a dead git's lock on it.
    await removeStaleLocks(place, [refOf(base)]);
    return { is: "waits", root, why: "it has uncommitted changes", paths };
  }
  await keepBackup(git, { run, iteration, commit: from });
  const result =
    halfway.settled.length > 0
      ? await finishMove(git, { branch: base, from, to, halfway })
      : await fastForward(git, { branch: base, to, identity: await checkout.identity() });
  const stands = await whereItStands(git, request);
  if (stands !== "before") return stands;
  // Git has moved something else: somebody checked out another branch at this very moment.
  if (result.code === 0) return { is: "elsewhere", head: from };
  // It may have failed after it had written the files.
  if (!isSecond) return moveCheckout(place, move, true);
  return { is: "waits", root, why: gitError(["merge"], result).message, paths: refusedPaths(result) };
}

async function swap(git: Git, request: AdvanceRequest): Promise<Advanced> {
  const { base, from, to, run, iteration } = request;
  await keepBackup(git, { run, iteration, commit: from });
  const args = ["update-ref", "-m", "ralph: merge", refOf(base), to, from];
  const result = await git.run(args);
  const stands = await whereItStands(git, request);
  if (stands === "before") throw gitError(args, result);
  return stands;
}

async function whereItStands(git: Git, request: AdvanceRequest): Promise<Advanced | "before"> {
  return whereBaseStands(git, await resolveCommit(git, refOf(request.base)), request);
}

export function openGit(repository: Repository, { base }: Pick<AdvanceRequest, "base">): Git {
  return createGit(repository.root, {
    unlock: () => removeStaleLocks(repository, [refOf(base)]),
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
}

/** Moves a checkout and its branch. Git looks at everything first, and refuses before it has touched a file. */
function fastForward(
  git: Git,
  {
    branch,
    to,
    identity,
  }: { readonly branch: string; readonly to: string; readonly identity: readonly string[] },
): Promise<GitResult> {
  const settings = [
    ...identity,
    // What the operator has set for merges of this branch could make another strategy of it.
    `--config-env=branch.${branch}.mergeOptions=${EMPTY}`,
  ];
  return git.run([...settings, "merge", ...ONLY_FORWARD, to], { env: { [EMPTY]: "" } });
}

/** What git names in its refusal. */
function refusedPaths({ stderr }: GitResult): readonly string[] {
  return stderr
    .split("\n")
    .filter((line) => line.startsWith("\t"))
    .map((line) => line.slice(1))
    .toSorted();
}

const EMPTY = "RALPH_EMPTY";
const ONLY_FORWARD = [
  "--quiet",
  "--ff-only",
  "--no-squash",
  "--commit",
  "--no-stat",
  "--no-autostash",
  "--no-verify-signatures",
  "--no-overwrite-ignore",
];

/** A checkout that has the branch, and why it may not be moved there. */
type ClosedCheckout = { readonly root: string; readonly why: string };

/** Everywhere that moving the branch would be felt. */
export async function findCheckouts(
  git: Git,
  repository: Repository,
  ref: string,
): Promise<{ readonly open: readonly Repository[]; readonly closed: ClosedCheckout | undefined }> {
  const listed = (await git.must(["worktree", "list", "--porcelain", "-z"])).split("\0\0");
  const found: (Repository | ClosedCheckout)[] = [];
  for (const [at, record] of listed.entries()) {
    const fields = fieldsOf(record);
    const named = fields.get("worktree");
    // A folder that is gone for good is no checkout; one on a disk that comes back is locked, and is one.
    if (named === undefined || fields.has("bare") || fields.has("prunable")) continue;
    const root = at === 0 ? await mainRoot(git, repository, named) : named;
    const checkout = await look(root, ref, fields.get("branch") === ref);
    if (checkout !== null) found.push(checkout);
  }
  return {
    open: found.filter((one) => "gitDir" in one),
    closed: found.find((one) => "why" in one),
  };
}

async function look(
  root: string,
  ref: string,
  isNamed: boolean,
): Promise<Repository | ClosedCheckout | null> {
  if (!existsSync(root)) return isNamed ? { root, why: "its folder is not there" } : null;
  const repository = await findRepository(root);
  const begun = underWay(repository.gitDir);
  if (!isNamed && !branchesUnderWay(repository.gitDir).includes(ref)) return null;
  return begun === null ? repository : { root, why: `${begun} is under way there` };
}

/** Git takes the first one to lie around the git directory, which it need not. */
async function mainRoot(git: Git, { root, gitDir, commonDir }: Repository, named: string): Promise<string> {
  if (gitDir === commonDir) return root;
  const { code, stdout } = await git.run(["config", "--file", `${commonDir}/config`, "core.worktree"]);
  return code === 0 ? resolve(commonDir, textOf(stdout.trimEnd())) : named;
}

function fieldsOf(record: string): ReadonlyMap<string, string> {
  const fields = textOf(record).split("\0");
  return new Map(
    fields.map((field) => {
      const space = field.indexOf(" ");
      return space < 0 ? [field, ""] : [field.slice(0, space), field.slice(space + 1)];
    }),
  );
}

/** What git has begun in a checkout and not ended, in words; null: nothing. */
function underWay(gitDir: string): string | null {
  return BEGUN.find(([file]) => existsSync(join(gitDir, file)))?.[1] ?? null;
}

/** The branches that will move, or be checked out again, when it ends: HEAD does not name them meanwhile. */
function branchesUnderWay(gitDir: string): readonly string[] {
  const rebased = ["rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs"];
  const refs = rebased.flatMap((file) => linesOf(gitDir, file)).filter((line) => line.startsWith("refs/"));
  return [...refs, ...linesOf(gitDir, "BISECT_START").map((name) => `refs/heads/${name}`)];
}

const BEGUN: readonly (readonly [file: string, words: string])[] = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a cherry-pick or revert"],
  ["BISECT_LOG", "a bisection"],
  ["BISECT_START", "a bisection"],
];

function linesOf(gitDir: string, file: string): readonly string[] {
  try {
    return readFileSync(join(gitDir, file), "utf8").split("\n");
  } catch {
    return []; // nothing of the kind is under way
  }
}

interface UnfinishedMove {
  readonly branch: string;
  readonly from: string;
  readonly to: string;
  readonly halfway: Halfway;
}

/**
 * Ends what a killed fast-forward began. Git would not: to it, the files that are there already are somebody's
 * changes. So the index is made to agree with the files, and both go on from what they are. Answers the last word of git.
 */
async function finishMove(git: Git, move: UnfinishedMove): Promise<GitResult> {
  const { branch, from, to, halfway } = move;
  const settled = await git.run(INDEX, { input: indexInfo(halfway.settled, to) });
  if (settled.code !== 0) return settled;
  // Git moves nothing that could have been edited: it has to look at the files once to know that they were not.
  await git.run(["update-index", "-q", "--refresh"]);
  const here = (await git.must(["write-tree"])).trim();
  const files = await git.run([...MOVE_FILES, here, to]);
  if (files.code === 0)
    return git.run(["update-ref", "-m", "ralph: merge, finished", refOf(branch), to, from]);
  await git.run(INDEX, { input: indexInfo(halfway.found, to) });
  return files;
}

export const MOVE_FILES = ["read-tree", "-m", "-u", "--no-recurse-submodules"];
export const INDEX = ["update-index", "-z", "--index-info"];
