import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { DETACHED } from "../../../core/text.ts";
import { type OpenRepository, registeredWorktrees, type Repository } from "../find-repository.ts";
import { contains, type Git, textOf } from "../git.ts";
import { resolveCommit } from "../read-head.ts";
import { textAt } from "../../process/look-at.ts";
import { refOf } from "./write-commit.ts";

/** A checkout that has the branch, and why it may not be moved there. */
type ClosedCheckout = { readonly root: string; readonly why: string };

/** Everywhere that moving the branch would be felt. */
export async function findCheckouts(
  git: Git,
  repository: Repository,
  ref: string,
): Promise<{ readonly open: readonly Repository[]; readonly closed: ClosedCheckout | undefined }> {
  const { commonDir } = repository;
  const linked = registeredWorktrees(commonDir);
  const listed = (await git.must(["worktree", "list", "--porcelain", "-z"])).split("\0\0");
  const found: (Repository | ClosedCheckout)[] = [];
  for (const [at, record] of listed.entries()) {
    const fields = fieldsOf(record);
    const named = fields.get("worktree");
    // A folder that is gone for good is no checkout; one on a disk that comes back is locked, and is one.
    if (named === undefined || fields.has("bare") || fields.has("prunable")) continue;
    const root = at === 0 ? await mainRoot(git, repository, named) : named;
    const gitDir = at === 0 ? commonDir : linked.find((one) => one.root === root)?.gitDir;
    if (gitDir === undefined) continue; // just being removed
    const isOwnHead = ref === DETACHED && root === repository.root && fields.has("detached");
    const isNamed = isOwnHead || fields.get("branch") === ref;
    if (!isNamed && !branchesUnderWay(gitDir).includes(ref)) continue;
    const why = existsSync(root) ? underWay(gitDir) : "its folder is not there";
    found.push(why === null ? { root, gitDir, commonDir } : { root, why });
  }
  return {
    open: found.filter((one) => "gitDir" in one),
    closed: found.find((one) => "why" in one),
  };
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

/** Names the operation that git has not finished in a checkout, such as a rebase; null if there is none. */
function underWay(gitDir: string): string | null {
  const begun = BEGUN.find(([file]) => existsSync(join(gitDir, file)));
  return begun === undefined ? null : `${begun[1]} is under way there`;
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
  return (textAt(join(gitDir, file)) ?? "").split("\n");
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
