import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installFakeGh } from "../fixtures/fake-gh.ts";
import { pathWithoutAgents } from "../fixtures/path-without-agents.ts";
import { createProject, type Project } from "./project.ts";

let folder: string;
let project: Project;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-pull-requests-"));
});
afterEach(() => {
  project.dispose();
  rmSync(folder, { recursive: true });
});

/** With a gh that remembers pull requests by their branch, and a remote that is a folder. */
function projectOnHub(more: { readonly gh?: boolean; readonly remote?: boolean } = {}): void {
  const { gh = true, remote = true } = more;
  mkdirSync(join(folder, "bin"));
  if (gh) installFakeGh(folder);
  project = createProject({
    tasks: ["one", "two"],
    config: `agent = "stub"
[git]
merge = "pr"
[agents.stub]
command = ["sh", "-c", 'echo "$RALPH_TASK_ID" > "$RALPH_TASK_ID.txt"; echo "<promise>COMPLETE</promise>"']
[[gates]]
name = "tests"
command = "true"
`,
    env: { PATH: `${join(folder, "bin")}:${pathWithoutAgents(join(folder, "others"))}` },
  });
  if (!remote) return;
  execFileSync("git", ["init", "--quiet", "--bare", join(folder, "hub.git")]);
  project.git("remote", "add", "origin", join(folder, "hub.git"));
}

const onHub = (...args: readonly string[]): string =>
  execFileSync("git", ["--git-dir", join(folder, "hub.git"), ...args], { encoding: "utf8" }).trim();

test("each task becomes a pull request with its branch; the base stays as it is", async () => {
  projectOnHub();
  const before = project.git("rev-parse", "main");
  const run = await project.ralph("run", "--parallel", "2");
  expect(run).toMatchObject({ code: 0 });
  expect(run.stdout).toContain("⇒ proposed  one: https://example.com/pull/ralph/one");
  expect(project.git("rev-parse", "main")).toBe(before);
  expect(onHub("show", "ralph/two:two.txt")).toBe("two");
  const asked = readFileSync(join(folder, "asked"), "utf8");
  expect(asked).toMatch(/pr create --head ralph\/one --base main --title one: .* --body Task `one`/);
  expect(asked).toContain("these pass: tests");
  expect(project.git("worktree", "list").split("\n")).toHaveLength(1);
  expect((await project.ralph("why", "one")).stdout).toContain(
    "proposed: https://example.com/pull/ralph/one",
  );
  // What is proposed is done: a second run has nothing to do.
  const again = await project.ralph("run", "--parallel", "2");
  expect(again).toMatchObject({ code: 0 });
  expect((await project.history()).length).toBe(2);
});

test("what cannot be proposed waits as a branch, and the next run tries again", async () => {
  projectOnHub();
  writeFileSync(join(folder, "refuse"), "");
  const waits = await project.ralph("run", "--worktree", "--task", "one");
  expect(waits).toMatchObject({ code: 2 });
  expect(waits.stdout).toContain("ralph/one is pushed, but gh pr create failed: GraphQL: not allowed");
  rmSync(join(folder, "refuse"));
  expect(await project.ralph("run", "--worktree", "--task", "one")).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, "pr-ralph-one"))).toBe(true);
  expect((await project.history()).length).toBe(1);
});

test("without gh, or without a remote, it is refused before anything begins", async () => {
  projectOnHub({ gh: false });
  const noProgram = await project.ralph("run", "--worktree");
  expect(noProgram.stderr).toContain('git.merge is "pr", and the program gh is not installed');
  expect(noProgram.code).toBe(64);
  project.dispose();
  rmSync(join(folder, "bin"), { recursive: true });
  projectOnHub({ remote: false });
  const noRemote = await project.ralph("run", "--worktree");
  expect(noRemote.stderr).toContain("this repository has no remote");
  expect(await project.history()).toEqual([]);
});
