import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installFakeGithub, type FakeGithub, type FakeIssue } from "../fixtures/fake-github.ts";
import { pathWithoutAgents } from "../fixtures/path-without-agents.ts";
import { createProject, until, type Project } from "./project.ts";

let folder: string;
let github: FakeGithub;
let project: Project;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-issues-"));
});
afterEach(() => {
  project.dispose();
  rmSync(folder, { recursive: true });
});

const WORKS = 'echo "$RALPH_TASK_ID" > "$RALPH_TASK_ID.txt"; echo "<promise>COMPLETE</promise>"';

function projectWith(issues: readonly Partial<FakeIssue>[], more = "", agent = WORKS): void {
  github = installFakeGithub(folder, issues);
  project = createProject({
    config: `agent = "stub"
source = "github"
[agents.stub]
command = ["sh", "-c", '${agent}']
[[gates]]
name = "tests"
command = "true"
${more}`,
    env: { PATH: `${github.bin}:${pathWithoutAgents(join(folder, "others"))}` },
  });
}

async function accepted(): Promise<string[]> {
  return (await project.history()).map(({ task, verdict }) => `${task} ${verdict}`);
}

test("issues are worked on in their order, told about and closed; a second run has nothing to do", async () => {
  projectWith([{ body: "Depends on #2" }, {}, { labels: ["bug"] }, { labels: ["ralph", "P0"] }]);
  const run = await project.ralph("run");
  expect(run).toMatchObject({ code: 0, stderr: "" });
  expect(run.stdout.match(/ralph run · .*/g)).toEqual(["ralph run · github:ralph · 3 tasks · stub"]);
  expect(await accepted()).toEqual(["issue-4 accepted", "issue-2 accepted", "issue-1 accepted"]);
  const { issues } = github.hub();
  expect(issues.map(({ state, comments }) => [state, comments.length])).toEqual([
    ["CLOSED", 1],
    ["CLOSED", 1],
    ["OPEN", 0],
    ["CLOSED", 1],
  ]);
  const commit = project.git("log", "--format=%H", "--max-count=1", "--", "issue-2.txt");
  expect(issues[1]?.comments[0]).toContain(`Its work is in ${commit}. These gates had to pass: tests.`);
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(await accepted()).toHaveLength(3);
});

test("an issue waits for an open one without the label, and the others go on", async () => {
  projectWith([{ body: "Depends on #2" }, { labels: [] }, {}, {}]);
  const run = await project.ralph("run");
  expect(run).toMatchObject({ code: 2, stderr: "" });
  const why = "issue-1 waits for issue-2, which is not done and not among the tasks of github:ralph";
  expect(run.stdout.split(`! ${why}\n`)).toHaveLength(2);
  expect(run.stdout).toContain(`blocked: ${why}\n`);
  expect(run.stdout).toContain("→ settle it, then: ralph run\n");
  expect(await accepted()).toEqual(["issue-3 accepted", "issue-4 accepted"]);
  const told = await project.ralph("why");
  expect(told.stdout).toContain(`${why}.`);
  github.change((hub) => (hub.issues[1]!.state = "CLOSED"));
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(await accepted()).toHaveLength(3);
});

test("an issue that gets something to wait for during a run waits, and the person is told", async () => {
  const script = join(folder, "asks.cjs");
  writeFileSync(
    script,
    `const { readFileSync, writeFileSync } = require("node:fs");
const hub = JSON.parse(readFileSync(${JSON.stringify(join(folder, "hub.json"))}));
hub.issues[1].body = "Depends on #3";
writeFileSync(${JSON.stringify(join(folder, "hub.json"))}, JSON.stringify(hub));
writeFileSync("work.txt", "done");
console.log("<promise>COMPLETE</promise>");`,
  );
  projectWith([{}, {}, { labels: [] }], "", `"${process.execPath}" "${script}"`);
  const run = await project.ralph("run");
  expect(run).toMatchObject({ code: 2 });
  expect(run.stdout).toContain("! issue-2 waits for issue-3, which is not done");
  expect(await accepted()).toEqual(["issue-1 accepted"]);
  expect(github.issue(2)).toMatchObject({ state: "OPEN", comments: [] });
});

test("an issue that a person opens again is worked on again", async () => {
  projectWith([{}], "", `date +%N >> work.txt; ${WORKS}`);
  await project.ralph("run");
  github.change((hub) => Object.assign(hub.issues[0]!, { state: "OPEN", closedBy: null }));
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(await accepted()).toHaveLength(2);
  expect(github.issue(1)).toMatchObject({
    state: "CLOSED",
    comments: [expect.any(String), expect.any(String)],
  });
});

test("a run that died before the issue was closed goes on, and comments once", async () => {
  projectWith([{}]);
  github.change((hub) => (hub.ill = { "issue close": 1 }));
  // So that the program waits in the middle of closing, for as long as it takes to kill it.
  const running = project.start("run");
  const hasFailed = (): boolean => github.hub().ill["issue close"] === 0;
  await until("the first try to close it has failed", hasFailed);
  running.child.kill("SIGKILL");
  await running.finished;
  expect(github.issue(1)).toMatchObject({ state: "OPEN", comments: [expect.any(String)] });
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(github.issue(1)).toMatchObject({ state: "CLOSED", comments: [expect.any(String)] });
  expect(await accepted()).toEqual(["issue-1 accepted"]);
});

test("an agent that closes its issue has not done it", async () => {
  projectWith([{}], "[run]\nmax_iterations = 1\n", 'gh issue close 1; echo "<promise>COMPLETE</promise>"');
  expect(await project.ralph("run")).toMatchObject({ code: 1 });
  expect(await accepted()).toEqual(["issue-1 rejected"]);
  expect(github.issue(1)).toMatchObject({ state: "OPEN", comments: [] });
  const acts = github.hub().asked.filter(([what]) => what === "issue");
  expect(acts.map(([, act]) => act)).toEqual(["close", "reopen"]);
});

test("a moment without GitHub is waited for; before a run there is nothing to wait for", async () => {
  const script = join(folder, "away.cjs");
  writeFileSync(
    script,
    `const { readFileSync, writeFileSync } = require("node:fs");
const hub = JSON.parse(readFileSync(${JSON.stringify(join(folder, "hub.json"))}));
hub.ill = { "issue list": 2 };
writeFileSync(${JSON.stringify(join(folder, "hub.json"))}, JSON.stringify(hub));
writeFileSync("work.txt", "done");
console.log("<promise>COMPLETE</promise>");`,
  );
  projectWith([{}], "", `"${process.execPath}" "${script}"`);
  github.change((hub) => (hub.trouble = "offline"));
  const away = await project.ralph("run");
  expect(away).toMatchObject({ code: 5, stdout: "" });
  expect(away.stderr).toContain("gh issue list failed: check your internet connection");
  github.change((hub) => (hub.trouble = null));
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(github.hub()).toMatchObject({ ill: { "issue list": 0 }, issues: [{ state: "CLOSED" }] });
});

test("a right that is missing is named at once, and the next run closes what is done", async () => {
  projectWith([{}]);
  const words = "HTTP 403: Resource not accessible by integration (https://api.github.com/graphql)";
  github.change((hub) => (hub.refused = { "issue close": words }));
  const refused = await project.ralph("run");
  expect(refused).toMatchObject({ code: 5 });
  expect(refused.stderr).toContain(`GitHub refuses gh issue close: ${words}`);
  expect(refused.stderr).toContain("→ give it the right to write issues");
  expect(github.hub().asked.filter(([, act]) => act === "close")).toHaveLength(1);
  github.change((hub) => (hub.refused = {}));
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(github.issue(1)).toMatchObject({ state: "CLOSED", comments: [expect.any(String)] });
  expect(await accepted()).toEqual(["issue-1 accepted"]);
});

test("pull requests name the issue that their merge closes", async () => {
  projectWith([{}], '[git]\nmerge = "pr"\n');
  execFileSync("git", ["init", "--quiet", "--bare", join(folder, "hub.git")]);
  project.git("remote", "add", "origin", join(folder, "hub.git"));
  expect(await project.ralph("run", "--worktree")).toMatchObject({ code: 0 });
  const [creation = []] = github.hub().asked.filter(([command]) => command === "pr");
  expect(creation[creation.indexOf("--body") + 1]).toMatch(/\n\nCloses #1$/);
  expect(github.issue(1)).toMatchObject({ state: "OPEN", comments: [] });
  // The work waits for people; it is not done again.
  expect(await project.ralph("run", "--worktree")).toMatchObject({ code: 0 });
  expect(await accepted()).toHaveLength(1);
});

test("what is undone is open again once its issue is", async () => {
  projectWith([{}]);
  await project.ralph("run");
  const undone = await project.ralph("undo");
  expect(undone).toMatchObject({ code: 0 });
  expect(undone.stdout).toContain("Its issue is still closed: gh issue reopen 1 ");
  github.change((hub) => Object.assign(hub.issues[0]!, { state: "OPEN", closedBy: null }));
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(await accepted()).toHaveLength(2);
});

test("blocked issues are tried again where they came from", async () => {
  projectWith(
    [{}],
    "",
    'if test -e ok; then echo 1 > one.txt; echo "<promise>COMPLETE</promise>"; else echo "<promise>BLOCKED: no key</promise>"; fi',
  );
  expect(await project.ralph("run", "--source", "github:ralph")).toMatchObject({ code: 2 });
  project.write("ok", "");
  project.commit();
  expect(await project.ralph("retry-blocked")).toMatchObject({ code: 0 });
  expect(github.issue(1).state).toBe("CLOSED");
});

test("ralph tasks, --source and import take issues too", async () => {
  projectWith([{ title: "First", body: "- [ ] it works" }, { labels: ["later"] }]);
  expect((await project.ralph("tasks")).stderr).toContain('the GitHub issues with the label "ralph"');
  expect((await project.ralph("tasks", "--source", "github:later")).stdout).toContain("issue-2");
  const added = await project.ralph("tasks", "add", "x");
  expect(added).toMatchObject({ code: 64 });
  expect(added.stderr).toContain("gh issue create");
  expect((await project.ralph("import", "github")).stdout).toContain("1 task from github:ralph\n");
  expect(JSON.parse(project.read(".ralph/tasks.json"))).toMatchObject({
    userStories: [{ id: "issue-1", title: "First", acceptanceCriteria: ["it works"], passes: false }],
  });
  github.change((hub) => (hub.issues[0]!.body = "Depends on #2"));
  const lossy = await project.ralph("import", "github", "--force");
  expect(lossy.stdout + lossy.stderr).toContain("what is waited for outside of the list of issue-1");
  expect(JSON.parse(project.read(".ralph/tasks.json"))).toMatchObject({ userStories: [{ dependsOn: [] }] });
  expect(github.hub().asked).toEqual([]);
});

test("without gh, or with a label that cannot be, nothing starts", async () => {
  projectWith([{}]);
  rmSync(join(github.bin, "gh"));
  const without = await project.ralph("run");
  expect(without).toMatchObject({ code: 64, stdout: "" });
  expect(without.stderr).toContain("the program gh is not installed");
  const odd = await project.ralph("run", "--source", "github:a,b");
  expect(odd).toMatchObject({ code: 64 });
  expect(odd.stderr).toContain('the label "a,b" cannot be asked for');
});
