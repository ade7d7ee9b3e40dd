import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, until, WORKS, type Project, type Running, type Steps } from "./project.ts";

const asks = (deadline: string): Steps => [
  { decide: `WebSockets or polling? | sockets | polling | default=sockets | deadline=${deadline}` },
];
const uses = (answer: string): Steps => [{ expectPrompt: `The answer: ${answer}` }, ...WORKS];

let project: Project;
afterEach(() => project.dispose());

describe("an answer that comes while the run only waits", () => {
  test("in the file is used without a restart", async () => {
    const running = await waitingRun({ asks: [asks("30m"), uses("polling")] });
    expect(running.stdout()).toContain("options: sockets, polling   default: sockets in 30m");
    expect(project.read(".ralph/decide.txt")).toMatch(/^Options: sockets \| polling\nDefault: sockets \(/m);
    expect(await printed("inbox")).toMatchObject([
      { task: "asks", default: "sockets", deadline: expect.stringMatching(/^20..-.*Z$/) },
    ]);
    expect((await project.ralph("inbox")).stdout).toMatch(
      / {4}options: sockets, polling {3}default: sockets in /,
    );
    appendFileSync(file("decide.txt"), "polling\n");
    expect(await running.finished).toMatchObject({ code: 0 });
    await isUsed(running, "✔ answered  asks: polling");
  });

  test("by a command is used without a restart", async () => {
    const running = await waitingRun({ asks: [asks("30m"), uses("polling")] });
    expect(await project.ralph("decide", "asks", "polling")).toMatchObject({ code: 0 });
    expect(await running.finished).toMatchObject({ code: 0 });
    await isUsed(running, "✔ answered  asks: polling");
  });

  test("to a block, by deleting the letter, is used without a restart", async () => {
    const blocks = 'test -f key || { echo "<promise>BLOCKED:no key</promise>"; exit 3; }';
    const running = await waitingRun({
      asks: [asks("30m"), uses("polling")],
      stops: [[{ shell: blocks }, ...WORKS]],
    });
    project.write("key", "");
    project.git("add", "key");
    project.commit();
    rmSync(file("blocked.txt"));
    await until("the blocked task is done", () => exists(project, "stops.txt"));
    expect(await project.ralph("decide", "asks", "polling")).toMatchObject({ code: 0 });
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(exists(project, ".ralph/blocked.txt")).toBe(false);
  });
});

describe("without an answer", () => {
  test("the default is taken at the deadline by a run that keeps going", async () => {
    create({ asks: [asks("2s"), uses("sockets")] });
    const run = await project.ralph("run", "--keep-going");
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toContain("✔ answered  asks: sockets (the default: nobody answered in time)");
    expect(exists(project, ".ralph/decide.txt")).toBe(false);
    const answered = (await project.events()).filter(({ type }) => type === "question.answered");
    expect(answered).toMatchObject([{ task: "asks", answer: "sockets", by: "deadline" }]);
    expect((await project.ralph("why", "asks")).stdout).toContain(
      "Nobody answered in time, so the default was taken: sockets.",
    );
  });

  test("the next run after the deadline takes the default at once", async () => {
    create({ asks: [asks("6s"), uses("sockets")] });
    expect(await project.ralph("run", "--no-keep-going")).toMatchObject({ code: 3 });
    await until("the deadline is over", isOver);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });

  test("an answer in the file counts, though the deadline is over by now", async () => {
    create({ asks: [asks("6s"), uses("polling")] });
    expect(await project.ralph("run", "--no-keep-going")).toMatchObject({ code: 3 });
    appendFileSync(file("decide.txt"), "polling\n");
    await until("the deadline is over", isOver);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });

  test("--no-wait does not wait for it", async () => {
    create({ asks: [asks("30m")] });
    expect(await project.ralph("run", "--keep-going", "--no-wait")).toMatchObject({ code: 3 });
  });
});

function create(script: Parameters<Project["script"]>[0]): void {
  project = createProject({ tasks: ["one", ...Object.keys(script), "three", "four"] });
  project.script(script, [WORKS]);
  project.commit();
}

/** A run whose other tasks are done, and that waits for a question. */
async function waitingRun(script: Parameters<Project["script"]>[0]): Promise<Running> {
  create(script);
  const running = project.start("run", "--keep-going");
  await until("the run waits", () => running.stdout().includes("a question waits for its answer"));
  for (const id of ["one", "three", "four"]) expect(exists(project, `${id}.txt`)).toBe(true);
  return running;
}

async function isUsed(running: Running, words: string): Promise<void> {
  expect(running.stdout()).toContain(words);
  expect(exists(project, ".ralph/decide.txt")).toBe(false);
  const runs = (await project.events()).filter(({ type }) => type === "run.started");
  expect(runs).toHaveLength(1);
}

async function isOver(): Promise<boolean> {
  const [item] = (await printed("inbox")) as readonly { deadline: string }[];
  return Date.parse(item?.deadline ?? "") < Date.now();
}

function file(name: string): string {
  return join(project.root, ".ralph", name);
}

async function printed(...args: readonly string[]): Promise<unknown> {
  return JSON.parse((await project.ralph(...args, "--json")).stdout);
}
