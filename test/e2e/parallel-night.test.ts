import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, type Finished, type Project } from "./project.ts";

const projects: Project[] = [];
afterEach(() => {
  for (const project of projects.splice(0)) project.dispose();
});

/** In the order of the roadmap, and what each waits for; the first eight begin at once. */
const TASKS: Readonly<Record<string, readonly string[]>> = {
  "shared-1": [],
  "shared-2": [],
  "red-1": [],
  "red-2": [],
  "always-red": [],
  "always-lies": [],
  "lies-1": [],
  "plain-1": [],
  "shared-3": [],
  "shared-4": [],
  "shared-5": [],
  "lies-2": [],
  "lies-3": [],
  "plain-2": [],
  "plain-3": [],
  "later-1": ["plain-1"],
  "later-2": ["later-1", "lies-1"],
  "later-3": ["shared-5", "red-2"],
  "after-red": ["always-red"],
  "after-lies": ["plain-2", "always-lies"],
};
const NOT_DONE = ["always-red", "always-lies", "after-red", "after-lies"];
const DONE = Object.keys(TASKS).filter((task) => !NOT_DONE.includes(task));
const SEED = 2_026;

/** Neither both of the pair, nor what is marked as broken. */
const GATE =
  "! { grep -qs alone red-1.txt && grep -qs alone red-2.txt; } && ! grep -qs broken always-red.txt";

/**
 * How long each takes is chance, what comes of it is not: of those that exclude each other the first is always the same,
 * and it waits until the second has begun beside it.
 */
const AGENT = `cat > /dev/null
common="$RALPH_DIR/../.git"
n=$(($(cat "$common/calls-$RALPH_TASK_ID" 2> /dev/null || echo 0) + 1))
echo $n > "$common/calls-$RALPH_TASK_ID"
begun() { until test -e "$common/calls-$1"; do sleep 0.05; done; }
merged() { until git cat-file -e "main:$1" 2> /dev/null && git show "main:$1" | grep -q "$2"; do sleep 0.05; done; }
chance=$(echo "$(cat "$common/seed") $RALPH_TASK_ID $n" | cksum | cut -d " " -f 1)
sleep "0.$((chance % 6))"
case $RALPH_TASK_ID in
shared-1) begun shared-2; sed -i "1s/.*/first: shared-1/" shared.txt ;;
shared-*)
  if [ $n = 1 ] && ! grep -q "first: shared-1" shared.txt; then
    sed -i "1s/.*/first: $RALPH_TASK_ID/" shared.txt
    merged shared.txt "first: shared-1"
  else
    git merge -q main > /dev/null 2>&1 || { git checkout -q --theirs shared.txt; git add -A; git commit -qm together; }
    sed -i "s/^place of $RALPH_TASK_ID$/here is $RALPH_TASK_ID/" shared.txt
  fi ;;
red-1) begun red-2; echo alone > red-1.txt ;;
red-2)
  if [ $n = 1 ] && ! test -e red-1.txt; then echo alone > red-2.txt; merged red-1.txt alone
  else git merge -q main; echo together > red-2.txt; fi ;;
always-red) echo "broken $n" > always-red.txt ;;
always-lies) ;;
lies-*) [ $n = 1 ] || echo true > "$RALPH_TASK_ID.txt" ;;
later-1) cat plain-1.txt > later-1.txt ;;
later-2) cat later-1.txt lies-1.txt > later-2.txt ;;
later-3) cat shared.txt red-2.txt > /dev/null && grep "shared-5" shared.txt > later-3.txt ;;
*) echo "$RALPH_TASK_ID" > "$RALPH_TASK_ID.txt" ;;
esac
echo "<promise>COMPLETE</promise>"
`;

function nightProject(): Project {
  const project = createProject({
    config: `source = "roadmap.md"
agent = "stub"
[run]
max_stuck = 0
[agents.stub]
command = ["sh", ".ralph/agent.sh"]
[[gates]]
name = "sound"
command = "${GATE}"
`,
  });
  projects.push(project);
  project.remove("TODO.md");
  const lines = Object.entries(TASKS).map(
    ([id, needs]) => `- [ ] **${id}**: make ${id}\n  - ralph: true\n  - depends: ${needs.join(", ")}\n`,
  );
  project.write("roadmap.md", `# Roadmap\n\n${lines.join("")}`);
  const places = [1, 2, 3, 4, 5].map((number) => `place of shared-${number}\n.\n.\n.\n`);
  project.write("shared.txt", `first: nobody\n.\n.\n.\n${places.join("")}`);
  project.write(".ralph/agent.sh", AGENT);
  project.write(".git/seed", `${SEED}`);
  project.commit("roadmap");
  return project;
}

const run = (project: Project): Promise<Finished> =>
  project.ralph("run", "--parallel", "8", "--keep-going", "-n", "200");

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

async function statuses(project: Project): Promise<Readonly<Record<string, string>>> {
  const { tasks } = JSON.parse((await project.ralph("status", "--json")).stdout) as {
    tasks: { id: string; status: string }[];
  };
  return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
}

/** Whatever was the last commit of the base at some time, and does not pass. */
function redCommits(project: Project): readonly string[] {
  const clone = join(project.root, "..", "clone");
  project.git("clone", "--quiet", project.root, clone);
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: clone, encoding: "utf8" });
  const commits = linesOf(git("rev-list", "--first-parent", "main"));
  expect(commits.length).toBeGreaterThan(DONE.length);
  return commits.filter((commit) => {
    git("checkout", "--quiet", "--detach", commit);
    return spawnSync("sh", ["-c", GATE], { cwd: clone }).status !== 0;
  });
}

function expectAllMerged(project: Project): void {
  for (const task of DONE) {
    expect(project.read("roadmap.md")).toContain(`- [x] **${task}**`);
    expect(linesOf(project.git("log", "--format=%s", "--grep", `^ralph(${task}):`))).toHaveLength(1);
    expect(project.git("branch", "--list", `ralph/merged/${task}`)).not.toBe("");
  }
  const files = DONE.filter((task) => !task.startsWith("shared")).map((task) => `${task}.txt`);
  for (const file of files) expect(project.git("ls-files", file)).toBe(file);
  expect(linesOf(project.read("shared.txt")).filter((line) => line.includes("shared"))).toEqual([
    "first: shared-1",
    "place of shared-1",
    ...[2, 3, 4, 5].map((number) => `here is shared-${number}`),
  ]);
  expect(project.read("red-1.txt") + project.read("red-2.txt")).toBe("alone\ntogether\n");
  expect(project.read("later-2.txt")).toBe("plain-1\ntrue\n");
  expect(project.read("later-3.txt")).toBe("here is shared-5\n");
}

function expectRestKept(project: Project): void {
  for (const task of NOT_DONE) {
    expect(project.read("roadmap.md")).toContain(`- [ ] **${task}**`);
    expect(project.git("log", "--format=%s", "--grep", `^ralph(${task}):`, "main")).toBe("");
  }
  expect(exists(project, "always-red.txt")).toBe(false);
  expect(project.git("show", "ralph/always-red:always-red.txt")).toBe("broken 3");
  expect(project.git("branch", "--list", "ralph/always-lies")).not.toBe("");
}

async function expectExplained(project: Project): Promise<void> {
  const reasons: Readonly<Record<string, string>> = {
    "always-red": "always-red is blocked: 3 failed iterations in a row",
    "always-lies": "a false claim of completion",
    "after-red": "after-red waits for always-red",
    "after-lies": "after-lies waits for always-lies",
  };
  for (const task of Object.keys(TASKS)) {
    const { code, stdout } = await project.ralph("why", task);
    expect({ task, code }).toEqual({ task, code: 0 });
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(reasons[task] ?? `${task} was accepted in iteration`);
  }
}

describe("a night with twenty tasks in eight lanes", () => {
  const outcome = async (project: Project): Promise<unknown> => ({
    statuses: await statuses(project),
    files: linesOf(project.git("ls-tree", "-r", "main")),
  });

  test("what is true is merged, nothing is merged red, the rest is kept and explained; and so it is every time", async () => {
    const [night, again] = [nightProject(), nightProject()];
    for (const finished of await Promise.all([run(night), run(again)]))
      expect(finished).toMatchObject({ code: 2, stderr: "" });
    expect(await statuses(night)).toEqual({
      ...Object.fromEntries(DONE.map((task) => [task, "done"])),
      "always-red": "blocked",
      "always-lies": "blocked",
      "after-red": "todo",
      "after-lies": "todo",
    });
    expect(await outcome(again)).toEqual(await outcome(night));
    for (const project of [night, again]) {
      expectAllMerged(project);
      expectRestKept(project);
      expect(redCommits(project)).toEqual([]);
      expect(project.git("status", "--porcelain")).toBe("");
      expect(project.leftovers()).toEqual([]);
      const failed = (await project.events()).filter(({ type }) => type === "merge.failed");
      expect(failed.map(({ task }) => task)).toEqual(expect.arrayContaining(["shared-2", "red-2"]));
    }
    await expectExplained(night);
  }, 600_000);
});

test("a task may have the name of the folder that merged branches lie in", async () => {
  const project = createProject({ tasks: ["one", "merged", "two"] });
  projects.push(project);
  expect(await project.ralph("run", "--parallel", "2")).toMatchObject({ code: 0, stderr: "" });
  for (const task of ["one", "merged", "two"]) expect(project.read(`${task}.txt`)).toBe(`${task}\n`);
  expect(await project.ralph("undo")).toMatchObject({ code: 0 });
});
