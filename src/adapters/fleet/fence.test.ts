import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { twoMachines, type Machine, type Machines } from "../../../test/fixtures/two-machines.ts";
import { createRemote, type RemoteTrouble } from "./remote.ts";
import type { RalphError } from "../../core/errors.ts";
import { createFence, type Fence } from "./fence.ts";

const TASK = "Task 1/ü";
const BRANCH = "refs/heads/ralph/task";
const LEASE = "refs/ralph/leases/%54ask%201%2f%c3%bc";

let machines: Machines;
let here: Machine;
let there: Machine;
/** Who holds what, by the number of the lease. */
let numbers: Map<Machine, number>;
let troubles: RemoteTrouble[];

beforeEach(() => {
  machines = twoMachines();
  [here, there] = [machines.machine("here"), machines.machine("there")];
  numbers = new Map();
  troubles = [];
});
afterEach(() => machines.dispose());

function fenceOf(machine: Machine, number: number): Fence {
  numbers.set(machine, number);
  const remote = createRemote({
    root: machine.root,
    env: process.env,
    pauseMs: 20,
    onTrouble: (trouble) => void troubles.push(trouble),
    isHeld: () => numbers.has(machine),
  });
  return createFence({ remote, numberOf: () => numbers.get(machine) ?? null });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(20);
}

describe("a lease on the remote", () => {
  test("work and lease move together, and only when there is work", async () => {
    const fence = fenceOf(here, 7);
    expect(await fence.takeUp(TASK)).toBe(true);
    expect(await fence.takeUp(TASK)).toBe(false);
    const first = machines.there(LEASE);
    expect(machines.inHub("log", "-1", "--format=%B", LEASE)).toContain("Ralph-Lease: 7\nRalph-Count: 0");
    const [one, two] = [here.commit(), here.commit()];
    expect(await fence.push(TASK, [{ ref: BRANCH, from: null, to: one }])).toEqual({ is: "pushed" });
    expect(await fence.push(TASK, [{ ref: BRANCH, from: one, to: two }])).toEqual({ is: "pushed" });
    expect(machines.there(BRANCH)).toBe(two);
    expect(machines.inHub("log", "-1", "--format=%B", LEASE)).toContain("Ralph-Lease: 7\nRalph-Count: 2");
    expect(machines.inHub("rev-list", LEASE).split("\n")).toContain(first);
  });

  test("whoever was taken over cannot push, though nothing else was pushed since", async () => {
    const [old, young] = [fenceOf(here, 1), fenceOf(there, 2)];
    await old.takeUp(TASK);
    await young.takeUp(TASK);
    const push = old.push(TASK, [{ ref: BRANCH, from: null, to: here.commit() }]);
    await expect(push).rejects.toMatchObject({ code: "lease-lost" });
    expect(machines.there(BRANCH)).toBeNull();
    await expect(old.takeUp(TASK)).rejects.toMatchObject({ code: "git-failed" });
    const to = there.commit();
    expect(await young.push(TASK, [{ ref: BRANCH, from: null, to }])).toEqual({ is: "pushed" });
  });

  test("a number that is not greater takes nothing up, and says what is in the way and how to remove it", async () => {
    await fenceOf(here, 5).takeUp(TASK);
    await expect(fenceOf(there, 5).takeUp(TASK)).rejects.toMatchObject({ code: "git-failed" });
    const refused = await fenceOf(there, 4)
      .takeUp(TASK)
      .catch((error: unknown) => error as RalphError);
    expect(refused).toMatchObject({
      message: `origin has lease 5 for ${TASK}, and the database gave lease 4 to this worker`,
      hint: `delete it if no other worker has ${TASK}: git push origin :${LEASE}`,
    });
    there.git("push", "--quiet", "--force", "origin", `${there.commit()}:${LEASE}`);
    await expect(fenceOf(there, 6).takeUp(TASK)).rejects.toThrow(/, which is not a lease, for/);
    there.git("push", "--quiet", "origin", `:${LEASE}`);
    expect(await fenceOf(there, 4).takeUp(TASK)).toBe(true);
  });

  test("what is not held is not pushed; what is held anew is taken up anew", async () => {
    const fence = fenceOf(here, 1);
    await fence.takeUp(TASK);
    numbers.delete(here);
    const move = { ref: BRANCH, from: null, to: here.commit() };
    await expect(fence.push(TASK, [move])).rejects.toMatchObject({ code: "lease-lost" });
    numbers.set(here, 3);
    await expect(fence.push(TASK, [move])).rejects.toMatchObject({ code: "lease-lost" });
    expect(await fence.takeUp(TASK)).toBe(true);
    expect(await fence.push(TASK, [move])).toEqual({ is: "pushed" });
    expect(machines.inHub("log", "-1", "--format=%B", LEASE)).toContain("Ralph-Lease: 3\nRalph-Count: 1");
  });

  test("of many that race, the greatest number has it", async () => {
    const fences = await Promise.all(
      [1, 2, 3, 4].map(async (number) => fenceOf(machines.machine(`m${number}`), number)),
    );
    const taken = await Promise.allSettled(fences.map((fence) => fence.takeUp(TASK)));
    expect(taken[3]).toEqual({ status: "fulfilled", value: true });
    expect(machines.inHub("log", "-1", "--format=%B", LEASE)).toContain("Ralph-Lease: 4");
  });
});

describe("a push that is not taken", () => {
  test("a branch that somebody else moved is overtaken, and stays", async () => {
    const fence = fenceOf(here, 1);
    await fence.takeUp(TASK);
    const theirs = there.commit();
    there.git("push", "--quiet", "origin", `${theirs}:${BRANCH}`);
    const move = { ref: BRANCH, from: null, to: here.commit() };
    expect(await fence.push(TASK, [move])).toEqual({ is: "overtaken" });
    expect(machines.there(BRANCH)).toBe(theirs);
    expect(await fence.push(TASK, [{ ...move, from: theirs }])).toEqual({ is: "pushed" });
  });

  test("the server's no is told in its words, and nothing is moved", async () => {
    machines.hook("update", 'case "$1" in refs/heads/*) echo "main is closed tonight" >&2; exit 1;; esac');
    const fence = fenceOf(here, 1);
    await fence.takeUp(TASK);
    const to = here.commit();
    const pushed = await fence.push(TASK, [
      { ref: "refs/heads/main", from: machines.there("refs/heads/main"), to },
    ]);
    expect(pushed).toEqual({
      is: "refused",
      why: expect.stringContaining("main is closed tonight") as string,
    });
    expect(machines.there("refs/heads/main")).not.toBe(to);
    expect(troubles).toEqual([]);
  });

  test("a server that takes no references of ours is told", async () => {
    machines.hook("update", 'case "$1" in refs/ralph/*) exit 1;; esac');
    await expect(fenceOf(here, 1).takeUp(TASK)).rejects.toThrow(`the remote origin does not take ${LEASE}`);
  });

  test("a server without atomic pushes is told", async () => {
    machines.inHub("config", "receive.advertiseAtomic", "false");
    await expect(fenceOf(here, 1).takeUp(TASK)).rejects.toThrow("cannot move several branches at once");
  });

  test("a server that takes only what continues takes ours", async () => {
    machines.inHub("config", "receive.denyNonFastForwards", "true");
    const fence = fenceOf(here, 1);
    await fence.takeUp(TASK);
    const to = here.commit();
    expect(await fence.push(TASK, [{ ref: BRANCH, from: null, to }])).toEqual({ is: "pushed" });
    await fenceOf(there, 2).takeUp(TASK);
    expect(machines.inHub("log", "-1", "--format=%B", LEASE)).toContain("Ralph-Lease: 2");
  });
});

describe("a push that was interrupted", () => {
  /** The server stops in the middle of a push, until the file is there. */
  function holdUp(): { readonly begun: string; readonly goOn: string } {
    const [begun, goOn] = [join(machines.folder, "begun"), join(machines.folder, "go-on")];
    machines.hook("pre-receive", `touch '${begun}'; while [ ! -e '${goOn}' ]; do sleep 0.05; done`);
    return { begun, goOn };
  }

  test("stopped in the middle and woken after it was taken over, it moves nothing", async () => {
    const old = fenceOf(here, 1);
    await old.takeUp(TASK);
    const lease = machines.there(LEASE);
    const { begun, goOn } = holdUp();
    // As the fence does it, by a process that can be stopped as on a machine that sleeps.
    const to = here.commit();
    const next = here.git("commit-tree", "-p", lease!, "-m", "Ralph-Lease: 1", emptyTree(here));
    const args = [
      "push",
      "--atomic",
      `--force-with-lease=${BRANCH}:`,
      `--force-with-lease=${LEASE}:${lease}`,
    ];
    const child = spawn("git", [...args, "origin", `${to}:${BRANCH}`, `${next}:${LEASE}`], {
      cwd: here.root,
      stdio: "ignore",
      detached: true,
    });
    const ended = new Promise<number | null>((resolve) => void child.on("exit", resolve));
    await until(() => existsSync(begun));
    process.kill(-child.pid!, "SIGSTOP");
    machines.hook("pre-receive", "exit 0");
    await fenceOf(there, 2).takeUp(TASK);
    writeFileSync(goOn, "");
    process.kill(-child.pid!, "SIGCONT");
    expect(await ended).not.toBe(0);
    expect(machines.there(BRANCH)).toBeNull();
    expect(machines.inHub("log", "-1", "--format=%B", LEASE)).toContain("Ralph-Lease: 2");
  });

  test("given up by us, and arrived after all: it is as if it had been answered", async () => {
    const to = here.commit();
    numbers.set(here, 1);
    const remote = createRemote({
      root: here.root,
      env: process.env,
      pauseMs: 20,
      patienceMs: 60_000,
      onTrouble: (trouble) => void troubles.push(trouble),
      isHeld: () => true,
    });
    let pushes = 0;
    const fence = createFence({
      remote: {
        ...remote,
        async push(moves) {
          const pushed = await remote.push(moves);
          pushes += 1;
          // The answer is lost on the way.
          return pushes === 2 ? { is: "trouble", why: "the connection broke" } : pushed;
        },
      },
      numberOf: () => 1,
    });
    await fence.takeUp(TASK);
    expect(await fence.push(TASK, [{ ref: BRANCH, from: null, to }])).toEqual({ is: "pushed" });
    const more = here.commit();
    expect(await fence.push(TASK, [{ ref: BRANCH, from: to, to: more }])).toEqual({ is: "pushed" });
    expect(machines.there(BRANCH)).toBe(more);
  });
});

function emptyTree(machine: Machine): string {
  return machine.git("hash-object", "-w", "-t", "tree", "/dev/null");
}
