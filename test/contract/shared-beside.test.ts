import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRemote, type Remote } from "../../src/adapters/fleet/remote.ts";
import { createFence, type Fence } from "../../src/adapters/fleet/fence.ts";
import { createSharedMerging } from "../../src/adapters/fleet/shared-merging.ts";
import { SharedWorktrees } from "../../src/adapters/fleet/shared-worktrees.ts";
import { createWorktrees } from "../../src/adapters/git/worktrees/git-worktrees.ts";
import { describeMerging } from "./merging.contract.ts";
import { remoteHands } from "./remote-hands.ts";
import { describeWorktrees } from "./worktrees.contract.ts";

function remoteOf(root: string): { readonly remote: Remote; readonly fence: Fence } {
  const remote = createRemote({ root, env: process.env, onTrouble: () => undefined });
  return { remote, fence: createFence({ remote, numberOf: () => 1 }) };
}

describeMerging("a remote", async () => {
  const hands = remoteHands();
  const { root, folder, git } = hands;
  const { remote, fence } = remoteOf(root);
  return {
    ...hands,
    isOnRemote: true,
    merging: createSharedMerging({ root, scratch: join(folder, "scratch"), remote, fence }),
    async kept(run, iteration) {
      const name = `refs/ralph/backup/${run}/${iteration}`;
      const format = "--format=%(objectname)";
      return git("for-each-ref", format, name, `${name}-*`).split("\n").filter(Boolean);
    },
  };
});

describeWorktrees("a clone of a remote", async () => {
  const hands = remoteHands();
  const { root, folder, git } = hands;
  const failing = join(folder, "failing");
  const { remote, fence } = remoteOf(root);
  const worktrees = createWorktrees({
    root,
    stateHome: join(folder, "state"),
    projectId: "id",
    isShared: true,
    include: [],
    setup: `test ! -e '${failing}'`,
    env: process.env,
    redact: (text) => text,
  });
  const branchOf = (task: string): string => `ralph/${task}`;
  return {
    ...hands,
    worktrees: new SharedWorktrees({ worktrees, remote, fence, branchOf, wasElsewhere: () => false })
      .worktrees,
    async commitIn(worktree) {
      git("-C", worktree, "add", "--all");
      git("-C", worktree, "commit", "--quiet", "--message", "work");
      return git("-C", worktree, "rev-parse", "HEAD");
    },
    async failSetups(fail) {
      if (fail) writeFileSync(failing, "");
      else rmSync(failing);
    },
    async lock(worktree) {
      git("worktree", "lock", worktree);
    },
    async deleteFolder(worktree) {
      rmSync(worktree, { recursive: true });
    },
    async leaveBehind(commit) {
      const left = join(folder, `state/ralph/id/@${commit.slice(0, 12)}-${spawnSync("true").pid}-1`);
      git("worktree", "add", "--quiet", "--detach", left, commit);
      return left;
    },
  };
});
