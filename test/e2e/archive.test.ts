import { mkdirSync, readdirSync, readFileSync, symlinkSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, until, WORKS, type Project, type Steps } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const BLOCKED: Steps = [{ blocked: "no key" }];
const ROADMAP = `- [ ] **task-001**: the ground
  - ralph: true
- [ ] **task-002**: the walls
  - ralph: true
`;

describe("ralph archive", () => {
  test("puts list, requirements and notes away, and writes fresh ones", async () => {
    await roadmapRun();
    const archived = await project.ralph("archive", "--label", "First house!");
    expect(archived).toMatchObject({ code: 0, stderr: "" });
    const folder = archives()[0] ?? "";
    expect(folder).toMatch(/^\d{4}-\d\d-\d\d-First-house$/);
    expect(filesIn(folder)).toEqual(["blocked.txt", "prd.md", "progress.txt", "roadmap.md", "summary.md"]);
    expect(archivedText("roadmap.md")).toBe(ROADMAP.replace("[ ]", "[x]"));
    expect(archivedText("progress.txt")).toBe("the ground is wet\n");
    expect(archivedText("prd.md")).toBe("# A house\n");
    expect(project.read("roadmap.md")).toContain("- [ ] **task-001**: Say hello");
    expect(project.read(".ralph/progress.txt")).toBe("");
    expect(project.read(".ralph/prd.md")).toMatch(/^# Requirements\n/);
    expect(exists(project, ".ralph/blocked.txt")).toBe(false);
  });

  test("sums up what came of the list", async () => {
    await roadmapRun();
    const commit = (await project.history())[0]?.commit_hash ?? "";
    await project.ralph("archive");
    const summary = archivedText("summary.md");
    expect(archives()[0]).toMatch(/-main$/);
    expect(summary).toMatch(/^# main\n/);
    expect(summary).toContain("- Tasks from: roadmap.md\n");
    expect(summary).toContain("- Tasks: 1 of 2 done\n- Iterations: 2 (1 to 2)\n- Runs: 1\n- Cost: unknown\n");
    expect(summary).toContain(`| task-001 | the ground | done | 1 | ${commit} |`);
    expect(summary).toContain("| task-002 | the walls | blocked: no key | 1 | – |");
    expect(summary).toContain("| blocked (code 2): task-002 is blocked: no key |");
  });

  test("lets the next list use the same ids", async () => {
    await roadmapRun();
    await project.ralph("archive");
    project.write("roadmap.md", ROADMAP);
    project.script({}, [[{ append: { path: "house.txt", text: "more\n" } }, { promise: "COMPLETE" }]]);
    project.commit();
    expect(await statuses("tasks")).toEqual({ "task-001": "todo", "task-002": "todo" });
    expect(JSON.parse((await project.ralph("inbox", "--json")).stdout)).toEqual([]);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect((await project.history()).slice(2)).toMatchObject([
      { iteration: 3, task: "task-001", verdict: "accepted" },
      { iteration: 4, task: "task-002", verdict: "accepted" },
    ]);
    await project.ralph("archive");
    expect(archivedText("summary.md", 1)).toContain("- Tasks: 2 of 2 done\n- Iterations: 2 (3 to 4)\n");
    expect(archives()[1]).toBe(`${archives()[0]}-2`);
  });

  test("shows the fresh list from then on", async () => {
    await roadmapRun();
    await project.ralph("archive");
    const { stdout } = await project.ralph("status", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      tasks: [{ id: "task-001", title: "Say hello", status: "todo", iteration: 0 }],
      inbox: [],
    });
    expect(JSON.parse(project.read(".ralph/status.json"))).toEqual(JSON.parse(stdout));
  });

  test("commits nothing, and says what to commit", async () => {
    await roadmapRun();
    const head = project.git("rev-parse", "HEAD");
    const { stdout } = await project.ralph("archive");
    expect(project.git("rev-parse", "HEAD")).toBe(head);
    expect(stdout).toContain('git commit -m "A new list" -- roadmap.md .ralph/prd.md .ralph/progress.txt ');
    expect(project.git("status", "--porcelain")).not.toContain("archive");
    project.git("commit", "-m", "A new list", "--", "roadmap.md", ".ralph/prd.md", ".ralph/progress.txt");
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("--json prints the folder and what is in it", async () => {
    project = createProject();
    await project.ralph("run");
    const { stdout } = await project.ralph("archive", "--json", "--include-logs", "--label", "x");
    const { folder, files } = JSON.parse(stdout) as { folder: string; files: string[] };
    expect(folder).toBe(`.ralph/archive/${archives()[0]}`);
    expect(files.slice(0, 3)).toEqual(["TODO.md", "summary.md", "logs/execution.jsonl"]);
    for (const file of files) expect(exists(project, join(folder, file))).toBe(true);
    expect(exists(project, ".ralph/logs/iteration-001.log")).toBe(true);
  });

  test("keeps name and checks of a tasks.json, and nothing else", async () => {
    const stories = {
      project: "House",
      branchName: "main",
      verifyCommands: ["true"],
      userStories: [{ id: "US-001", title: "the ground", passes: false }],
    };
    project = projectWith(".ralph/tasks.json", JSON.stringify(stories));
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    await project.ralph("archive");
    expect(JSON.parse(project.read(".ralph/tasks.json"))).toEqual({
      project: "House",
      description: "",
      verifyCommands: ["true"],
      userStories: [],
    });
    expect(JSON.parse(archivedText("tasks.json"))).toMatchObject({ userStories: [{ passes: true }] });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    await project.ralph("tasks", "add", "the walls");
    expect(await statuses("tasks")).toEqual({ "US-001": "todo" });
    expect(await project.ralph("run", "--allow-dirty")).toMatchObject({ code: 2 });
  });

  test.each([
    ["PROMPT.md", "Build a house.\n", "# Goal\n"],
    ["PRD.md", "- [ ] a house\n", "# Tasks\n"],
  ])("leaves a fresh %s of its kind", async (path, text, fresh) => {
    project = projectWith(path, text);
    expect(await project.ralph("archive")).toMatchObject({ code: 0 });
    expect(archivedText(path)).toBe(text);
    expect(project.read(path)).toContain(fresh);
  });
});

test("without a label and without a branch the folder is named after a run", async () => {
  project = createProject();
  project.git("checkout", "--quiet", "--detach");
  await project.ralph("archive");
  expect(archives()[0]).toMatch(/^\d{4}-\d\d-\d\d-run$/);
});

test("a run that was killed while it waited is over, and the next begins anew", async () => {
  project = createProject({ config: 'agent = "sh"\n[agents.sh]\ncommand = ["sh", "../agent.sh"]\n' });
  project.write(
    "../agent.sh",
    "cat > /dev/null; echo 'Error: usage limit reached, resets in 2 hours' >&2; exit 1\n",
  );
  const running = project.start("run");
  await until("it waits", () => running.stdout().includes("waiting until"));
  running.child.kill("SIGKILL");
  await running.finished;
  expect(await project.ralph("archive")).toMatchObject({ code: 0 });
  expect(await project.ralph("run", "--no-wait")).toMatchObject({ code: 5 });
  const types = (await project.events()).map(({ type }) => type);
  expect(types.filter((type) => String(type).startsWith("run."))).toEqual([
    "run.started",
    "run.ended",
    "run.started",
    "run.ended",
  ]);
});

describe("ralph archive refuses", () => {
  test("while a run is on", async () => {
    project = createProject();
    project.script({ one: [[{ hang: true }]] });
    project.commit();
    const running = project.start("run");
    await until("the agent runs", () => running.stdout().includes("iteration 1"));
    const refused = await project.ralph("archive");
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain(`(pid ${running.child.pid})`);
    expect(exists(project, ".ralph/archive")).toBe(false);
    await project.ralph("stop", "--now");
    await running.finished;
  });

  test("after a run that was killed in the middle of an iteration, until that is closed", async () => {
    project = createProject();
    project.script({ one: [[{ write: { path: "half.txt", text: "half" } }, { hang: true }], WORKS] });
    project.commit();
    const running = project.start("run");
    await until("the agent has begun", () => exists(project, "half.txt"));
    running.child.kill("SIGKILL");
    await running.finished;
    const refused = await project.ralph("archive");
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain(
      "died in the middle of iteration 1\n  → let it be taken up first: ralph run",
    );
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(await project.ralph("archive")).toMatchObject({ code: 0 });
  });

  test.each([
    [["--label", "../.."], '--label is "../..", of which no folder can be named'],
    [["--label", ""], '--label is "", of which no folder can be named'],
    [["--source", "missing.md"], "the task source missing.md does not exist"],
    [["--lable", "x"], "--label"],
    [["now"], "too many arguments"],
  ])("%j", async (args, words) => {
    project = createProject();
    const refused = await project.ralph("archive", ...args);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain(words);
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("a list that is fresh, and a repository without one", async () => {
    project = createProject();
    await project.ralph("archive");
    expect((await project.ralph("archive")).stderr).toContain("nothing to archive: TODO.md is fresh");
    project.remove("TODO.md");
    const refused = await project.ralph("archive");
    expect(refused).toMatchObject({ code: 64 });
    expect(refused.stderr).toContain("nothing to archive: no task source was found");
    project.remove(".ralph");
    expect(await project.ralph("archive")).toMatchObject({ code: 64 });
    expect(exists(project, ".ralph")).toBe(false);
  });

  test("a link that leads outside", async () => {
    project = createProject();
    project.write("../secret.txt", "secret");
    symlinkSync("../../secret.txt", join(project.root, ".ralph/progress.txt"));
    const refused = await project.ralph("archive");
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain(".ralph/progress.txt leads outside");
    expect(project.read("../secret.txt")).toBe("secret");
    expect(project.read("TODO.md")).toContain("make one");
  });
});

test("a list that cannot be worked on can be archived", async () => {
  project = projectWith("roadmap.md", ROADMAP.replace("task-002", "task-001"));
  expect(await project.ralph("run")).toMatchObject({ code: 64 });
  expect(await project.ralph("archive")).toMatchObject({ code: 0 });
  expect(archivedText("summary.md")).toContain("could not be read: ");
});

test("killed at any moment, every file is in its old or in its new place", async () => {
  project = createProject();
  mkdirSync(join(project.root, ".ralph/archive"));
  for (let round = 0; round < 12; round += 1) {
    const texts = { "TODO.md": `- [ ] list ${round}\n`, ".ralph/progress.txt": `notes ${round}\n` };
    for (const [path, text] of Object.entries(texts)) project.write(path, text);
    const running = project.start("archive");
    const kill = (): boolean => running.child.kill("SIGKILL");
    const watching = round < 4 ? killAfterChanges(round + 1, kill) : null;
    if (watching === null) setTimeout(kill, 20 * round);
    await running.finished;
    watching?.close();
    for (const [path, text] of Object.entries(texts)) {
      const copies = archives().map((folder) => archivedIn(folder, path.split("/").at(-1) ?? ""));
      expect([project.read(path), ...copies]).toContain(text);
    }
  }
  project.write("TODO.md", "- [ ] the last list\n");
  expect(await project.ralph("archive")).toMatchObject({ code: 0 });
  const names = readdirSync(join(project.root, ".ralph/archive"));
  expect(names.filter((name) => name.startsWith("."))).toEqual([]);
});

/** The first change is the half-written folder, the next ones are its final name. */
function killAfterChanges(changes: number, kill: () => void): FSWatcher {
  let seen = 0;
  return watch(join(project.root, ".ralph/archive"), () => {
    seen += 1;
    if (seen === changes) kill();
  });
}

/** One task done, one blocked, notes and requirements beside them. */
async function roadmapRun(): Promise<void> {
  project = projectWith("roadmap.md", ROADMAP);
  project.write(".ralph/prd.md", "# A house\n");
  project.write(".ralph/progress.txt", "the ground is wet\n");
  project.script({ "task-002": [BLOCKED] }, [WORKS]);
  project.commit();
  expect(await project.ralph("run")).toMatchObject({ code: 2 });
}

function projectWith(path: string, text: string): Project {
  const made = createProject();
  made.remove("TODO.md");
  made.write(path, text);
  made.commit("plan");
  return made;
}

/** Oldest first: a later one of the same day has a number. */
function archives(): readonly string[] {
  const folder = join(project.root, ".ralph/archive");
  if (!exists(project, ".ralph/archive")) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .toSorted((a, b) => a.length - b.length);
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(project.root, ".ralph/archive", folder)).toSorted();
}

function archivedText(name: string, at = 0): string {
  return archivedIn(archives()[at] ?? "", name) ?? "";
}

function archivedIn(folder: string, name: string): string | null {
  const path = join(project.root, ".ralph/archive", folder, name);
  return filesIn(folder).includes(name) ? readFileSync(path, "utf8") : null;
}

async function statuses(...args: readonly string[]): Promise<Record<string, string>> {
  const { stdout } = await project.ralph(...args, "--json");
  const rows = JSON.parse(stdout) as { id: string; status: string }[];
  return Object.fromEntries(rows.map(({ id, status }) => [id, status]));
}
