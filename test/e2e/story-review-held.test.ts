import { afterEach, describe, expect, test } from "vitest";
import { until, type Steps } from "./project.ts";
import {
  APPROVES,
  fileOf,
  IMPLEMENTS,
  INIT,
  shell,
  storyProject,
  WAITING,
  type StoryProject,
} from "./story-project.ts";

let project: StoryProject;
afterEach(() => project.dispose());

describe("whatever the agent does to the repository", () => {
  test.each([
    ["a hard reset", "git reset -q --hard HEAD~1"],
    ["a mixed reset", "git reset -q HEAD~1"],
    ["another branch from before", "git checkout -q -f -b other HEAD~2"],
  ])("after %s in a review everything is where it was", async (_what, command) => {
    project = storyProject(fileOf(INIT), [IMPLEMENTS, [shell(command), ...APPROVES], APPROVES]);
    expect(await project.work()).toMatchObject({ code: 0 });
    expect(project.read("work.txt")).toBe("1\n");
    expect(project.git("status", "--porcelain")).toBe("");
    expect(project.git("branch", "--show-current")).toBe("main");
    expect(project.stories()).toMatchObject([{ passes: true, reviewCount: 1 }]);
  });

  test("a story that it deleted comes back, though we were killed meanwhile", async () => {
    const deletes: Steps = [
      shell(`sed -i '/"US-2"/d;s/"reviewCount" : 0},/"reviewCount" : 0}/' tasks.json`),
      shell("touch .git/deleted"),
      { hang: true },
    ];
    const file = fileOf(INIT, { id: "US-2" });
    project = storyProject(file, [deletes, IMPLEMENTS, APPROVES, FRESH, APPROVES]);
    const run = project.start("run", "--source", "tasks.json");
    await until("the story is gone", () => isThere(".git/deleted"));
    run.child.kill("SIGKILL");
    await run.finished;
    expect(await project.work()).toMatchObject({ code: 0 });
    expect(project.stories().map(({ id, passes }) => `${id} ${passes}`)).toEqual(["US-1 true", "US-2 true"]);
  });

  test("a folder in the file's place is set aside", async () => {
    const file = fileOf(INIT);
    project = storyProject(file, [
      [shell("rm tasks.json; mkdir tasks.json")],
      [shell("cp tasks.json .git/after"), ...IMPLEMENTS],
      APPROVES,
    ]);
    await project.work();
    expect(project.read(".git/after")).toBe(file);
  });

  test.each([
    ["an id twice", `sed -i 's/"US-2"/"US-1"/' tasks.json`],
    ["an unknown dependency", `sed -i 's/"id" : "US-2",/"id" : "US-2","dependsOn" : ["NOPE"],/' tasks.json`],
    ["no review field left", `sed -i 's/,"reviewStatus" : null,"reviewCount" : 0//' tasks.json`],
  ])("%s is undone", async (_what, command) => {
    const file = fileOf(INIT, { id: "US-2" });
    project = storyProject(file, [
      [shell(command), ...IMPLEMENTS],
      [shell("cp tasks.json .git/after"), { promise: "BLOCKED:enough" }],
    ]);
    await project.work();
    const before = JSON.parse(file) as unknown;
    const after = project.read(".git/after").replace('"needs_review"', "null");
    expect(JSON.parse(after)).toEqual(before);
  });
});

describe("what people do", () => {
  test("an approved story is opened again by taking its mark away", async () => {
    const opened = { ...INIT, reviewStatus: "approved", reviewCount: 1, notes: "n" };
    project = storyProject(fileOf(opened), [IMPLEMENTS, APPROVES]);
    expect(await project.work()).toMatchObject({ code: 0 });
    expect(project.stories()).toMatchObject([{ passes: true, reviewStatus: "approved", reviewCount: 2 }]);
  });

  test.each([
    [{ reviewCount: 1.5 }, '"reviewCount" must be a whole number from 0'],
    [{ reviewCount: -3 }, '"reviewCount" must be a whole number from 0'],
    [{ reviewStatus: "done" }, '"reviewStatus" must be null or one of needs_review'],
  ])("a value that nobody can mean is told before anything starts: %j", async (fields, sentence) => {
    project = storyProject(fileOf({ ...INIT, ...fields }), [IMPLEMENTS]);
    const refused = await project.work();
    expect(refused).toMatchObject({ code: 64 });
    expect(refused.stderr).toContain(sentence);
  });

  test.each(["constructor", "__proto__", "toString"])("a story may be called %s", async (id) => {
    project = storyProject(fileOf({ id }), [IMPLEMENTS, APPROVES]);
    expect(await project.work()).toMatchObject({ code: 0 });
    expect(project.stories()).toMatchObject([{ passes: true }]);
  });

  test("work that is gone again is not verified", async () => {
    project = storyProject(fileOf(INIT), [IMPLEMENTS, APPROVES]);
    await project.work();
    expect(await project.ralph("verify", "US-1")).toMatchObject({ code: 0 });
    project.remove("work.txt");
    project.commit("gone");
    expect(await project.ralph("verify", "US-1")).toMatchObject({ code: 1 });
  });
});

describe("a reviewer", () => {
  test("that writes its findings into the file as well is heard", async () => {
    const objects: Steps = [
      shell(`sed -i 's/"reviewFeedback" : ""/"reviewFeedback" : "real bug"/' tasks.json`),
      { promise: "CHANGES_REQUESTED:real bug" },
    ];
    project = storyProject(fileOf({ ...WAITING, reviewFeedback: "" }), [objects, [{ promise: "BLOCKED:x" }]]);
    await project.work();
    expect((await project.modes())[0]).toBe("US-1 review continue");
    expect(project.stories()).toMatchObject([
      { reviewStatus: "changes_requested", reviewCount: 2, reviewFeedback: "real bug" },
    ]);
  });

  test("that objects in words has not approved, whatever it wrote", async () => {
    const both: Steps = [
      shell(
        `sed -i 's/"needs_review"/"approved"/;s/"passes" : false/"passes" : true/;s/"reviewCount" : 1/"reviewCount" : 2/;s/"notes" : ""/"notes" : "n"/' tasks.json`,
      ),
      { promise: "CHANGES_REQUESTED:bad" },
    ];
    project = storyProject(fileOf({ ...WAITING, notes: "" }), [both, [{ promise: "BLOCKED:x" }]]);
    await project.work();
    expect(project.stories()).toMatchObject([{ reviewStatus: "changes_requested", passes: false }]);
  });

  test("has its findings kept, long as they are", async () => {
    const long = "x".repeat(9_000);
    const objects: Steps = [{ promise: `CHANGES_REQUESTED:${long}` }];
    project = storyProject(fileOf(WAITING), [objects, [{ promise: "BLOCKED:x" }]]);
    await project.work();
    expect(project.stories()[0]?.reviewFeedback).toBe(long);
  });
});

const FRESH: Steps = [shell("echo 1 > fresh.txt"), { promise: "COMPLETE" }];

function isThere(path: string): boolean {
  try {
    project.read(path);
    return true;
  } catch {
    return false; // not yet
  }
}
