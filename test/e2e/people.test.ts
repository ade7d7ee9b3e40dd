import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  createProject,
  exists,
  tellToGo,
  TOLD_TO_GO,
  until,
  WORKS,
  type Project,
  type Steps,
} from "./project.ts";

const CONFIG = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n[run]\nmax_attempts = 2\n';
const ASKS: Steps = [{ decide: "WebSockets or polling? | sockets | polling" }];
const USES_POLLING: Steps = [{ expectPrompt: "The answer: polling" }, ...WORKS];
const CRASHES: Steps = [{ append: { path: "notes.txt", text: "more\n" } }, { crash: 3 }];
/** Keeps the run alive until the test has done its part. */
const WAITS = 'for i in $(seq 400); do test -f "$HOME/go" && break; sleep 0.05; done';

let project: Project;
afterEach(() => project.dispose());

describe("ralph decide", () => {
  test("answers one of four tasks; the next run uses it", async () => {
    project = createProject({ tasks: ["one", "asks", "three", "four"] });
    project.script({ asks: [ASKS, USES_POLLING] }, [WORKS]);
    project.commit();
    const first = await project.ralph("run", "--keep-going");
    expect(first).toMatchObject({ code: 3 });
    expect(first.stdout).toContain('ralph decide asks "…", or write the answer into .ralph/decide.txt');
    expect(await statuses()).toEqual({ one: "done", asks: "undecided", three: "done", four: "done" });
    const answered = await project.ralph("decide", "polling");
    expect(answered).toEqual({
      code: 0,
      signal: null,
      stdout: "",
      stderr: "ralph: asks asked: WebSockets or polling?\nralph: answered: polling\n  → go on: ralph run\n",
    });
    expect(await statuses()).toMatchObject({ asks: "todo" });
    expect(await printed("inbox")).toEqual([]);
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(exists(project, ".ralph/decide.txt")).toBe(false);
    expect((await project.ralph("why", "asks")).stdout).toContain("A person answered: polling.");
  });

  test("while the run is on is taken up without a restart", async () => {
    project = createProject({ tasks: ["asks", "slow"] });
    project.script({ asks: [ASKS, USES_POLLING], slow: [[{ shell: WAITS }, ...WORKS]] });
    project.commit();
    const running = project.start("run", "--keep-going");
    await until("the slow task is under way", () => running.stdout().includes("▸ slow"));
    const answered = await project.ralph("decide", "asks", "polling");
    expect(answered).toMatchObject({ code: 0 });
    expect(answered.stderr).toContain("→ the run that is on takes it up");
    letGo();
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(running.stdout()).toContain("✔ answered  asks: polling");
    expect((await project.history()).map(({ task }) => task)).toEqual(["asks", "slow", "asks"]);
    expect(exists(project, ".ralph/decide.txt")).toBe(false);
  });

  test("wants to know which of several, and takes what is none of the options", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [ASKS], two: [[{ decide: "Which colour?" }]] });
    project.commit();
    expect((await project.ralph("run", "--keep-going")).stdout).toContain("ralph inbox");
    const which = await project.ralph("decide", "polling");
    expect(which).toMatchObject({ code: 64, stdout: "" });
    expect(which.stderr).toContain("one: WebSockets or polling?  (options: sockets, polling)");
    expect(which.stderr).toContain("two: Which colour?");
    const other = await project.ralph("decide", "one", "server-sent events");
    expect(other).toMatchObject({ code: 0 });
    expect(other.stderr).toContain('"server-sent events" is none of the options (sockets, polling)');
    const again = await project.ralph("decide", "one", "polling");
    expect(again).toMatchObject({ code: 64 });
    expect(again.stderr).toContain('one asks no question any more: it has its answer, "server-sent events"');
    expect(await project.ralph("decide", "blue")).toMatchObject({ code: 0 });
    expect((await project.ralph("decide", "red")).stderr).toContain("no task asks a question");
  });

  test.each([
    [["decide", "one"], "say the answer"],
    [["decide"], "say the answer"],
    [["decide", "one", " "], "say the answer"],
    [["decide", "onee", "polling"], 'Did you mean "one"?'],
    [["decide", "one", "long", "polling"], 'ralph decide one "long polling"'],
  ])("%j is refused with what would be right", async (args, words) => {
    project = createProject();
    project.script({ one: [ASKS] });
    project.commit();
    await project.ralph("run");
    const refused = await project.ralph(...args);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain(words);
    expect(await statuses()).toEqual({ one: "undecided" });
  });
});

describe("ralph run --stay", () => {
  const waits = (running: ReturnType<Project["start"]>): Promise<void> =>
    until("the run waits", () => running.stdout().includes("everything that is open waits for you"));

  test("waits for the answer and for the deleted file, and goes on with each", async () => {
    project = createProject({ tasks: ["asks", "stops"] });
    project.script({ asks: [ASKS, USES_POLLING], stops: [[{ blocked: "no key" }]] });
    project.commit();
    const running = project.start("run", "--stay");
    await waits(running);
    const status = JSON.parse((await project.ralph("status", "--json")).stdout) as Record<string, unknown>;
    expect(status).toMatchObject({ run: { state: "waiting", waiting_until: null } });
    expect((await project.ralph("why")).stdout).toContain("it waits for you");
    await project.ralph("decide", "asks", "polling");
    await until("the answer is used", () => running.stdout().includes("✔ accepted"));
    project.script({ stops: [WORKS] });
    project.remove(".ralph/blocked.txt");
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(await statuses()).toEqual({ asks: "done", stops: "done" });
  });

  test("can be stopped while it waits", async () => {
    project = createProject();
    project.script({ one: [ASKS] });
    project.commit();
    const running = project.start("run", "--stay");
    await waits(running);
    await project.ralph("stop");
    expect(await running.finished).toMatchObject({ code: 130 });
  });

  test("does not go with --no-wait", async () => {
    project = createProject();
    const refused = await project.ralph("run", "--stay", "--no-wait");
    expect(refused).toMatchObject({ code: 64 });
    expect(refused.stderr).toContain("--stay and --no-wait exclude each other");
  });
});

describe("ralph run --no-keep-going", () => {
  test("stops at the first task that needs a person", async () => {
    project = createProject({ tasks: ["stops", "one"] });
    project.script({ stops: [[{ blocked: "no key" }]] }, [WORKS]);
    project.commit();
    expect(await project.ralph("run", "--no-keep-going")).toMatchObject({ code: 2 });
    expect(await statuses()).toEqual({ stops: "blocked", one: "todo" });
    expect(await project.ralph("run")).toMatchObject({ code: 2 });
    expect(await statuses()).toEqual({ stops: "blocked", one: "done" });
  });
});

describe("ralph unblock", () => {
  test("takes the reason as a second argument, and the run before had named the command", async () => {
    project = createProject();
    project.script({ one: [[{ blocked: "no key" }]] });
    project.commit();
    const first = await project.ralph("run");
    expect(first.stdout).toContain("settle it, then: ralph unblock one, ralph run");
    expect(await project.ralph("unblock", "one", "the key is there")).toMatchObject({ code: 0 });
    expect((await project.ralph("why", "one")).stdout).toContain("the key is there");
    project.script({ one: [WORKS] });
    project.commit();
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
  });

  test("lets a task go on, and the next run takes the letter away", async () => {
    await blockedBy({ one: [[{ blocked: "no credentials" }]] });
    const freed = await project.ralph("unblock", "one", "--timeout", "1800", "--reason", "the key is there");
    expect(freed).toMatchObject({ code: 0, stdout: "" });
    expect(freed.stderr).toBe(
      "ralph: one is no longer blocked; 30m each from now on\n  → go on: ralph run\n",
    );
    const { stdout: status } = await project.ralph("status");
    expect(status).toMatch(/^· one {2}make one {2}todo/m);
    expect(status).not.toContain("waits for you");
    expect(await printed("status")).toMatchObject({
      tasks: [{ status: "todo", timeout_seconds: 1800, timeout_from: "override" }],
      inbox: [],
    });
    await works();
    expect(exists(project, ".ralph/blocked.txt")).toBe(false);
    const begun = (await project.events()).filter(({ type }) => type === "iteration.started");
    expect(begun.at(-1)).toMatchObject({ timeout_ms: 1_800_000 });
    expect((await project.ralph("why", "one")).stdout).toContain("A person unblocked it: the key is there.");
    const done = await project.ralph("unblock", "one");
    expect(done).toMatchObject({ code: 64 });
    expect(done.stderr).toContain("one is not blocked: it is done");
  });

  test("--all unblocks every task, and says when there is none", async () => {
    await blockedBy({ one: [[{ blocked: "no key" }]], two: [[{ blocked: "no disk" }]] });
    expect(exists(project, ".ralph/blocked-two.txt")).toBe(true);
    expect((await project.ralph("unblock", "--all")).stderr).toMatch(/^ralph: one .*\nralph: two .*\n {2}→/);
    expect(await printed("blocked")).toEqual([]);
    expect(await project.ralph("unblock", "--all")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "ralph: no task is blocked\n",
    });
    await works();
    expect(exists(project, ".ralph/blocked.txt")).toBe(false);
    expect(exists(project, ".ralph/blocked-two.txt")).toBe(false);
  });

  test("--filter takes a complexity or a word of the reason", async () => {
    await blockedBy({
      chart: [[{ blocked: "no key" }]],
      parser: [[{ blocked: "no key" }]],
      docs: [[{ blocked: "no disk" }]],
    });
    const freed = await project.ralph("unblock", "--filter", "ui_heavy", "--timeout-multiplier", "3.0");
    // ui_heavy, standard mode: 15 minutes three times, and that three times.
    expect(freed.stderr).toContain("ralph: chart is no longer blocked; 2h 15m each from now on\n");
    expect(await statuses()).toEqual({ chart: "todo", parser: "blocked", docs: "blocked" });
    expect((await project.ralph("unblock", "--filter", "Disk")).stderr).toContain("docs is no longer");
    expect(await project.ralph("unblock", "--filter", "moon")).toMatchObject({
      code: 0,
      stderr: 'ralph: no blocked task is "moon" or has it in its reason; blocked are parser (complex)\n',
    });
    expect(await statuses()).toEqual({ chart: "todo", parser: "blocked", docs: "todo" });
  });

  test("while the run is on is taken up without a restart", async () => {
    project = createProject({ tasks: ["stops", "slow"] });
    const onceBlocked = 'test -f key || { echo "<promise>BLOCKED:no key</promise>"; exit 0; }; ';
    project.script({
      stops: [[{ shell: `${onceBlocked} echo x > x.txt; echo "<promise>COMPLETE</promise>"` }]],
      slow: [[{ shell: `echo key > key; ${WAITS}` }, ...WORKS]],
    });
    project.commit();
    const running = project.start("run", "--keep-going");
    await until("the slow task is under way", () => running.stdout().includes("▸ slow"));
    const freed = await project.ralph("unblock", "stops");
    expect(freed.stderr).toContain("→ the run that is on takes it up");
    letGo();
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(exists(project, ".ralph/blocked.txt")).toBe(false);
  });

  test.each([
    [["unblock"], "say which task"],
    [["unblock", "onee"], 'Did you mean "one"?'],
    [["unblock", "one", "--all"], "exclude each other"],
    [["unblock", "one", "--timeout", "soon"], "expected a duration"],
    [["unblock", "one", "--timeout-multiplier", "0"], "a number above 0"],
    [["unblock", "--all", "--timeout", "1", "--timeout-multiplier", "2"], "exclude each other"],
  ])("%j is refused with what would be right", async (args, words) => {
    await blockedBy({ one: [[{ blocked: "no credentials" }]] });
    const refused = await project.ralph(...args);
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toContain(words);
    expect(await statuses()).toEqual({ one: "blocked" });
  });
});

describe("ralph blocked", () => {
  test("says why the agent cannot go on, and after how many attempts", async () => {
    await blockedBy({ says: [[{ blocked: "no credentials" }]], crashes: [CRASHES] });
    const entry = { last_timeout_seconds: expect.any(Number), complexity: "medium" };
    expect(await printed("blocked")).toEqual([
      {
        ...entry,
        id: "says",
        title: "make says",
        reason: "no credentials",
        attempts: 0,
        suggestion: "answer_needed",
        command: "ralph unblock says",
      },
      {
        ...entry,
        id: "crashes",
        title: "make crashes",
        reason: expect.stringContaining("2 failed iterations in a row; the last: ") as string,
        attempts: 2,
        suggestion: "manual_review",
        command: "ralph unblock crashes",
      },
    ]);
    const listed = await project.ralph("blocked");
    expect(listed.stdout).toMatch(/^says +make says +0 attempts +\S+.* each +no credentials\ncrashes /);
    const { stdout } = await project.ralph("blocked", "--suggest");
    expect(stdout).toMatch(/^says +make says +no credentials +answer_needed$/m);
    expect(stdout).toMatch(
      /^crashes +make crashes +2 failed iterations in a row; the last: exit code 3: .* manual_review$/m,
    );
    expect(stdout).toContain("         → settle what it says, then ralph unblock says\n");
  });

  test("suggests more time after timeouts", async () => {
    await blockedBy({ one: [[{ hang: true }]] }, "--timeout", "1s");
    expect(await printed("blocked")).toMatchObject([
      {
        id: "one",
        attempts: 2,
        last_timeout_seconds: 1,
        suggestion: "increase_timeout",
        command: "ralph unblock one --timeout 1m",
      },
    ]);
    expect((await project.ralph("blocked", "--suggest")).stdout).toBe(
      "one  make one  2 timeouts at 1s, 1s  increase_timeout\n     → ralph unblock one --timeout 1m\n",
    );
  });

  test("names the gate that is red", async () => {
    const claims: Steps = [{ append: { path: "a.txt", text: "a\n" } }, { promise: "COMPLETE" }];
    await blockedBy({ one: [claims] }, "--check", "false");
    expect(await printed("blocked")).toMatchObject([{ attempts: 2, suggestion: "fix_gate" }]);
    expect((await project.ralph("blocked", "--suggest")).stdout).toContain('gate "false" failed (exit 1)');
  });
});

describe("ralph inbox", () => {
  test("lists questions and blocked tasks as status.json does", async () => {
    project = createProject({ tasks: ["asks", "stops", "three"], config: CONFIG });
    project.script({ asks: [ASKS], stops: [[{ blocked: "no key" }]] }, [WORKS]);
    project.commit();
    expect(await project.ralph("run", "--keep-going")).toMatchObject({ code: 3 });
    const items = await printed("inbox");
    expect(items).toMatchObject([
      { task: "asks", kind: "decide", text: "WebSockets or polling?", options: ["sockets", "polling"] },
      { task: "stops", kind: "blocked", text: "no key", options: [] },
    ]);
    expect(items).toEqual((JSON.parse(project.read(".ralph/status.json")) as { inbox: unknown }).inbox);
    const { stdout } = await project.ralph("inbox");
    expect(stdout).toMatch(
      /^\? asks asks, for [\d.]+s now: WebSockets or polling\?\n {4}options: sockets, polling\n/,
    );
    expect(stdout).toContain('    → ralph decide asks "sockets"\n■ stops is blocked: no key\n');
    expect(stdout).toContain("    → settle what it says, then ralph unblock stops\n");
    project.write("TODO.md", project.read("TODO.md").replace("[ ] **stops**", "[x] **stops**"));
    await project.ralph("run", "--keep-going");
    expect(await printed("inbox")).toMatchObject([{ task: "asks" }]);
    expect(await printed("blocked")).toEqual([]);
  });
});

test.each(["inbox", "blocked"])(
  "ralph %s before the first run says so, and creates nothing",
  async (command) => {
    project = createProject();
    const { code, stdout, stderr } = await project.ralph(command);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^[^\n]+: ralph status\n$/);
    expect(await printed(command)).toEqual([]);
    expect(await project.ralph("unblock", "--all")).toMatchObject({ code: 0 });
    expect(await project.ralph("decide", "this")).toMatchObject({ code: 64 });
    expect(exists(project, ".git/ralph")).toBe(false);
  },
);

/** A run whose tasks all end blocked, after two attempts at most. */
async function blockedBy(
  script: Parameters<Project["script"]>[0],
  ...flags: readonly string[]
): Promise<void> {
  project = createProject({ tasks: Object.keys(script), config: CONFIG });
  project.script(script);
  project.commit();
  expect(await project.ralph("run", "--keep-going", ...flags)).toMatchObject({ code: 2 });
}

function letGo(): void {
  writeFileSync(join(project.env["HOME"] ?? "", "go"), "");
}

/** What stood in the way is settled. */
async function works(): Promise<void> {
  project.script({}, [WORKS]);
  project.commit();
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
}

async function statuses(): Promise<Record<string, string>> {
  const { tasks } = (await printed("status")) as { tasks: readonly { id: string; status: string }[] };
  return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
}

async function printed(...args: readonly string[]): Promise<unknown> {
  return JSON.parse((await project.ralph(...args, "--json")).stdout);
}

test("a question leaves the review fields of its story as they are, and its answer is used at once", async () => {
  project = createProject();
  const stories = ["US-001", "US-002", "US-003", "US-004"].map((id) => ({
    id,
    title: id,
    passes: false,
    reviewStatus: id === "US-001" ? "needs_review" : null,
    reviewCount: 2,
    reviewFeedback: "",
    notes: "",
  }));
  project.remove("TODO.md");
  project.write(".ralph/tasks.json", `${JSON.stringify({ project: "p", userStories: stories }, null, 2)}\n`);
  const slow: Steps = [TOLD_TO_GO, ...WORKS];
  project.script(
    { "US-001": [[{ decide: "WebSockets or polling?" }], [{ expectPrompt: "polling" }, ...WORKS]] },
    [slow],
  );
  project.commit("stories");
  const running = project.start("run", "--keep-going", "--skip-review");
  await until("it asks", () => exists(project, ".ralph/decide.txt"));
  const asked = JSON.parse(project.read(".ralph/tasks.json")) as { userStories: typeof stories };
  expect(asked.userStories[0]).toEqual(stories[0]);
  expect(await project.ralph("decide", "US-001", "polling")).toMatchObject({ code: 0 });
  tellToGo(project);
  expect(await running.finished).toMatchObject({ code: 0 });
  const { userStories } = JSON.parse(project.read(".ralph/tasks.json")) as { userStories: typeof stories };
  expect(userStories).toEqual(stories.map((story) => ({ ...story, passes: true })));
  expect(exists(project, ".ralph/decide.txt")).toBe(false);
  const runs = (await project.events()).filter(({ type }) => type === "run.started");
  expect(runs).toHaveLength(1);
});
