import { join } from "node:path";
import { openBrowser, openPage } from "../web/browser.ts";
import { openTerminal } from "./terminal.ts";
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

const CONFIG = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n';
const APPROVED_BY_PERSON = `${CONFIG}[verify]\napprove = "person"\n`;
const BLOCKS: Steps = [{ promise: "BLOCKED:no key" }];

let project: Project;
afterEach(() => project.dispose());

const git = (...args: string[]): string => project.git(...args);

async function statuses(): Promise<Record<string, string>> {
  const { tasks } = JSON.parse((await project.ralph("status", "--json")).stdout) as {
    readonly tasks: readonly { readonly id: string; readonly status: string }[];
  };
  return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
}

async function says(code: number, ...args: string[]): Promise<string> {
  const { stdout, stderr, code: actual } = await project.ralph(...args);
  expect([actual, args.join(" "), stdout + stderr]).toEqual([code, args.join(" "), stdout + stderr]);
  return stdout + stderr;
}

describe("a person's approval", () => {
  test("holds accepted work beside the branch, and the others go on", async () => {
    project = createProject({ tasks: ["one", "two"], config: APPROVED_BY_PERSON });
    const base = git("rev-parse", "HEAD");
    const run = await says(3, "run");
    expect(run).toContain("waits for your approval");
    expect(await statuses()).toEqual({ one: "review", two: "review" });
    expect(git("rev-parse", "HEAD")).toBe(base);
    expect([exists(project, "one.txt"), exists(project, "two.txt")]).toEqual([false, false]);
    const items = JSON.parse((await project.ralph("inbox", "--json")).stdout) as { kind: string }[];
    expect(items.map(({ kind }) => kind)).toEqual(["review", "review"]);
    expect(await says(0, "inbox")).toContain("ralph approve one, or: ralph send-back one");
    expect(await says(0, "diff", "one")).toContain("+one");

    // Nothing is spent on it before the person acts.
    await says(3, "run");
    expect((await project.history()).length).toBe(2);

    expect(await says(0, "approve", "o")).toContain("one is approved");
    await says(3, "run");
    expect(await statuses()).toEqual({ one: "done", two: "review" });
    expect([exists(project, "one.txt"), exists(project, "two.txt")]).toEqual([true, false]);
    expect(project.read("TODO.md")).toContain("- [x] **one**");
    const answered = JSON.parse(await says(0, "approve", "two", "--json")) as { done: boolean };
    expect(answered.done).toBe(true);
    await says(0, "run");
    expect(exists(project, "two.txt")).toBe(true);
    expect((await project.history()).length).toBe(2);
    expect(await says(0, "verify", "one")).toContain("a person");
  });

  test("sends work back with words that the next iteration has to answer", async () => {
    project = createProject({ tasks: ["one"], config: APPROVED_BY_PERSON });
    const better = 'echo >> "$HOME/count"; test $(wc -l < "$HOME/count") -lt 3 || echo and more >> one.txt';
    project.script({ one: [[...WORKS, { shell: better }]] });
    project.commit();
    await says(3, "run");
    expect(await says(0, "send-back", "one", "one.txt says too little")).toContain("sent back");
    expect(await says(3, "run")).toContain("one is sent back: one.txt says too little");
    const verdicts = (await project.history()).map(({ verdict }) => verdict);
    expect(verdicts).toEqual(["accepted", "rejected", "accepted"]);
    const prompt = project.read(".ralph/logs/iteration-002.prompt.md");
    expect(prompt).toContain("In iteration 1 a person looked at your work and asks for changes:");
    expect(prompt).toContain("Finding 1: one.txt says too little");
    expect(await says(0, "diff", "one")).toContain("+and more");
    await says(0, "approve", "one");
    await says(0, "run");
    expect(project.read("one.txt")).toBe("one\nand more\n");
  });

  test("is asked for one task only where its own property says so, and given in decide.txt too", async () => {
    project = createProject({ tasks: ["one"] });
    project.write(
      "TODO.md",
      "# Tasks\n\n- [ ] **one**: make one\n  - approve: person\n- [ ] **two**: make two\n",
    );
    project.write("roadmap.md", project.read("TODO.md"));
    project.remove("TODO.md");
    project.commit("roadmap");
    await says(3, "run", "--source", "roadmap.md");
    expect(await statuses()).toEqual({ one: "review", two: "done" });
    const letter = project.read(".ralph/decide.txt");
    project.write(".ralph/decide.txt", `${letter.trimEnd()}\napprove\n`);
    await says(0, "run", "--source", "roadmap.md");
    expect(await statuses()).toEqual({ one: "done", two: "done" });
  });

  test("comes before the merge of a worktree", async () => {
    project = createProject({ tasks: ["one"], config: APPROVED_BY_PERSON });
    await says(3, "run", "--worktree");
    expect(exists(project, "one.txt")).toBe(false);
    await says(0, "approve", "one");
    await says(0, "run", "--worktree");
    expect(exists(project, "one.txt")).toBe(true);
    expect((await project.history()).length).toBe(1);
  });

  test("is refused for what does not wait for it", async () => {
    project = createProject({ tasks: ["one", "other"] });
    expect(await says(64, "approve", "one")).toContain("does not wait for an approval");
    expect(await says(64, "approve", "nothing")).toContain('there is no task "nothing"');
    expect(await says(64, "approve", "o")).toContain('"o" may be one, other');
    expect(await says(64, "send-back", "one", " ")).toContain("nothing says what is to be changed");
  });
});

describe("ralph skip", () => {
  test("leaves a task out of all runs until it is taken back", async () => {
    project = createProject({ tasks: ["one", "two"] });
    expect(await says(0, "skip", "one")).toContain("one is skipped");
    expect(await says(0, "run")).toContain("1 was skipped");
    expect(await statuses()).toEqual({ one: "skipped", two: "done" });
    expect(await says(0, "why", "one")).toContain("is skipped");
    expect(await says(0, "skip", "one", "--undo")).toContain("worked on again");
    await says(0, "run");
    expect(await statuses()).toEqual({ one: "done", two: "done" });
  });

  test("says why a task that depends on it cannot be worked on", async () => {
    project = createProject({ tasks: ["one"] });
    project.write("roadmap.md", "- [ ] **one**: make one\n- [ ] **two**: make two\n  - depends: one\n");
    project.commit("roadmap");
    await says(0, "skip", "one", "--json");
    const run = await says(2, "run", "--source", "roadmap.md");
    expect(run).toContain("two waits for one, which is skipped (ralph skip one --undo)");
  });

  test("ends the agent of a task that is under way", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [[TOLD_TO_GO, ...WORKS]] }, [WORKS]);
    project.commit();
    const running = project.start("run");
    await until("one is under way", () => running.stdout().includes("▸ one"));
    await says(0, "skip", "one");
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(await statuses()).toEqual({ one: "skipped", two: "done" });
  });

  test("of the only task under way is no reason for another exit code", async () => {
    project = createProject();
    project.script({ one: [[TOLD_TO_GO, ...WORKS]] });
    project.commit();
    const running = project.start("run");
    await until("one is under way", () => running.stdout().includes("▸ one"));
    await says(0, "skip", "one");
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(await says(64, "retry", "one")).toContain("ralph skip one --undo");
  });

  test.each([
    ["blocked", BLOCKS, 2],
    ["decide", [{ promise: "DECIDE:which one?" }], 3],
  ] as const)(
    "of a task that waits for a person withdraws %s.txt until it is taken back",
    async (file, steps, code) => {
      project = createProject({ tasks: ["one", "two"] });
      project.script({ one: [steps] }, [WORKS]);
      project.commit();
      const letter = `.ralph/${file}.txt`;
      await says(code, "run");
      expect(exists(project, letter)).toBe(true);
      await says(0, "skip", "one");
      expect(JSON.parse(await says(0, "inbox", "--json"))).toEqual([]);
      await says(0, "run");
      expect(exists(project, letter)).toBe(false);
      await says(0, "skip", "one", "--undo");
      await says(code, "run");
      expect(exists(project, letter)).toBe(true);
    },
  );
});

test("ralph pause lets what is under way end, and ralph resume begins the next iteration", async () => {
  project = createProject({ tasks: ["one", "two"] });
  project.script({ one: [[TOLD_TO_GO, ...WORKS]] }, [WORKS]);
  project.commit();
  expect(await says(0, "pause")).toContain("no run is under way");
  const running = project.start("run");
  await until("one is under way", () => running.stdout().includes("▸ one"));
  expect(await says(0, "pause")).toContain("no further iteration begins");
  expect(await says(0, "pause")).toContain("paused already");
  tellToGo(project);
  await until("one is accepted", () => running.stdout().includes("accepted"));
  await until("it waits", () => running.stdout().includes("paused (ralph resume goes on)"));
  expect(await statuses()).toEqual({ one: "done", two: "todo" });
  expect(JSON.parse(await says(0, "status", "--json"))).toMatchObject({
    run: { state: "waiting", paused: true },
  });
  expect(await says(0, "resume")).toContain("the run goes on");
  expect(await running.finished).toMatchObject({ code: 0 });
  expect(await statuses()).toEqual({ one: "done", two: "done" });
});

describe("ralph retry", () => {
  test("unblocks a task and runs just it", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [BLOCKS], two: [BLOCKS] });
    project.commit();
    await says(2, "run");
    project.script({ one: [WORKS], two: [WORKS] });
    await says(0, "retry", "on");
    expect(await statuses()).toEqual({ one: "done", two: "blocked" });
    expect(await says(64, "retry", "one")).toContain("one is done\n  → take it back: ralph undo one");
  });

  test("leaves it to a run that is open", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.script({ one: [BLOCKS], two: [[TOLD_TO_GO, ...WORKS]] });
    project.commit();
    const running = project.start("run");
    await until("two is under way", () => running.stdout().includes("▸ two"));
    project.script({ one: [WORKS], two: [[TOLD_TO_GO, ...WORKS]] });
    expect(await says(0, "retry", "one")).toContain("the run that is on takes it up");
    tellToGo(project);
    expect(await running.finished).toMatchObject({ code: 0 });
  });
});

describe('ralph "goal"', () => {
  const GOAL = "make the page say hello";

  test("says what it will do, works in a worktree, and says what to type next where there is no terminal", async () => {
    project = createProject();
    project.script({}, [[{ shell: "echo hello > page.txt" }, { promise: "COMPLETE" }]]);
    project.commit();
    const said = await says(3, GOAL, "--check", "test -f page.txt");
    expect(said).toContain(`Goal     ${GOAL}`);
    expect(said).toContain("Agent    demo");
    expect(said).toContain("Checks   test -f page.txt");
    expect(said).toContain("Limits   10 iterations");
    expect(said).toContain("page.txt  +1 -0");
    expect(exists(project, "page.txt")).toBe(false);
    const [, id = ""] = /ralph approve (\S+) &&/.exec(said) ?? [];
    await says(0, "approve", id);
    await says(0, "run", GOAL, "--worktree", "--check", "test -f page.txt");
    expect(project.read("page.txt")).toBe("hello\n");
  });

  test("asks once, and for a decision about the result, on a terminal", async () => {
    project = createProject();
    const work = 'echo >> "$HOME/count"; echo "hello $(wc -l < "$HOME/count")" > page.txt';
    project.script({}, [[{ shell: work }, { promise: "COMPLETE" }]]);
    project.commit();
    const terminal = openTerminal(project, [GOAL], { columns: 120, rows: 50 });
    try {
      await terminal.shows("Start? [Y/n]");
      terminal.type("Enter");
      await terminal.shows("[m]erge", "page.txt");
      terminal.type("g", "Enter");
      await terminal.shows("What is to be changed?");
      terminal.type("count higher", "Enter");
      await terminal.shows("is sent back: count higher");
      await until("it has worked again", () => project.read("../home/count") === "\n\n");
      await terminal.shows("[m]erge", "accepted");
      await until("it asks again", () => (terminal.screen().match(/\[m\]erge/g) ?? []).length === 2);
      terminal.type("m", "Enter");
      expect((await terminal.ended()).code).toBe(0);
      expect(project.read("page.txt")).toBe("hello 2\n");
    } finally {
      terminal.close();
    }
  });

  test("starts nothing without a yes, and names doctor where no agent is installed", async () => {
    project = createProject();
    const terminal = openTerminal(project, [GOAL], { columns: 120, rows: 50 });
    await terminal.shows("Start? [Y/n]");
    terminal.type("n", "Enter");
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    terminal.close();
    expect(await project.history()).toEqual([]);
    project.remove(".ralph/ralph.toml");
    project.commit("no configuration");
    expect(await says(64, GOAL)).toContain("no coding agent is installed here\n  → ralph doctor");
  });
});

test("on a phone: a run that stays goes on with comments on lines, and with the approval", async () => {
  project = createProject({ tasks: ["one"], config: APPROVED_BY_PERSON });
  const work = 'echo >> "$HOME/count"; echo "version $(wc -l < "$HOME/count")" > one.txt';
  project.script({}, [[{ shell: work }, { promise: "COMPLETE" }]]);
  project.commit();
  const browser = await openBrowser();
  try {
    const web = project.start("web");
    const running = project.start("run", "--stay");
    await until("the address is printed", () => web.stdout().includes("\n"));
    const { page, complaints } = await openPage(browser, { width: 390, scheme: "dark" });
    await page.goto(web.stdout().trim());
    await page.getByRole("link", { name: "Look at the change" }).click();
    await page.getByRole("button", { name: "Comment on line 1" }).click();
    await page.getByLabel("Comment on one.txt:1").fill("say which version of what");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await page.getByRole("button", { name: "Send back one" }).click();
    const prompt = (): string =>
      exists(project, ".ralph/logs/iteration-002.prompt.md")
        ? project.read(".ralph/logs/iteration-002.prompt.md")
        : "";
    const finding = "Finding 1: one.txt:1: say which version of what";
    await until("the next prompt has it", () => prompt().includes(finding));
    await page.getByText("version 2").waitFor();
    await page.screenshot({
      path: process.env["TASK_SHOT"] ?? join(project.root, "..", "task.png"),
      fullPage: true,
    });
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    expect(await running.finished).toMatchObject({ code: 0 });
    await page.getByText("was accepted by a person").waitFor();
    expect(complaints).toEqual([]);
    web.child.kill("SIGTERM");
    await web.finished;
  } finally {
    await browser.close();
  }
  expect(project.read("one.txt")).toBe("version 2\n");
});
