import { describeMerging, type MergingSubject } from "./merging.contract.ts";
import { describeOwnCheckout } from "./own-checkout.contract.ts";
import { describePullRequests } from "./pull-requests.contract.ts";
import { describeSetAside } from "./set-aside.contract.ts";
import { simulatedHands } from "./simulated-hands.ts";
import { describeWorktrees } from "./worktrees.contract.ts";

async function simulatedMerging(): Promise<MergingSubject> {
  const hands = simulatedHands();
  const { backups } = hands.world.branches;
  return {
    ...hands,
    merging: hands.parallel().merging,
    async kept(run, iteration) {
      const name = new RegExp(`^${run}/${iteration}(-|$)`);
      return [...backups].filter(([kept]) => name.test(kept)).map(([, commit]) => commit);
    },
  };
}

describeMerging("the simulated world", simulatedMerging);
describeSetAside("the simulated world", simulatedMerging);

describeWorktrees("the simulated world", async () => {
  const hands = simulatedHands();
  const { world, lanes, chance } = hands;
  return {
    ...hands,
    worktrees: hands.parallel().worktrees,
    async commitIn(root) {
      const worktree = world.checkoutAt(root);
      worktree.commit();
      return worktree.head;
    },
    async failSetups(fail) {
      chance.isBad = fail;
      lanes.setupFailures = fail ? Infinity : 0;
    },
    async lock(root) {
      lanes.locked.add(root);
    },
    async deleteFolder(root) {
      for (const [task, worktree] of lanes.worktrees)
        if (worktree.root === root) lanes.worktrees.delete(task);
    },
    leaveBehind: (commit) =>
      new Promise((resolve) => {
        void hands.parallel().worktrees.at(commit, ({ root }) => {
          resolve(root);
          return new Promise(() => undefined);
        });
      }),
  };
});

describeOwnCheckout("the simulated world", async () => {
  const hands = simulatedHands();
  return { ...hands, checkout: hands.parallel().checkout };
});

describePullRequests("the simulated world", async () => {
  const hands = simulatedHands();
  const { lanes, chance } = hands;
  return {
    ...hands,
    pullRequests: hands.parallel().pullRequests,
    async disconnect() {
      lanes.hasHub = false;
    },
    async refuse(refuse) {
      chance.isBad = refuse;
    },
    pushed: async (branch) => lanes.proposed.get(branch) ?? null,
  };
});
