import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TaskId } from "../../core/plan/task.ts";
import { findRepository } from "../git/find-repository.ts";
import { createGit } from "../git/git.ts";
import { OWN_INDEX_PREFIX } from "../git/stale-locks.ts";
import type { Clone } from "./clone.ts";
import { asideRef } from "./task-branches.ts";

/** Keeps a commit that would be on no branch any more, unless the remote has it. */
export async function keepAside({ git }: Clone, task: TaskId, commit: string): Promise<void> {
  const known = await git.must([
    "for-each-ref",
    "--count=1",
    `--contains=${commit}`,
    "refs/ralph/remote",
    "refs/ralph/aside",
  ]);
  if (known !== "") return;
  await git.must(["update-ref", "-m", "ralph: put aside", asideRef(task, commit), commit]);
}

/**
 * Keeps what lies uncommitted in a worktree, as a commit on top of what is checked out there. Where git cannot, as with a
 * repository inside of it, the folder itself is kept under another name.
 */
export async function keepUncommitted(clone: Clone, task: TaskId, root: string): Promise<void> {
  const commit = await commitAll(clone, root).catch(() => null);
  if (commit === null) renameSync(root, freePath(root));
  else await keepAside(clone, task, commit);
}

/** Null when a commit does not hold it all. */
async function commitAll({ identity }: Clone, root: string): Promise<string | null> {
  const { gitDir } = await findRepository(root);
  const index = join(gitDir, `${OWN_INDEX_PREFIX}aside`);
  const git = createGit(root, { place: { GIT_DIR: gitDir, GIT_WORK_TREE: root, GIT_INDEX_FILE: index } });
  try {
    await git.must(["read-tree", "HEAD"]);
    await git.must(["add", "--all"]);
    const added = await git.must([
      "diff-index",
      "--cached",
      "--raw",
      "--no-renames",
      "--diff-filter=A",
      "HEAD",
    ]);
    if (/^:000000 160000 /m.test(added)) return null;
    const tree = (await git.must(["write-tree"])).trim();
    const args = ["commit-tree", "-p", "HEAD", "-m", "ralph: put aside, uncommitted", tree];
    return (await git.must([...(await identity()), ...args])).trim();
  } finally {
    rmSync(index, { force: true });
    rmSync(`${index}.lock`, { force: true });
  }
}

function freePath(root: string): string {
  for (let number = 1; ; number += 1) {
    const path = `${root}~aside-${number}`;
    if (!existsSync(path)) return path;
  }
}
