import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Evidence } from "../../core/verdict/evidence.ts";
import { workerOn, type TestWorker } from "../../../test/fixtures/test-worker.ts";
import { twoMachines, type Machines } from "../../../test/fixtures/two-machines.ts";

const TASK = "task-001";
const BRANCH = "refs/heads/ralph/task-001";

let machines: Machines;
let here: TestWorker;
let root: string;

beforeEach(async () => {
  machines = twoMachines();
  here = workerOn(machines, "here");
  here.hold(TASK, 1);
  ({ root } = await here.worktrees.open(TASK, "main"));
});
afterEach(() => machines.dispose());

async function iterate(work: () => void): Promise<Evidence> {
  const workspace = here.workspaceAt(root);
  const from = await workspace.snapshot();
  work();
  return workspace.collect({
    run: "r1",
    task: TASK,
    iteration: 1,
    title: "Make it work",
    hooks: false,
    commit: "ralph",
    from,
    ignore: [],
    leaveAlone: [],
    leftBefore: [],
    leftByGates: [],
    gatesRan: null,
    taskBase: from.head,
    leftBeforeTask: [],
    cited: [],
    written: [],
    earlier: { from: null, paths: [] },
    isProtected: () => false,
    gates: [],
    oldChecks: "auto",
    since: 0,
    isClaimed: true,
  });
}

describe("the end of an iteration", () => {
  test("what an agent left is committed and on the remote", async () => {
    await iterate(() => writeFileSync(join(root, "new.txt"), "new\n"));
    const head = here.machine.git("-C", root, "rev-parse", "HEAD");
    expect(machines.there(BRANCH)).toBe(head);
    expect(machines.inHub("ls-tree", "--name-only", head)).toContain("new.txt");
  });

  test("what was claimed is on the remote under a name of ours as well, also when it is looked at again", async () => {
    await iterate(() => writeFileSync(join(root, "new.txt"), "new\n"));
    const head = here.machine.git("-C", root, "rev-parse", "HEAD");
    expect(machines.there("refs/ralph/accepted/r1/1")).toBe(head);
    await here.branches.push(TASK, { ref: "refs/ralph/accepted/r1/1", commit: head });
    await here.branches.push(TASK, { ref: "refs/ralph/accepted/r1/2", commit: head });
    expect(machines.there("refs/ralph/accepted/r1/2")).toBe(head);
  });

  test("nothing is sent when nothing was done", async () => {
    const calls = here.calls.length;
    await iterate(() => undefined);
    expect(here.calls.slice(calls)).toEqual([]);
  });

  test("a remote that is gone is waited for", async () => {
    renameSync(machines.hub, `${machines.hub}~`);
    const ending = iterate(() => writeFileSync(join(root, "new.txt"), "new\n"));
    await expect.poll(() => here.troubles.length, { timeout: 20_000 }).toBeGreaterThan(1);
    renameSync(`${machines.hub}~`, machines.hub);
    await ending;
    expect(machines.there(BRANCH)).toBe(here.machine.git("-C", root, "rev-parse", "HEAD"));
  });

  test("whoever lost the task meanwhile does not wait, and sends nothing", async () => {
    const before = machines.there(BRANCH);
    renameSync(machines.hub, `${machines.hub}~`);
    const ending = iterate(() => writeFileSync(join(root, "new.txt"), "new\n")).catch(
      (error: unknown) => error,
    );
    await expect.poll(() => here.troubles.length, { timeout: 20_000 }).toBeGreaterThan(0);
    here.hold(TASK, null);
    expect(await ending).toMatchObject({ name: "RalphError" });
    renameSync(`${machines.hub}~`, machines.hub);
    expect(machines.there(BRANCH)).toBe(before);
  });

  test("a server that does not want the branch is told in its words", async () => {
    machines.hook("update", 'case "$1" in refs/heads/ralph/*) echo "no robots" >&2; exit 1;; esac');
    const ending = iterate(() => writeFileSync(join(root, "new.txt"), "new\n"));
    await expect(ending).rejects.toThrow(/does not take the branch ralph\/task-001: .*no robots/);
  });
});
