import { existsSync } from "node:fs";
import { RalphError } from "../../core/ralph-error.ts";
import { gitError, type GitResult } from "../git/git.ts";
import { makePlace } from "./find-place.ts";
import { inTurn } from "../system/in-turn.ts";
import { forget, lockOf, registeredWorktrees, type RegisteredWorktree } from "./registry.ts";
import type { Site } from "./site.ts";
import { BRANCH_FOLDER } from "./worktree-name.ts";

/** On the branch, as it is; made from the base if there is none. Its files are not there yet. */
export async function addOnBranch(
  site: Site,
  root: string,
  branch: string,
  base: string,
): Promise<RegisteredWorktree> {
  const ref = `refs/heads/${branch}`;
  return inTurn(site.commonDir, async () => {
    const refs = (await site.git.must(["for-each-ref", "--format=%(refname)", `refs/heads/${BRANCH_FOLDER}`]))
      .split("\n")
      .map((line) => Buffer.from(line, "latin1").toString("utf8"));
    if (refs.includes(ref)) return add(site, root, [root, branch]);
    const inTheWay = refs.find(
      (other) => other === `refs/heads/${BRANCH_FOLDER}` || other.startsWith(`${ref}/`),
    );
    if (inTheWay !== undefined) throw nameTaken(inTheWay.slice("refs/heads/".length), branch);
    const commit = await resolveCommit(site, base);
    // Without --no-track, a base on a remote would be written to the user's configuration.
    return add(site, root, ["--no-track", "-b", branch, root, commit]);
  });
}

/** At the commit, on no branch. Its files are not there yet. */
export async function addAtCommit(site: Site, root: string, commit: string): Promise<RegisteredWorktree> {
  return inTurn(site.commonDir, () => add(site, root, ["--detach", root, commit]));
}

export async function resolveCommit({ git }: Site, name: string): Promise<string> {
  const { code, stdout } = await git.run(["rev-parse", "--verify", "--quiet", `${name}^{commit}`]);
  if (code === 0) return stdout.trim();
  throw new RalphError("git-failed", `"${name}" is not a commit, so no worktree can be made from it`, {
    hint: "a worktree needs at least one commit: git commit",
  });
}

const IS_ELSEWHERE = /is already (?:checked out|used by worktree) at '(.+)'/;

async function add(site: Site, root: string, args: readonly string[]): Promise<RegisteredWorktree> {
  makePlace(site.place);
  const command = ["worktree", "add", "--quiet", "--no-checkout", ...args];
  const first = await site.git.run(command);
  if (first.code !== 0) {
    if (!forgetElsewhere(site, first)) throw gitError(command, first);
    await site.git.must(command);
  }
  const added = registeredWorktrees(site.commonDir).find((one) => one.root === root);
  if (added !== undefined) return added;
  throw new RalphError("git-failed", `git made a worktree in ${root}, and does not know it`);
}

/** A branch stays checked out in a worktree whose folder was deleted; that is forgotten. Any other is refused. */
function forgetElsewhere({ commonDir }: Site, { stderr }: GitResult): boolean {
  const elsewhere = IS_ELSEWHERE.exec(stderr)?.[1];
  if (elsewhere === undefined) return false;
  const gone = registeredWorktrees(commonDir).filter(
    (one) => one.root === elsewhere && !existsSync(one.root) && lockOf(one) === null,
  );
  for (const one of gone) forget(one);
  if (gone.length > 0) return true;
  const branch = /'([^']+)' is already/.exec(stderr)?.[1] ?? "of the task";
  throw new RalphError("not-writable", `the branch ${branch} is checked out in ${elsewhere}`, {
    hint: `check out another branch there, for instance: git -C '${elsewhere}' switch --detach`,
  });
}

function nameTaken(inTheWay: string, branch: string): RalphError {
  return new RalphError("not-writable", `the branch ${inTheWay} is in the way of the branch ${branch}`, {
    hint: `git cannot have both; rename it: git branch -m ${inTheWay} another-name`,
  });
}
