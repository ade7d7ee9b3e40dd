import type { Merging } from "../../../engine/parallel-ports.ts";
import { openRepository, type OpenRepository, type Repository } from "../find-repository.ts";
import { bytesOf, compareBranch, type Git, isHere } from "../git.ts";
import { keepBackup } from "../keep-backup.ts";
import { resolveCommit } from "../read-head.ts";
import { asArgument, mergedBranch } from "../../../core/text.ts";
import { type Committer, createCommitter, HERE, refOf, type WhereCommitsAre } from "./write-commit.ts";
import { prepareMerge, prepareRevert } from "./prepare-merge.ts";
import { dropBranch, keepOnBranch } from "./find-checkouts.ts";
import { advance, openGit, setBranch } from "./move-branch.ts";
import { withWorkbench } from "./workbench.ts";

interface MergingOptions {
  /** The user's checkout, the top of its work tree. */
  readonly root: string;
  /** A folder for what lives as long as a call; it may be shared. */
  readonly scratch: string;
  /** When it is not this repository that says so. */
  readonly where?: WhereCommitsAre;
}

export function createMerging({ root, scratch, where = HERE }: MergingOptions): Merging {
  let opening: Promise<OpenRepository> | null = null;
  const open = (): Promise<OpenRepository> => (opening ??= openRepository(root));
  const onWorkbench = async <Result>(
    use: (git: Git, committer: Committer) => Promise<Result>,
  ): Promise<Result> => {
    const checkout = await open();
    return withWorkbench(checkout, scratch, (git) => use(git, createCommitter(git, checkout)));
  };
  return {
    prepare: (request) => onWorkbench((git, committer) => prepareMerge(git, committer, request, where)),
    async whatMoved(branch, commit) {
      const git = openGit(await open(), branch);
      const tip = await resolveCommit(git, refOf(branch));
      const where = `${branch}, or ${mergedBranch(branch)} once its worktree is removed`;
      const restore = `git update-ref ${asArgument(refOf(branch))} ${commit}`;
      return compareBranch(git, { commit, tip, where, restore });
    },
    rename: async (branch, name) => renameBranch(await open(), branch, name),
    advance: async (request) => advance(await open(), scratch, request),
    set: async (move) => setBranch(await open(), scratch, move),
    has: async (commit) => isHere((await open()).git, commit),
    keep: async (branch, commit) => keepOnBranch(await open(), branch, commit),
    drop: async (branch, commit, backup) => {
      const checkout = await open();
      if (backup !== undefined && (await isHere(checkout.git, commit)))
        await keepBackup(checkout.git, { ...backup, commit });
      await dropBranch(checkout, branch, commit);
    },
    revert: (request) =>
      onWorkbench((git, committer) => prepareRevert(git, committer, request, where.findTip)),
  };
}

/** Renames a branch over another. `git branch -M` deletes the old name first, and a kill would lose it. */
async function renameBranch(repository: Repository, branch: string, name: string): Promise<void> {
  const git = openGit(repository, branch, name);
  const tip = await resolveCommit(git, refOf(branch));
  if (tip === null) return;
  // In one transaction git writes before it deletes.
  const input = `update ${refOf(name)} ${tip}\ndelete ${refOf(branch)} ${tip}\n`;
  await git.must(["update-ref", "-m", "ralph: merged", "--stdin"], { input: bytesOf(input) });
}
