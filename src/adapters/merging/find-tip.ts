import { RalphError } from "../../core/ralph-error.ts";
import type { Git } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";

/** The last commit of a branch. */
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

/** Whether the commit has the other in its past, or is it. */
export async function contains(git: Git, commit: string, other: string): Promise<boolean> {
  return (await git.ask(["merge-base", "--is-ancestor", other, commit])).code === 0;
}
