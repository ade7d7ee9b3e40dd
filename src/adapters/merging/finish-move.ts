import type { Git, GitResult } from "../git/git.ts";
import type { Halfway } from "./find-obstacles.ts";
import { refOf } from "./find-tip.ts";
import { indexInfo } from "./tree-entries.ts";

export interface UnfinishedMove {
  readonly branch: string;
  readonly from: string;
  readonly to: string;
  readonly halfway: Halfway;
}

/**
 * Ends what a killed fast-forward began. Git would not: to it, the files that are there already are somebody's
 * changes. So the index is made to agree with the files, and both go on from what they are. Answers the last word of git.
 */
export async function finishMove(git: Git, move: UnfinishedMove): Promise<GitResult> {
  const { branch, from, to, halfway } = move;
  const settled = await git.run(INDEX, { input: indexInfo(halfway.settled, to) });
  if (settled.code !== 0) return settled;
  // Git moves nothing that could have been edited: it has to look at the files once to know that they were not.
  await git.run(["update-index", "-q", "--refresh"]);
  const here = (await git.must(["write-tree"])).trim();
  const files = await git.run(["read-tree", "-m", "-u", "--no-recurse-submodules", here, to]);
  if (files.code === 0)
    return git.run(["update-ref", "-m", "ralph: merge, finished", refOf(branch), to, from]);
  await git.run(INDEX, { input: indexInfo(halfway.found, to) });
  return files;
}

const INDEX = ["update-index", "-z", "--index-info"];
