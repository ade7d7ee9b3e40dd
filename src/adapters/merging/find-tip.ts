import { RalphError } from "../../core/ralph-error.ts";
import type { Git } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";

/** Where a branch is: its last commit. */
export type FindTip = (git: Git, branch: string) => Promise<string>;

/** The last commit of a branch of this repository. */
export async function findTip(git: Git, branch: string): Promise<string> {
  const tip = await resolveCommit(git, refOf(branch));
  if (tip !== null) return tip;
  const { stdout } = await git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  if (stdout.trim() === branch) {
    throw new RalphError("git-failed", `the branch ${branch} has no commit yet`, {
      hint: "make one: git commit --allow-empty -m first",
    });
  }
  throw new RalphError("git-failed", `there is no branch ${branch}`, { hint: "git branch --list" });
}

export function refOf(branch: string): string {
  return `refs/heads/${branch}`;
}
