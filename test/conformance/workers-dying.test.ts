import { afterEach, expect, test } from "vitest";
import { WORKS } from "../e2e/project.ts";
import { onBase } from "../e2e/team.ts";
import { ask } from "../support/postgres.ts";
import { endingsOf } from "./invariants.ts";
import { GOES_ON, HANGS } from "./signs.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

let workshop: Workshop;
afterEach(() => workshop.dispose());

test("killed in iteration 4 of 30: another goes on with 5, within lease + 5 s, from what was pushed", async () => {
  const leaseMs = 5_000;
  workshop = await openWorkshop({
    tasks: ["a"],
    script: { a: [GOES_ON, GOES_ON, GOES_ON, HANGS, WORKS] },
    lease: "5s",
  });
  await workshop.office.ralph("submit");
  const workers = [await workshop.hire("left"), await workshop.hire("right")];
  await workshop.signs.begun("a", 4);
  const [row] = await ask<{ worker: string }>(
    workshop.url,
    "SELECT worker FROM ralph.leases WHERE name = 'a'",
  );
  workers.find(({ id }) => id === row?.worker)?.child.kill("SIGKILL");
  const [clock] = await ask<{ now: Date }>(workshop.url, "SELECT clock_timestamp() AS now");
  expect(await workshop.office.ralph("submit", "--watch")).toMatchObject({ code: 0 });
  const facts = await workshop.facts();
  const started = facts.filter(({ type }) => type === "iteration.started");
  expect(started.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5]);
  expect(started[4]?.worker).not.toBe(row?.worker);
  const lateMs = Date.parse(started[4]?.at ?? "") - (clock?.now.getTime() ?? 0);
  expect(lateMs).toBeLessThanOrEqual(leaseMs + 5_000);
  expect(endingsOf(facts, "a")).toEqual(["exited", "exited", "exited", "interrupted", "exited"]);
  for (const number of [1, 2, 3]) expect(onBase(workshop, `a-${number}.txt`)).toBe(`${number}`);
});

test("a task that kills its workers is blocked after three, and the others are done", async () => {
  const worker =
    'pid=$PPID; while ! grep -qa start.cjs "/proc/$pid/cmdline"; do pid=$(cut -d" " -f4 "/proc/$pid/stat"); done';
  const tasks = ["poison", "b", "c", "d"];
  workshop = await openWorkshop({
    tasks,
    script: { poison: [[{ shell: `${worker}; kill -9 $pid` }, { hang: true }]] },
    others: [WORKS],
  });
  await workshop.office.ralph("submit");
  for (const name of ["one", "two", "three", "four"]) await workshop.hire(name);
  expect(await workshop.office.ralph("submit", "--watch")).toMatchObject({ code: 2 });
  expect(await workshop.statuses()).toEqual({ poison: "blocked", b: "done", c: "done", d: "done" });
  const facts = await workshop.facts();
  const own = facts.filter(({ type, task }) => type === "iteration.started" && task === "poison");
  expect(new Set(own.map(({ worker: who }) => who)).size).toBe(3);
  expect((await workshop.office.ralph("blocked")).stdout).toContain(
    "3 workers in a row could not go on with it",
  );
});
