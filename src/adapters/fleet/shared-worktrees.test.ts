import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { twoMachines, type Machines } from "../../../test/fixtures/two-machines.ts";
import { workerOn, type TestWorker } from "../../../test/fixtures/test-worker.ts";

const TASK = "task-001";
const BRANCH = "refs/heads/ralph/task-001";
const ASIDE = "refs/ralph/aside/task-001";

let machines: Machines;
let here: TestWorker;
let there: TestWorker;

beforeEach(() => {
  machines = twoMachines();
  [here, there] = [workerOn(machines, "here"), workerOn(machines, "there")];
});
afterEach(() => machines.dispose());

async function workIn(
  worker: TestWorker,
  name: string,
): Promise<{ readonly root: string; readonly head: string }> {
  const { root } = await worker.worktrees.open(TASK, "main");
  writeFileSync(join(root, name), `${name}\n`);
  const head = worker.machine.commit(name, root);
  return { root, head };
}

describe("a task that is taken up", () => {
  test("begins at the base of the remote, whatever the clone's is, and everybody knows where", async () => {
    const base = machines.machine("somebody").commit("news");
    const old = here.machine.git("rev-parse", "main");
    machines.machine("another").git("fetch", "--quiet", join(machines.folder, "somebody"), "main");
    machines.inHub("fetch", "--quiet", join(machines.folder, "somebody"), "main:main");
    here.hold(TASK, 1);
    const { root } = await here.worktrees.open(TASK, "main");
    expect(here.machine.git("-C", root, "rev-parse", "HEAD")).toBe(base);
    expect(here.machine.git("rev-parse", "main", "origin/main")).toBe(`${old}\n${old}`);
    expect(machines.there(BRANCH)).toBe(base);
  });

  test("goes on elsewhere from what was pushed", async () => {
    here.hold(TASK, 1);
    const { head } = await workIn(here, "one");
    await here.branches.push(TASK);
    there.hold(TASK, 2);
    const { root } = await there.worktrees.open(TASK, "main");
    expect(there.machine.git("-C", root, "rev-parse", "HEAD")).toBe(head);
    expect(readFileSync(join(root, "one"), "utf8")).toBe("one\n");
    await expect(here.branches.push(TASK)).resolves.toBeUndefined();
    here.machine.commit("too late", here.machine.git("worktree", "list").split("\n")[1]!.split(" ")[0]);
    await expect(here.branches.push(TASK)).rejects.toMatchObject({ code: "lease-lost" });
    expect(machines.there(BRANCH)).toBe(head);
  });

  test("what lies here beyond it is put aside: commits, and what nobody committed", async () => {
    here.hold(TASK, 1);
    const { root } = await workIn(here, "one");
    await here.branches.push(TASK);
    const stray = (await workIn(here, "stray")).head;
    writeFileSync(join(root, "loose"), "loose\n");
    there.hold(TASK, 2);
    const { head } = await workIn(there, "two");
    await there.branches.push(TASK);
    here.wasElsewhere(TASK);
    here.hold(TASK, 3);
    const opened = await here.worktrees.open(TASK, "main");
    expect(here.machine.git("-C", opened.root, "rev-parse", "HEAD")).toBe(head);
    expect(existsSync(join(opened.root, "loose"))).toBe(false);
    expect(existsSync(join(opened.root, "stray"))).toBe(false);
    const kept = here.machine.git("for-each-ref", "--format=%(objectname)", ASIDE).split("\n");
    const contents = kept.map((commit) => here.machine.git("ls-tree", "--name-only", commit));
    expect(contents.some((names) => names.includes("loose") && names.includes("stray"))).toBe(true);
    expect(
      kept.some((commit) => commit === stray || here.machine.git("rev-list", commit).includes(stray)),
    ).toBe(true);
  });

  test("a checkout that is where the remote is stays as it is, with what nobody committed", async () => {
    here.hold(TASK, 1);
    const { root } = await workIn(here, "one");
    await here.branches.push(TASK);
    writeFileSync(join(root, "loose"), "loose\n");
    here.hold(TASK, 2);
    await here.worktrees.open(TASK, "main");
    expect(readFileSync(join(root, "loose"), "utf8")).toBe("loose\n");
  });

  test("commits that a worker had no time to push are still there when it goes on with them itself", async () => {
    here.hold(TASK, 1);
    const { root } = await workIn(here, "one");
    await here.branches.push(TASK);
    const { head } = await workIn(here, "two");
    here.hold(TASK, 2);
    await here.worktrees.open(TASK, "main");
    expect(here.machine.git("-C", root, "rev-parse", "HEAD")).toBe(head);
    await here.branches.push(TASK);
    expect(machines.there(BRANCH)).toBe(head);
  });

  test("what nobody committed here before others went on with it is put aside, even if they added nothing", async () => {
    here.hold(TASK, 1);
    const { root } = await workIn(here, "one");
    await here.branches.push(TASK);
    writeFileSync(join(root, "loose"), "loose\n");
    there.hold(TASK, 2);
    await there.worktrees.open(TASK, "main");
    here.wasElsewhere(TASK);
    here.hold(TASK, 3);
    await here.worktrees.open(TASK, "main");
    expect(existsSync(join(root, "loose"))).toBe(false);
    expect(existsSync(join(root, "one"))).toBe(true);
    const kept = here.machine.git("for-each-ref", "--format=%(objectname)", ASIDE);
    expect(here.machine.git("ls-tree", "--name-only", kept)).toContain("loose");
  });

  test("a repository inside of the checkout is kept with the whole folder", async () => {
    here.hold(TASK, 1);
    const { root } = await workIn(here, "one");
    here.machine.git("init", "--quiet", join(root, "inside"));
    writeFileSync(join(root, "inside/loose"), "loose\n");
    there.hold(TASK, 2);
    const { head } = await workIn(there, "two");
    await there.branches.push(TASK);
    here.wasElsewhere(TASK);
    here.hold(TASK, 3);
    await here.worktrees.open(TASK, "main");
    expect(here.machine.git("-C", root, "rev-parse", "HEAD")).toBe(head);
    expect(readFileSync(`${root}~aside-1/inside/loose`, "utf8")).toBe("loose\n");
  });

  test("a branch of another life is put aside where the remote has none", async () => {
    here.machine.git("switch", "--quiet", "--create", "ralph/task-001");
    const past = here.machine.commit("of long ago");
    here.machine.git("switch", "--quiet", "main");
    here.hold(TASK, 1);
    const { root } = await here.worktrees.open(TASK, "main");
    expect(here.machine.git("-C", root, "rev-parse", "HEAD")).toBe(machines.there("refs/heads/main"));
    expect(here.machine.git("for-each-ref", "--format=%(objectname)", ASIDE)).toBe(past);
  });

  test("a branch that the user has checked out is not moved", async () => {
    here.machine.git("switch", "--quiet", "--create", "ralph/task-001");
    const own = here.machine.commit("the user's");
    here.hold(TASK, 1);
    await expect(here.worktrees.open(TASK, "main")).rejects.toThrow("is checked out in");
    expect(here.machine.git("rev-parse", "HEAD")).toBe(own);
    here.machine.git("switch", "--quiet", "main");
    expect(await here.worktrees.open(TASK, "main")).toMatchObject({ is: "ready" });
  });
});

describe("opened again under the same lease", () => {
  test("nobody is asked", async () => {
    here.hold(TASK, 1);
    const { root, head } = await workIn(here, "one");
    const calls = here.calls.length;
    expect(await here.worktrees.open(TASK, "main")).toMatchObject({ is: "ready", root });
    expect(here.calls.slice(calls)).toEqual([]);
    expect(here.machine.git("-C", root, "rev-parse", "HEAD")).toBe(head);
  });

  test("a branch that an agent deleted comes back as it was pushed", async () => {
    here.hold(TASK, 1);
    const { root, head } = await workIn(here, "one");
    await here.branches.push(TASK);
    here.machine.git("worktree", "remove", "--force", root);
    here.machine.git("branch", "-D", "ralph/task-001");
    await here.worktrees.open(TASK, "main");
    expect(here.machine.git("-C", root, "rev-parse", "HEAD")).toBe(head);
  });
});

describe("pushing", () => {
  test("nothing new: nothing is sent", async () => {
    here.hold(TASK, 1);
    await workIn(here, "one");
    await here.branches.push(TASK);
    const calls = here.calls.length;
    await here.branches.push(TASK);
    expect(here.calls.slice(calls)).toEqual([]);
  });

  test("commits that an agent wrote anew go over the old ones", async () => {
    here.hold(TASK, 1);
    const { root } = await workIn(here, "one");
    await here.branches.push(TASK);
    here.machine.git("-C", root, "commit", "--quiet", "--amend", "-m", "anew");
    await here.branches.push(TASK);
    expect(machines.there(BRANCH)).toBe(here.machine.git("-C", root, "rev-parse", "HEAD"));
  });

  test("what a person pushed to the branch is kept on the remote, and told", async () => {
    here.hold(TASK, 1);
    const { head } = await workIn(here, "one");
    const theirs = there.machine.commit("a person's");
    there.machine.git("push", "--quiet", "--force", "origin", `${theirs}:${BRANCH}`);
    await here.branches.push(TASK);
    expect(machines.there(BRANCH)).toBe(head);
    expect(machines.there(`${ASIDE}/${theirs.slice(0, 12)}`)).toBe(theirs);
    expect(here.troubles).toMatchObject([{ why: expect.stringContaining("somebody else pushed") as string }]);
  });

  test("many tasks at once", async () => {
    const tasks = ["a", "b", "c", "d", "e", "f"];
    for (const task of tasks) here.hold(task, 1);
    await Promise.all(
      tasks.map(async (task) => {
        const { root } = await here.worktrees.open(task, "main");
        here.machine.commit(task, root);
        await here.branches.push(task);
      }),
    );
    for (const task of tasks)
      expect(machines.inHub("log", "-1", "--format=%s", `refs/heads/ralph/${task}`)).toBe(task);
  });
});

describe("what is merged", () => {
  test("goes, and what would be lost with it is put aside", async () => {
    for (const task of ["a", "b", "c"]) here.hold(task, 1);
    const roots = await Promise.all(
      ["a", "b", "c"].map(async (task) => {
        const { root } = await here.worktrees.open(task, "main");
        writeFileSync(join(root, task), task);
        here.machine.commit(task, root);
        await here.branches.push(task);
        return root;
      }),
    );
    writeFileSync(join(roots[1]!, "loose"), "loose\n");
    const stray = here.machine.commit("never pushed", roots[2]);
    const clearing = here.clear(["a", "b", "c", "d"]);
    for (const task of ["a", "b", "c"]) here.hold(task, null);
    expect(await clearing).toEqual(["a", "b", "c", "d"]);
    expect(roots.map((root) => existsSync(root))).toEqual([false, false, false]);
    expect(here.machine.git("branch", "--list", "ralph/*", "--format=%(refname:short)")).toBe("");
    const aside = here.machine.git("for-each-ref", "--format=%(objectname)", "refs/ralph/aside").split("\n");
    expect(aside).toHaveLength(2);
    expect(here.machine.git("show", `${aside[0]}:loose`)).toBe("loose");
    expect(aside[1]).toBe(stray);
  });
});
