import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { lastingProcesses, until, WORKS, type Steps } from "../e2e/project.ts";
import { onBase } from "../e2e/team.ts";
import { endingsOf, tasksOf } from "./invariants.ts";
import { HANGS, PATIENT } from "./signs.ts";
import { openWorkshop, type Workshop } from "./workshop.ts";

let workshop: Workshop;
afterEach(() => workshop.dispose());

const isPart = (name: string): boolean => name.startsWith("@");

test("a task with a label waits for a worker that has it", async () => {
  workshop = await openWorkshop({ tasks: [] });
  const { office } = workshop;
  const story = (id: string, labels: readonly string[]): object => ({ id, title: `make ${id}`, labels });
  const userStories = [story("trained", ["gpu"]), story("plain", [])];
  writeFileSync(join(office.root, "tasks.json"), JSON.stringify({ userStories }, null, 2));
  office.git("add", "-A");
  office.git("commit", "--quiet", "-m", "stories");
  office.git("push", "--quiet", "origin", "main");
  expect(await office.ralph("submit", "--source", "tasks.json")).toMatchObject({ code: 0 });
  // It leaves when nothing is left that it could do, though there is something left.
  const first = await workshop.hire("weak", "--drain");
  expect(await first.finished).toMatchObject({ code: 0 });
  expect(await workshop.statuses()).toEqual({ trained: "todo", plain: "done" });
  const second = await workshop.hire("strong", "--labels", "gpu", "--drain");
  expect(await second.finished).toMatchObject({ code: 0 });
  expect(await workshop.statuses()).toEqual({ trained: "done", plain: "done" });
  const started = (await workshop.facts()).filter(({ type }) => type === "iteration.started");
  expect(started.map(({ task, worker }) => [task, worker])).toEqual([
    ["plain", first.id],
    ["trained", second.id],
  ]);
});

test("where nobody merges, accepted work waits for somebody who does", async () => {
  workshop = await openWorkshop({ tasks: ["a", "b"] });
  // Before anything is submitted.
  const worker = await workshop.hire("left", "--no-merge");
  await until("it waits for tasks", () => worker.stderr().includes("waiting for tasks"));
  await workshop.office.ralph("submit");
  await until("all is accepted", async () => tasksOf(await workshop.facts(), "task.completed").length === 2);
  await until("it is left there", async () => (await workshop.held()).every((name) => name === "@keeper"));
  expect(tasksOf(await workshop.facts(), "merge.prepared")).toEqual([]);
  const merger = await workshop.hire("right", "--drain");
  expect(await merger.finished).toMatchObject({ code: 0 });
  expect(["a", "b"].map((task) => onBase(workshop, `${task}.txt`))).toEqual(["a", "b"]);
  expect(await workshop.office.ralph("submit", "--watch")).toMatchObject({ code: 0 });
});

test("asked to leave, a worker records what its agent did, and another goes on at once", async () => {
  const script = {
    a: [[{ write: { path: "half.txt", text: "half" } }, ...HANGS], WORKS],
  };
  workshop = await openWorkshop({ tasks: ["a"], script, lease: "10m" });
  await workshop.office.ralph("submit");
  const first = await workshop.hire("left");
  await workshop.signs.begun("a", 1);
  first.child.kill("SIGTERM");
  expect(await first.finished).toMatchObject({ code: 130 });
  expect(await workshop.held()).toEqual([]);
  expect(endingsOf(await workshop.facts(), "a")).toHaveLength(1);
  expect(workshop.git("show", "ralph/a:half.txt")).toBe("half");
  const second = await workshop.hire("right", "--drain");
  expect(await second.finished).toMatchObject({ code: 0 });
  expect([onBase(workshop, "half.txt"), onBase(workshop, "a.txt")]).toEqual(["half", "a"]);
});

test("asked twice it leaves at once, without its agent; in its clone the next worker takes over at once", async () => {
  const stubborn: Steps = [{ ignoreTerm: true }, ...HANGS];
  const script = { a: [stubborn, PATIENT] };
  workshop = await openWorkshop({ tasks: ["a"], script, lease: "10m" });
  await workshop.office.ralph("submit");
  const first = await workshop.hire("left");
  const second = await first.machine.ralph("worker");
  expect(second.stderr).toContain("is working in this repository");
  await workshop.signs.begun("a", 1);
  first.child.kill("SIGINT");
  await until("it says so", () => first.stderr().includes("leaving"));
  first.child.kill("SIGINT");
  expect(await first.finished).toMatchObject({ code: 130 });
  expect(lastingProcesses(`RALPH_TEST_SIGNS=${workshop.signs.env["RALPH_TEST_SIGNS"]}`)).toEqual([]);
  const again = first.machine.start("worker", "--drain");
  await workshop.signs.begun("a", 2);
  workshop.signs.letGo("a");
  expect(await again.finished).toMatchObject({ code: 0 });
  expect(onBase(workshop, "a.txt")).toBe("a");
});

test("an old clone is good enough: work begins at the remote's base, and the clone stays as it is", async () => {
  const script = { a: [[{ shell: 'cp news.txt "$RALPH_TASK_ID.txt"' }, { promise: "COMPLETE" }]] };
  workshop = await openWorkshop({ tasks: ["a"], script });
  const old = await workshop.hire("old");
  const { office } = workshop;
  writeFileSync(join(office.root, "news.txt"), "news\n");
  office.git("add", "-A");
  office.git("commit", "--quiet", "-m", "news");
  office.git("push", "--quiet", "origin", "main");
  const [head, todo] = [
    old.machine.git("rev-parse", "HEAD"),
    readFileSync(join(old.machine.root, "TODO.md"), "utf8"),
  ];
  await office.ralph("submit");
  expect(await office.ralph("submit", "--watch")).toMatchObject({ code: 0 });
  expect(onBase(workshop, "a.txt")).toBe("news");
  expect(old.machine.git("rev-parse", "HEAD", "main")).toBe(`${head}\n${head}`);
  expect(existsSync(join(old.machine.root, "news.txt"))).toBe(false);
  expect(readFileSync(join(old.machine.root, "TODO.md"), "utf8")).toBe(todo);
  expect((await workshop.held()).filter((name) => !isPart(name))).toEqual([]);
});
