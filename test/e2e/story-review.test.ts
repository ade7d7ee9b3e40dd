import { afterEach, describe, expect, test } from "vitest";
import type { Steps } from "./project.ts";
import {
  APPROVES,
  fileOf,
  FIXES,
  IMPLEMENTS,
  INIT,
  OBJECTS,
  shell,
  storyProject,
  WAITING,
  type StoryProject,
} from "./story-project.ts";

let project: StoryProject;
afterEach(() => project.dispose());

describe("a story on its way", () => {
  test("is implemented, reviewed, mended and approved", async () => {
    project = storyProject(fileOf(INIT), [
      [shell("cp .ralph/active.json .git/active-1"), ...IMPLEMENTS],
      [shell("cp .ralph/active.json .git/active-2"), ...OBJECTS],
      FIXES,
      APPROVES,
    ]);
    expect(await project.work()).toMatchObject({ code: 0 });
    expect(await project.modes()).toEqual([
      "US-1 implement accepted",
      "US-1 review continue",
      "US-1 review-fix accepted",
      "US-1 review accepted",
    ]);
    expect(project.read("tasks.json")).toBe(
      fileOf({
        ...INIT,
        passes: true,
        reviewStatus: "approved",
        reviewCount: 2,
        reviewFeedback: "",
        notes: "It does what it should.",
      }),
    );
    expect(JSON.parse(project.read(".git/active-1"))).toMatchObject({
      iteration_mode: "implement",
      skip_review: false,
      review_cap: 5,
      source: "tasks.json",
      snapshot: { "US-1": { passes: false, reviewStatus: null, reviewCount: 0 } },
    });
    expect(JSON.parse(project.read(".git/active-2"))).toMatchObject({
      iteration_mode: "review",
      snapshot: { "US-1": { passes: false, reviewStatus: "needs_review", reviewCount: 0 } },
    });
    expect(project.git("status", "--porcelain")).toBe("");
    const rows = project.read(".ralph/logs/summary.csv").trim().split("\n").slice(1);
    // Mode, and how many stories were complete by then.
    expect(rows.map((row) => row.split(",")).map((cells) => `${cells[1]} ${cells[4]}`)).toEqual([
      "implement 0",
      "review 0",
      "review-fix 0",
      "review 1",
    ]);
    expect((await project.ralph("why", "US-1")).stdout).toContain("asked for changes. Not done");
  });

  test("may be taken further by the agent's own edit of the file", async () => {
    const set = (field: string, from: string, to: string): Steps[number] =>
      shell(`sed -i 's/"${field}" : ${from}/"${field}" : ${to}/' tasks.json`);
    project = storyProject(fileOf({ ...INIT, notes: "" }), [
      [shell("echo 1 > work.txt"), set("reviewStatus", "null", '"needs_review"')],
      [
        set("reviewStatus", '"needs_review"', '"approved"'),
        set("reviewCount", "0", "1"),
        set("passes", "false", "true"),
        set("notes", '""', '"by hand"'),
      ],
    ]);
    expect(await project.work()).toMatchObject({ code: 0 });
    expect(await project.modes()).toEqual(["US-1 implement accepted", "US-1 review accepted"]);
    expect(project.read("tasks.json")).toBe(
      fileOf({ ...INIT, passes: true, reviewStatus: "approved", reviewCount: 1, notes: "by hand" }),
    );
  });

  test("is reviewed before another is begun, in the order of priority and dependence", async () => {
    project = storyProject(
      fileOf({ id: "late", priority: 1, dependsOn: ["soon"] }, { id: "soon", priority: 2 }),
      [
        [shell("echo 1 > soon.txt"), { promise: "COMPLETE" }],
        APPROVES,
        [shell("echo 1 > late.txt"), { promise: "COMPLETE" }],
        APPROVES,
      ],
    );
    expect(await project.work()).toMatchObject({ code: 0 });
    expect(await project.modes()).toEqual([
      "soon implement accepted",
      "soon review accepted",
      "late implement accepted",
      "late review accepted",
    ]);
  });
});

describe("what nobody may do", () => {
  const other = { id: "US-2", reviewStatus: "needs_review", reviewCount: 0 };
  const approve = (id: string): string =>
    `sed -i '/"${id}"/{s/"passes" : false/"passes" : true/;s/"reviewStatus" : [^,]*/"reviewStatus" : "approved"/}' tasks.json`;
  const count = (id: string, to: string): string =>
    `sed -i '/"${id}"/s/"reviewCount" : [0-9]*/"reviewCount" : ${to}/' tasks.json`;

  test.each([
    {
      what: "an implementer approves itself",
      before: [INIT],
      agent: [...IMPLEMENTS, shell(approve("US-1"))],
      said: /US-1: .*passes went from false to true/,
    },
    {
      what: "a reviewer takes two stories further",
      before: [
        { ...WAITING, notes: "n" },
        { ...other, notes: "n" },
      ],
      agent: [shell(`${approve("US-1")}; ${count("US-1", "2")}; ${approve("US-2")}; ${count("US-2", "1")}`)],
      said: /US-2: reviewStatus went from .*; this iteration is for US-1 alone/,
    },
    {
      what: "a count becomes negative",
      before: [WAITING],
      agent: [shell(count("US-1", "-1")), { promise: "APPROVED" }],
      said: /US-1: .*reviewCount/,
    },
    {
      what: "a new story is born passed",
      before: [INIT],
      agent: [
        ...IMPLEMENTS,
        shell(`sed -i 's/^  \\]}/,{"id" : "US-9", "title" : "n", "passes" : true}\\n  ]}/' tasks.json`),
      ],
      said: /US-9: passes is true; a new story starts with false/,
    },
    {
      what: "a story is deleted",
      before: [INIT, { id: "US-2" }],
      agent: [
        ...IMPLEMENTS,
        shell(`sed -i '/"US-2"/d;s/"reviewCount" : 0},/"reviewCount" : 0}/' tasks.json`),
      ],
      said: /US-2: the story with this id is gone/,
    },
    {
      what: "the file is no JSON any more",
      before: [INIT],
      agent: [...IMPLEMENTS, shell("echo oops > tasks.json")],
      said: /no JSON any more; it is back/,
    },
  ])("$what: undone, recorded and told", async ({ before, agent, said }) => {
    const file = fileOf(...before);
    project = storyProject(file, [agent, [shell("cp tasks.json .git/after"), { promise: "BLOCKED:enough" }]]);
    await project.work("--max-iterations", "2");
    expect(project.read(".git/after")).toBe(file);
    expect(project.read(".ralph/logs/iteration-002.prompt.md")).toMatch(said);
    const types = (await project.events()).filter(({ type }) => type === "intervention.chosen");
    expect(types).toContainEqual(expect.objectContaining({ intervention: "illegal_transition" }));
  });

  test("a reviewer that edits code finds it put back, and its approval does not count", async () => {
    project = storyProject(fileOf(WAITING), [[shell("echo 9 > code.txt"), ...APPROVES], APPROVES]);
    expect(await project.work()).toMatchObject({ code: 0 });
    expect(await project.modes()).toEqual(["US-1 review rejected", "US-1 review accepted"]);
    expect(project.git("ls-files", "--others", "code.txt")).toBe("");
  });

  test("nobody edits prd.md", async () => {
    project = storyProject(fileOf(INIT), [
      [shell("echo more >> prd.md"), ...IMPLEMENTS],
      IMPLEMENTS,
      APPROVES,
    ]);
    project.write("prd.md", "What we want.\n");
    project.commit("prd");
    expect(await project.work()).toMatchObject({ code: 0 });
    expect((await project.modes())[0]).toBe("US-1 implement rejected");
    expect(project.read("prd.md")).toBe("What we want.\n");
  });
});

describe("an end to reviews", () => {
  test("at the cap the story is approved, and says so", async () => {
    project = storyProject(fileOf(INIT), [IMPLEMENTS, OBJECTS, FIXES, OBJECTS]);
    expect(await project.work("--review-cap", "1")).toMatchObject({ code: 0 });
    expect(project.stories()).toMatchObject([
      {
        passes: true,
        reviewStatus: "approved",
        reviewCount: 2,
        notes: expect.stringContaining("[AUTO-APPROVED AT CAP]") as string,
      },
    ]);
  });

  test("but not while a gate is red", async () => {
    project = storyProject(
      fileOf({ ...WAITING, reviewCount: 1 }),
      [APPROVES, APPROVES, APPROVES, APPROVES],
      '[run]\nmax_attempts = 2\n[gates.tests]\ncommand = "test -e never"\n',
    );
    expect((await project.work("--review-cap", "1")).code).not.toBe(0);
    expect(project.stories()).toMatchObject([
      { passes: false, reviewStatus: "needs_review", reviewCount: 1 },
    ]);
  });

  test("skipped, a story is done when its work is, and its review fields stay as they are", async () => {
    project = storyProject(fileOf(INIT), [IMPLEMENTS]);
    expect(await project.work("--skip-review")).toMatchObject({ code: 0 });
    expect(await project.modes()).toEqual(["US-1 build accepted"]);
    expect(project.read("tasks.json")).toBe(fileOf({ ...INIT, passes: true }));
  });

  test("blocked in the middle, its review fields are as before", async () => {
    project = storyProject(fileOf(WAITING), [
      [
        shell(`sed -i 's/"needs_review"/"approved"/;s/"passes" : false/"passes" : true/' tasks.json`),
        { promise: "BLOCKED:nobody can log in" },
      ],
    ]);
    expect(await project.work()).toMatchObject({ code: 2 });
    expect(project.read("tasks.json")).toBe(fileOf(WAITING));
  });

  test("a review that decides nothing is no progress", async () => {
    project = storyProject(fileOf(WAITING), [
      [{ say: "Hm." }],
      [{ say: "Hm." }],
      [{ say: "Hm." }],
      [{ say: "Hm." }],
    ]);
    expect(await project.work("--max-stuck", "2")).toMatchObject({ code: 4 });
    expect(project.read("tasks.json")).toBe(fileOf(WAITING));
    expect(project.read(".ralph/logs/iteration-002.prompt.md")).toContain("ended without a decision");
  });
});
