import type { Merging } from "../../engine/parallel-ports.ts";
import { openRepository, type OpenRepository } from "../git/open-repository.ts";
import type { Git } from "../git/git.ts";
import { advance } from "./advance.ts";
import { findTip as findLocalTip, type FindTip } from "./find-tip.ts";
import { prepareMerge } from "./prepare-merge.ts";
import { prepareRevert } from "./prepare-revert.ts";
import { renameBranch } from "./rename-branch.ts";
import { withWorkbench } from "./workbench.ts";
import { createCommitter, type Committer } from "./write-commit.ts";

export interface MergingOptions {
  /** The user's checkout, the top of its work tree. */
  readonly root: string;
  /** A folder for what lives as long as a call; it may be shared. */
  readonly scratch: string;
  /** Where branches are, when it is not this repository that says so. */
  readonly findTip?: FindTip;
}

export function createMerging({ root, scratch, findTip = findLocalTip }: MergingOptions): Merging {
  let opening: Promise<OpenRepository> | null = null;
  const open = (): Promise<OpenRepository> => (opening ??= openRepository(root));
  const onWorkbench = async <Result>(
    use: (git: Git, committer: Committer) => Promise<Result>,
  ): Promise<Result> => {
    const checkout = await open();
    return withWorkbench(checkout, scratch, (git) => use(git, createCommitter(git, checkout)));
  };
  return {
    prepare: (request) => onWorkbench((git, committer) => prepareMerge(git, committer, request, findTip)),
    rename: async (branch, name) => renameBranch(await open(), branch, name),
    advance: async (request) => advance(await open(), scratch, request),
    revert: (request) => onWorkbench((git, committer) => prepareRevert(git, committer, request, findTip)),
  };
}
