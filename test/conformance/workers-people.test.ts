import { afterEach, expect, test } from "vitest";
import { until, WORKS } from "../e2e/project.ts";
import { onBase } from "../e2e/team.ts";
import { tasksOf } from "./invariants.ts";
import { HANGS, PATIENT } from "./signs.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

let workshop: Workshop;
afterEach(() => workshop.dispose());

const isPart = (name: string): boolean => name.startsWith("@");

test("a question is answered on a third machine; meanwhile it holds nothing, and others are worked on", async () => {
  const script = {
    a: [[{ decide: "red or blue?" }], [{ expectPrompt: "the colour is blue" }, ...WORKS]],
    b: [PATIENT],
  };
  workshop = await openWorkshop({ tasks: ["a", "b"], script });
  await workshop.office.ralph("submit");
  const worker = await workshop.hire("left");
  await workshop.fact("it asks", ({ type }) => type === "question.asked");
  await workshop.signs.begun("b", 1);
  expect((await workshop.held()).filter((name) => !isPart(name))).toEqual(["b"]);
  const person = workshop.machine("person");
  expect((await person.ralph("inbox")).stdout).toContain("red or blue?");
  expect(await person.ralph("decide", "a", "the colour is blue")).toMatchObject({ code: 0 });
  workshop.signs.letGo("b");
  expect(await workshop.office.ralph("submit", "--watch")).toMatchObject({ code: 0 });
  expect(onBase(workshop, "a.txt")).toBe("a");
  expect(worker.child.exitCode).toBeNull();
});

const UNLESS_ALLOWED =
  'test -e "$RALPH_TEST_SIGNS/go-blocked" || { echo "<promise>BLOCKED:no key</promise>"; kill $PPID; }';

test("steer, cancel, unblock and stop reach the workers from another machine", async () => {
  const script = {
    steered: [[{ expectPrompt: "mind the gap" }, ...WORKS]],
    cancelled: [HANGS],
    blocked: [[{ shell: UNLESS_ALLOWED }, ...WORKS]],
    last: [HANGS],
  };
  workshop = await openWorkshop({ tasks: Object.keys(script), script });
  await workshop.office.ralph("submit");
  const person = workshop.machine("person");
  expect(await person.ralph("steer", "steered", "mind the gap")).toMatchObject({ code: 0 });
  const workers = [await workshop.hire("left"), await workshop.hire("right")];
  await workshop.signs.begun("cancelled", 1);
  expect(await person.ralph("cancel", "cancelled")).toMatchObject({
    code: 0,
    stdout: "Cancelled Ralph loop for cancelled at iteration 1/30\n",
  });
  await workshop.fact("it is blocked", ({ type }) => type === "task.blocked");
  workshop.signs.letGo("blocked");
  expect(await person.ralph("unblock", "blocked", "--reason", "the key is there")).toMatchObject({ code: 0 });
  await workshop.signs.begun("last", 1);
  await until("the rest is done", async () =>
    ["steered", "blocked"].every((task) => onBase(workshop, `${task}.txt`) === task),
  );
  expect(await person.ralph("stop", "--now")).toMatchObject({ code: 0 });
  const ended = await workshop.fact("the run is over", ({ type }) => type === "run.ended");
  expect(ended).toMatchObject({ outcome: "stopped" });
  expect(await workshop.statuses()).toMatchObject({
    steered: "done",
    cancelled: "cancelled",
    blocked: "done",
  });
  expect(tasksOf(await workshop.facts(), "task.merged").toSorted()).toEqual(["blocked", "steered"]);
  // The workers stay: more may be submitted.
  for (const { child } of workers) expect(child.exitCode).toBeNull();
  for (const { child } of workers) child.kill("SIGINT");
  for (const { finished } of workers) expect(await finished).toMatchObject({ code: 130 });
  expect(workshop.leftovers()).toEqual([]);
});
