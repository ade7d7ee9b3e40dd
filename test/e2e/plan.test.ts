import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, tellToGo, TOLD_TO_GO, until, type Project, type Steps } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const PRD = "# A parser\n\nIt reads dates.\n";

function withPrd(...attempts: readonly Steps[]): Project {
  const fresh = createProject();
  fresh.remove("TODO.md");
  fresh.write(".ralph/prd.md", PRD);
  fresh.script({ plan: attempts });
  fresh.commit("requirements");
  return fresh;
}

interface StoryText {
  readonly id: string;
  readonly [more: string]: unknown;
}

function story(id: string, more: Readonly<Record<string, unknown>> = {}): StoryText {
  return { id, title: `Do ${id}`, acceptanceCriteria: ["it is there"], priority: 1, passes: false, ...more };
}

function planText(...userStories: readonly StoryText[]): string {
  return JSON.stringify({ project: "p", verifyCommands: ["true"], userStories }, null, 2);
}

function writes(...stories: readonly StoryText[]): Steps[number] {
  return { write: { path: ".ralph/tasks.json", text: planText(...stories) } };
}

const RIGHT = [writes(story("US-1"), story("US-2", { dependsOn: ["US-1"] }))] as const;

describe("ralph plan", () => {
  test("makes a checked tasks.json of the requirements, and says what comes next", async () => {
    project = withPrd([...RIGHT, { usage: { cost_usd: 0.25 } }, { promise: "PLANNED" }]);
    const { code, stdout, stderr } = await project.ralph("plan");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(".ralph/tasks.json: 2 stories");
    expect(stdout).toContain("US-2  Do US-2  (after US-1)");
    expect(stdout).toContain("Checks:  true");
    expect(stdout).toContain("Cost:    $0.25");
    expect(stdout).toContain("ralph run --dry-run");
    expect(project.git("status", "--porcelain")).toBe("?? .ralph/tasks.json");
    const prompt = project.read(".ralph/logs/plan-001.prompt.md");
    expect(prompt).toContain("It reads dates.");
    expect(prompt).not.toContain("Feedback");
  });

  test("tells the agent its mistakes, and takes the plan that has none", async () => {
    project = withPrd(
      [{ write: { path: ".ralph/tasks.json", text: "{ oops" } }],
      [
        { expectPrompt: "this is not JSON" },
        writes(story("US-1", { dependsOn: ["US-9"], acceptanceCriteria: [] })),
      ],
      [
        { expectPrompt: '"US-9", which does not exist' },
        { expectPrompt: "no acceptance criteria" },
        ...RIGHT,
      ],
    );
    const { code, stdout } = await project.ralph("plan");
    expect(stdout).toContain("attempt 1/3  ✗ 1 mistake");
    expect(stdout).toContain("attempt 2/3  ✗ 2 mistakes");
    expect(stdout).toContain("attempt 3/3  ✔ the plan is right");
    expect(code).toBe(0);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });

  test.each<[string, Steps, string]>([
    ["writes nothing", [{ say: "done" }], "was not written"],
    ["writes no stories", [writes()], "at least one story"],
    ["gives two stories one id", [writes(story("a"), story("a"))], "used twice"],
    [
      "lets stories wait for each other",
      [writes(story("a", { dependsOn: ["b"] }), story("b", { dependsOn: ["a"] }))],
      "circle",
    ],
    ["makes a story too big", [writes(story("a", { acceptanceCriteria: Array(9).fill("x") }))], "too big"],
    ["says that a story is done", [writes(story("a", { passes: true }))], '"passes": true'],
    ["says that one is reviewed", [writes(story("a", { reviewStatus: "approved" }))], '"reviewStatus" must'],
    ["ends badly", [...RIGHT, { crash: 1 }], "did not come to its end"],
  ])("an agent that %s has made no plan", async (_name, steps, mistake) => {
    project = withPrd(steps);
    const { code, stdout } = await project.ralph("plan", "--attempts", "2");
    expect(code).toBe(1);
    expect(stdout).toContain("attempt 2/2");
    expect(stdout).toContain(mistake);
    expect(exists(project, ".ralph/tasks.json")).toBe(false);
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("what was refused is kept beside the transcript", async () => {
    project = withPrd([writes()]);
    await project.ralph("plan", "--attempts", "1");
    expect(project.read(".ralph/logs/plan-001.tasks.json")).toBe(planText());
  });

  test("a question ends it with exit code 3, and a second call sees the answer", async () => {
    project = withPrd([{ decide: "Which calendar?|gregorian|julian" }]);
    const asked = await project.ralph("plan");
    expect(asked.code).toBe(3);
    expect(asked.stdout).toContain("Which calendar?");
    expect(asked.stdout).toContain("- julian");
    expect(asked.stdout).toContain("Write the answers into .ralph/prd.md");
    project.write(".ralph/prd.md", `${PRD}\nThe calendar is julian.\n`);
    project.script({ plan: [[{ expectPrompt: "calendar is julian" }, ...RIGHT]] });
    expect(await project.ralph("plan")).toMatchObject({ code: 0 });
    expect(exists(project, ".ralph/logs/plan-002.log")).toBe(true);
  });

  test("a blocker ends it with exit code 2", async () => {
    project = withPrd([{ blocked: "no access" }]);
    const { code, stdout } = await project.ralph("plan");
    expect(code).toBe(2);
    expect(stdout).toContain("no access");
  });

  test("requirements that the agent edits are put back", async () => {
    project = withPrd([{ append: { path: ".ralph/prd.md", text: "easier\n" } }, ...RIGHT]);
    const { code, stdout } = await project.ralph("plan");
    expect(code).toBe(0);
    expect(stdout).toContain(".ralph/prd.md had changed and was put back");
    expect(project.read(".ralph/prd.md")).toBe(PRD);
    expect(project.read(".ralph/logs/plan-001.prd.md")).toBe(`${PRD}easier\n`);
  });

  test.each<[string, Steps, string]>([
    ["a new file", [{ write: { path: "src/new.ts", text: "x" } }], "src/new.ts"],
    ["a committed file", [{ append: { path: "src/main.ts", text: "x" } }], "src/main.ts"],
    ["my uncommitted work", [{ append: { path: "mine.txt", text: "x" } }], "mine.txt"],
    ["the configuration", [{ append: { path: ".ralph/ralph.toml", text: "\n" } }], ".ralph/ralph.toml"],
    ["history", [{ write: { path: "a", text: "" } }, { commit: "work" }], "HEAD moved"],
  ])("an agent that touches %s is refused, and it is left for me", async (_name, steps, named) => {
    project = withPrd([...steps, ...RIGHT]);
    project.write("mine.txt", "mine");
    const { code, stdout } = await project.ralph("plan");
    expect(code).toBe(1);
    expect(stdout).toContain(named);
    expect(stdout).toContain("attempt 1/3");
    expect(stdout).not.toContain("attempt 2/3");
    expect(exists(project, ".ralph/tasks.json")).toBe(false);
    expect(project.read(".ralph/logs/plan-001.tasks.json")).toContain("US-1");
  });
});

describe("ralph plan where a plan is there already", () => {
  const old = planText(story("OLD-1", { passes: true }));

  function replanning(...attempts: readonly Steps[]): Project {
    const fresh = withPrd(...attempts);
    fresh.write(".ralph/tasks.json", old);
    return fresh;
  }

  test("does nothing without --force", async () => {
    project = replanning([...RIGHT]);
    const { code, stderr } = await project.ralph("plan");
    expect(code).toBe(64);
    expect(stderr).toContain("--force");
    expect(project.read(".ralph/tasks.json")).toBe(old);
    expect(exists(project, ".ralph/logs/plan-001.log")).toBe(false);
  });

  test("with --force keeps the old one beside it, each time under a name of its own", async () => {
    project = replanning([{ expectPrompt: "older plan" }, ...RIGHT]);
    const { code, stdout } = await project.ralph("plan", "--force");
    expect(code).toBe(0);
    expect(stdout).toContain("The old plan is kept: .ralph/tasks.json.bak");
    expect(project.read(".ralph/tasks.json.bak")).toBe(old);
    project.write(".ralph/tasks.json", old.replace("OLD-1", "OLD-2"));
    expect((await project.ralph("plan", "--force")).stdout).toContain(".ralph/tasks.json.bak-2");
    expect(project.read(".ralph/tasks.json.bak")).toBe(old);
  });

  test.each<[string, Steps, number]>([
    ["a wrong plan", [writes()], 1],
    ["no plan at all", [{ say: "It is fine as it is." }], 1],
    ["a question", [...RIGHT, { decide: "what?" }], 3],
  ])("puts the old one back after %s", async (_name, steps, exitCode) => {
    project = replanning(steps);
    expect((await project.ralph("plan", "--force", "--attempts", "1")).code).toBe(exitCode);
    expect(project.read(".ralph/tasks.json")).toBe(old);
    expect(readdirSync(join(project.root, ".ralph")).filter((name) => name.includes(".bak"))).toEqual([]);
  });
});

describe("the surroundings of ralph plan", () => {
  test("without requirements it says how to begin", async () => {
    project = createProject();
    const { code, stderr } = await project.ralph("plan");
    expect(code).toBe(64);
    expect(stderr).toContain("ralph init --source prd");
  });

  test.each([
    ["at the root", "prd.md", []],
    ["in capitals", "PRD.md", []],
    ["named", "docs/idea.md", ["docs/idea.md"]],
    ["outside of the repository", "../idea.md", ["../idea.md"]],
  ])("takes requirements that are %s", async (_name, path, words) => {
    project = withPrd([{ expectPrompt: "an idea" }, ...RIGHT]);
    project.remove(".ralph/prd.md");
    mkdirSync(join(project.root, path, ".."), { recursive: true });
    writeFileSync(join(project.root, path), "an idea");
    expect(await project.ralph("plan", ...words)).toMatchObject({ code: 0 });
  });

  test("says where to run when another list would come first", async () => {
    project = withPrd([...RIGHT]);
    project.write(".ralph/roadmap.md", "- [ ] **a**: b\n");
    expect((await project.ralph("plan")).stdout).toContain("ralph run --source .ralph/tasks.json --dry-run");
  });

  test("a limit of the agent is exit code 5, a wrong option 64", async () => {
    project = withPrd([{ say: "You've hit your usage limit." }, { crash: 1 }]);
    const { code, stdout } = await project.ralph("plan");
    expect(code).toBe(5);
    expect(stdout).toContain("usage limit");
    expect(await project.ralph("plan", "--attempts", "0")).toMatchObject({ code: 64 });
    expect(await project.ralph("plan", "--agent", "nobody")).toMatchObject({ code: 64 });
  });

  test("an agent that takes too long is ended, and that is a mistake", async () => {
    project = withPrd([{ hang: true }], [{ expectPrompt: "timed out after 5s" }, ...RIGHT]);
    expect(await project.ralph("plan", "--timeout", "5s")).toMatchObject({ code: 0 });
  });

  test("--json is one object, with every attempt and what it cost", async () => {
    project = withPrd([writes(), { usage: { cost_usd: 0.1 } }], [...RIGHT, { usage: { cost_usd: 0.2 } }]);
    const { code, stdout } = await project.ralph("plan", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: "planned",
      exit_code: 0,
      path: ".ralph/tasks.json",
      backup: null,
      tasks: [
        { id: "US-1", depends_on: [] },
        { id: "US-2", depends_on: ["US-1"] },
      ],
      attempts: [
        {
          attempt: 1,
          agent: "demo",
          outcome: "wrong",
          cost_usd: 0.1,
          transcript: ".ralph/logs/plan-001.log",
        },
        { attempt: 2, outcome: "planned", mistakes: [], cost_usd: 0.2 },
      ],
      cost_usd: expect.closeTo(0.3) as number,
    });
  });

  test("does not disturb the numbers of iterations, nor starts beside a run", async () => {
    project = withPrd([...RIGHT]);
    await project.ralph("plan");
    project.script({}, [[TOLD_TO_GO]]);
    const running = project.start("run", "-n", "1");
    await until("the agent runs", () => exists(project, ".ralph/logs/iteration-001.log"));
    expect(await project.ralph("plan", "--force")).toMatchObject({ code: 64 });
    expect(project.read(".ralph/tasks.json")).toContain("US-1");
    tellToGo(project);
    await running.finished;
  });

  test("Ctrl-C ends the agent and leaves everything as it was", async () => {
    project = withPrd([writes(), { append: { path: ".ralph/prd.md", text: "x" } }, { hang: true }]);
    const running = project.start("plan");
    await until("the agent has written", () => exists(project, ".ralph/tasks.json"));
    running.child.kill("SIGINT");
    expect(await running.finished).toMatchObject({ code: 130 });
    expect(project.git("status", "--porcelain")).toBe("");
    expect(project.leftovers()).toEqual([]);
  });

  test("what a killed one left running is ended by the next", async () => {
    project = withPrd([{ say: "here I am" }, { hang: true }]);
    const running = project.start("plan");
    const log = ".ralph/logs/plan-001.log";
    await until("the agent works", () => exists(project, log) && project.read(log).includes("here I am"));
    running.child.kill("SIGKILL");
    await running.finished;
    project.script({ plan: [[...RIGHT]] });
    expect(await project.ralph("plan")).toMatchObject({ code: 0 });
    expect(project.leftovers()).toEqual([]);
  });

  test("from init to a run without further edits", async () => {
    project = createProject({ config: 'agent = "demo"\n' });
    project.remove("TODO.md");
    project.commit("bare");
    await project.ralph("init", "--source", "prd");
    expect(await project.ralph("plan")).toMatchObject({ code: 0 });
    expect(await project.ralph("run", "--agent", "demo")).toMatchObject({ code: 0, stderr: "" });
  });
});
