import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMerging, createPullRequests } from "../../src/adapters/git/merging/git-merging.ts";
import { createOwnCheckout } from "../../src/adapters/git/workspace/own-checkout.ts";
import { createWorktrees } from "../../src/adapters/git/worktrees/git-worktrees.ts";
import { installFakeGh } from "../fixtures/fake-gh.ts";
import { gitHands } from "./git-hands.ts";
import { describeMerging, type MergingSubject } from "./merging.contract.ts";
import { describeOwnCheckout } from "./own-checkout.contract.ts";
import { describePullRequests } from "./pull-requests.contract.ts";
import { describeSetAside } from "./set-aside.contract.ts";
import { describeWorktrees } from "./worktrees.contract.ts";

async function gitMerging(): Promise<MergingSubject> {
  const hands = gitHands();
  const { root, folder, git } = hands;
  return {
    ...hands,
    merging: createMerging({ root, scratch: join(folder, "scratch") }),
    async kept(run, iteration) {
      const name = `refs/ralph/backup/${run}/${iteration}`;
      const format = "--format=%(objectname)";
      return git("for-each-ref", format, name, `${name}-*`).split("\n").filter(Boolean);
    },
  };
}

describeMerging("a git repository", gitMerging);
describeSetAside("a git repository", gitMerging);

describeWorktrees("a git repository", async () => {
  const hands = gitHands();
  const { root, folder, git } = hands;
  const place = join(folder, "state/ralph/id");
  const failing = join(folder, "failing");
  return {
    ...hands,
    worktrees: createWorktrees({
      root,
      stateHome: join(folder, "state"),
      projectId: "id",
      include: [],
      setup: `test ! -e '${failing}'`,
      env: process.env,
      redact: (text) => text,
    }),
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
      const dead = spawnSync("true").pid;
      const left = join(place, `@${commit.slice(0, 12)}-${dead}-1`);
      git("worktree", "add", "--quiet", "--detach", left, commit);
      return left;
    },
  };
});

describeOwnCheckout("a git repository", async () => {
  const hands = gitHands();
  const { root } = hands;
  return { ...hands, checkout: createOwnCheckout({ root, ralphDir: join(root, ".ralph") }) };
});

describePullRequests("a git repository with GitHub's program", async () => {
  const hands = gitHands();
  const { root, folder, git } = hands;
  const hub = join(folder, "hub.git");
  const inHub = (...args: string[]): string =>
    execFileSync("git", ["--git-dir", hub, ...args], { encoding: "utf8" }).trim();
  mkdirSync(join(folder, "hub"));
  const gh = installFakeGh(join(folder, "hub"));
  git("init", "--quiet", "--bare", hub);
  git("remote", "add", "origin", hub);
  return {
    ...hands,
    pullRequests: createPullRequests({
      root,
      env: { ...process.env, PATH: `${gh.bin}:${process.env["PATH"]}` },
    }),
    async disconnect() {
      git("remote", "remove", "origin");
    },
    async refuse(refuse) {
      gh.refuse(refuse);
    },
    async pushed(branch) {
      return inHub("for-each-ref", "--format=%(objectname)", `refs/heads/${branch}`) || null;
    },
  };
});
