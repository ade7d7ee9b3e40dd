import { bytesOf, createGit } from "../git/git.ts";
import type { Repository } from "../git/find-repository.ts";
import { resolveCommit } from "../git/read-head.ts";
import { removeStaleLocks } from "../git/stale-locks.ts";
import { refOf } from "./find-tip.ts";

/**
 * Gives a branch another name, whoever had that before. `git branch -M` takes the old name away before it gives the new
 * one: killed between the two, it would lose the work.
 */
export async function renameBranch(repository: Repository, branch: string, name: string): Promise<void> {
  const refs = [refOf(branch), refOf(name)] as const;
  const git = createGit(repository.root, {
    unlock: () => removeStaleLocks(repository, refs),
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
  const tip = await resolveCommit(git, refs[0]);
  if (tip === null) return;
  // In one transaction git writes before it deletes.
  const input = `update ${refs[1]} ${tip}\ndelete ${refs[0]} ${tip}\n`;
  await git.must(["update-ref", "-m", "ralph: merged", "--stdin"], { input: bytesOf(input) });
}
