import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Advanced, PreparedMerge } from "../../engine/parallel-ports.ts";
import { workerOn, type TestWorker } from "../../../test/fixtures/test-worker.ts";
import { twoMachines, type Machines } from "../../../test/fixtures/two-machines.ts";

const MAIN = "refs/heads/main";
const ABOUT = { run: "r1", task: "task-001", iteration: 7, title: "Make it work", base: "main" };

let machines: Machines;
let here: TestWorker;
let there: TestWorker;

beforeEach(() => {
  machines = twoMachines();
  [here, there] = [workerOn(machines, "here"), workerOn(machines, "there")];
  here.hold("@merger", 1);
});
afterEach(() => machines.dispose());

/** Work of a task, done and pushed on a machine. */
async function workOn(worker: TestWorker, task = "task-001"): Promise<void> {
  worker.hold(task, 1);
  const { root } = await worker.worktrees.open(task, "main");
  writeFileSync(join(root, `${task}.txt`), `${task}\n`);
  worker.machine.commit(task, root);
  await worker.branches.push(task);
}

const WORK = "refs/heads/ralph/task-001";

async function prepareOn(
  { merging }: TestWorker,
  commit = machines.there(WORK) ?? "",
): Promise<PreparedMerge> {
  return merging.prepare({ ...ABOUT, commit, branch: "ralph/task-001", how: "squash", mark: null });
}

function advanceOn({ merging }: TestWorker, prepared: PreparedMerge): Promise<Advanced> {
  if (prepared.is !== "ready") throw new Error(prepared.is);
  const { from, to } = prepared;
  return merging.advance({ run: "r1", iteration: 7, base: "main", from, to });
}

describe("merging on a machine that did not do the work", () => {
  test("the remote's base moves, the clone's own stays", async () => {
    await workOn(there);
    const before = here.machine.git("for-each-ref", "refs/heads");
    const prepared = await prepareOn(here);
    expect(await advanceOn(here, prepared)).toEqual({ is: "moved" });
    expect(machines.there(MAIN)).toBe(prepared.is === "ready" && prepared.to);
    expect(machines.inHub("ls-tree", "--name-only", "main")).toContain("task-001.txt");
    expect(here.machine.git("for-each-ref", "refs/heads")).toBe(before);
    expect(here.machine.git("status", "--porcelain")).toBe("");
  });

  test("what another machine moved there before it died has moved", async () => {
    await workOn(here);
    const prepared = await prepareOn(here);
    await advanceOn(here, prepared);
    there.hold("@merger", 2);
    expect(await advanceOn(there, prepared)).toEqual({ is: "moved" });
    there.machine.git("pull", "--quiet");
    there.machine.commit("on top");
    there.machine.git("push", "--quiet");
    expect(await advanceOn(there, prepared)).toEqual({ is: "moved" });
  });

  test("what another machine prepared and never sent is prepared again", async () => {
    await workOn(here);
    const prepared = await prepareOn(here);
    there.hold("@merger", 2);
    expect(await advanceOn(there, prepared)).toEqual({ is: "elsewhere", head: machines.there(MAIN) });
    // Its push was under way when it was taken over.
    expect(await advanceOn(here, prepared)).toMatchObject({ is: "waits" });
    expect(await advanceOn(there, await prepareOn(there))).toEqual({ is: "moved" });
  });

  test("whoever is the merger no longer moves nothing", async () => {
    await workOn(here);
    const [prepared, before] = [await prepareOn(here), machines.there(MAIN)];
    await here.merging.rename("ralph/none", "ralph/merged/none");
    there.hold("@merger", 2);
    await there.merging.rename("ralph/none", "ralph/merged/none");
    await expect(advanceOn(here, prepared)).rejects.toMatchObject({ code: "lease-lost" });
    expect(machines.there(MAIN)).toBe(before);
  });

  test("a lease of the merger that no database gave makes it wait, and says how to remove it", async () => {
    await workOn(here);
    there.hold("@merger", 9_007_199_254_740_000);
    await there.merging.rename("ralph/none", "ralph/merged/none");
    const why = expect.stringMatching(
      /has lease 9007199254740000 for @merger.*git push origin :refs\/ralph\/leases\/%40merger$/,
    ) as string;
    expect(await advanceOn(here, await prepareOn(here))).toEqual({ is: "waits", root: null, why, paths: [] });
  });

  test("a base that is protected makes it wait, in the server's words", async () => {
    await workOn(here);
    machines.hook("update", `case "$1" in ${MAIN}) echo "use a pull request" >&2; exit 1;; esac`);
    const [prepared, before] = [await prepareOn(here), machines.there(MAIN)];
    expect(await advanceOn(here, prepared)).toEqual({
      is: "waits",
      root: null,
      why: expect.stringContaining("use a pull request") as string,
      paths: [],
    });
    expect(machines.there(MAIN)).toBe(before);
  });

  test("work is taken back on the remote's base", async () => {
    await workOn(there);
    const prepared = await prepareOn(here);
    await advanceOn(here, prepared);
    if (prepared.is !== "ready") throw new Error(prepared.is);
    const undone = await here.merging.revert({ ...ABOUT, spans: [prepared], mark: null });
    expect(await advanceOn(here, undone)).toEqual({ is: "moved" });
    expect(machines.inHub("ls-tree", "--name-only", "main")).not.toContain("task-001.txt");
  });
});

test("a worktree of a bare clone is as good as any clone", async () => {
  const bare = workerOn(machines, "bare", machines.bare("bare"));
  bare.hold("@merger", 2);
  const before = bare.machine.git("rev-parse", "main");
  await workOn(bare);
  expect(await advanceOn(bare, await prepareOn(bare))).toEqual({ is: "moved" });
  await bare.merging.rename("ralph/task-001", "ralph/merged/task-001");
  expect(machines.inHub("ls-tree", "--name-only", "main")).toContain("task-001.txt");
  expect(bare.machine.git("rev-parse", "main")).toBe(before);
});

describe("a branch whose work is merged", () => {
  test("goes from the remote, and its commits stay", async () => {
    await workOn(there);
    const tip = machines.there("refs/heads/ralph/task-001");
    await here.merging.rename("ralph/task-001", "ralph/merged/task-001");
    await here.merging.rename("ralph/task-001", "ralph/merged/task-001");
    expect(machines.there("refs/heads/ralph/task-001")).toBeNull();
    expect(machines.there(`refs/ralph/merged/task-001/${tip!.slice(0, 12)}`)).toBe(tip);
  });

  test("stays where the server keeps branches, and that is told", async () => {
    await workOn(there);
    machines.inHub("config", "receive.denyDeletes", "true");
    await here.merging.rename("ralph/task-001", "ralph/merged/task-001");
    expect(machines.there("refs/heads/ralph/task-001")).not.toBeNull();
    expect(here.troubles).toMatchObject([{ why: expect.stringContaining("could not be removed") as string }]);
  });
});

describe("over git's own protocol", () => {
  let daemon: ChildProcess;
  afterEach(() => void (daemon.pid !== undefined && process.kill(-daemon.pid)));

  test("from work to merge", async () => {
    const port = await freePort();
    const options = ["--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1"];
    const folder = `--base-path=${machines.folder}`;
    daemon = spawn("git", ["daemon", ...options, `--port=${port}`, folder, machines.folder], {
      stdio: "ignore",
      detached: true,
    });
    const far = await connected(`git://127.0.0.1:${port}/hub.git`);
    far.hold("@merger", 2);
    await workOn(far);
    expect(await advanceOn(far, await prepareOn(far))).toEqual({ is: "moved" });
    await far.merging.rename("ralph/task-001", "ralph/merged/task-001");
    expect(machines.there("refs/heads/ralph/task-001")).toBeNull();
  });

  async function connected(address: string): Promise<TestWorker> {
    for (;;) {
      try {
        here.machine.git("ls-remote", address);
        return workerOn(machines, "far", machines.machine("far", address));
      } catch {
        await sleep(50); // it is not listening yet
      }
    }
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("a branch that is not where its work was accepted", () => {
  const ACCEPTED = "refs/ralph/accepted/r1/7";
  let commit: string;

  /** Pushed as after a claim. */
  beforeEach(async () => {
    await workOn(there);
    commit = machines.there(WORK) ?? "";
    await there.branches.push("task-001", { ref: ACCEPTED, commit });
  });

  const push = (...refspecs: string[]): string =>
    there.machine.git("push", "--quiet", "--force", "origin", ...refspecs);

  test("pushed away: the accepted commit is merged, and the other is kept and told", async () => {
    const other = there.machine.commit("other");
    push(`${other}:${WORK}`);
    const prepared = await prepareOn(here, commit);
    expect(await advanceOn(here, prepared)).toEqual({ is: "moved" });
    expect(machines.inHub("ls-tree", "--name-only", "main")).toContain("task-001.txt");
    expect(machines.inHub("log", "--format=%s", "main")).not.toContain("other");
    const kept = `refs/ralph/merged/task-001/${other.slice(0, 12)}`;
    expect(await here.merging.whatMoved("ralph/task-001", commit)).toEqual({
      tip: other,
      commits: 1,
      isAhead: false,
      where: `${kept} on origin`,
      restore: `git push --force origin ${commit}:${WORK}`,
    });
    await here.merging.rename("ralph/task-001", "ralph/merged/task-001");
    expect([machines.there(WORK), machines.there(kept)]).toEqual([null, other]);
  });

  test("deleted: another machine finds the accepted commit all the same", async () => {
    push(`:${WORK}`);
    expect(await advanceOn(here, await prepareOn(here, commit))).toEqual({ is: "moved" });
    expect(machines.inHub("ls-tree", "--name-only", "main")).toContain("task-001.txt");
    expect(await here.merging.whatMoved("ralph/task-001", commit)).toMatchObject({ tip: null });
  });

  test("deleted with what we keep: what it needs is told, and done by hand it is merged", async () => {
    push(`:${WORK}`, `:${ACCEPTED}`);
    const command = `git push origin ${commit}:${ACCEPTED}`;
    const prepared = await prepareOn(here, commit);
    expect(prepared).toEqual({ is: "gone", why: expect.stringContaining(command) as string });
    there.machine.git(...command.split(" ").slice(1));
    expect(await prepareOn(here, commit)).toMatchObject({ is: "ready" });
  });
});
