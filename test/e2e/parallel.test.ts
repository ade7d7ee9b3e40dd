import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, until, type Finished, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** An agent in sh: what it does may depend on the task, how often it was called for it, and what happened elsewhere. */
function parallelProject(tasks: readonly string[], agent: string, more = ""): Project {
  project = createProject({
    tasks,
    config: `agent = "stub"
${more}
[agents.stub]
command = ["sh", ".ralph/agent.sh"]
`,
  });
  project.write(
    ".ralph/agent.sh",
    `common="$RALPH_DIR/../.git"
cat > "$common/prompt-$RALPH_TASK_ID-$RALPH_ITERATION_NUMBER"
n=$(cat "$common/calls-$RALPH_TASK_ID" 2>/dev/null || echo 0); n=$((n + 1))
echo $n > "$common/calls-$RALPH_TASK_ID"
begun() { until test -e "$common/calls-$1"; do sleep 0.05; done; }
told_to_go() { until test -e "$common/go"; do sleep 0.05; done; }
${agent}
`,
  );
  project.commit("agent");
  return project;
}

const DONE = "echo '<promise>COMPLETE</promise>'";
const WORKS = `echo "$RALPH_TASK_ID" > "$RALPH_TASK_ID.txt"; ${DONE}`;
const run = (...flags: readonly string[]): Promise<Finished> => project.ralph("run", ...flags);

async function statuses(): Promise<Readonly<Record<string, string>>> {
  const { tasks } = JSON.parse((await project.ralph("status", "--json")).stdout) as {
    tasks: { id: string; status: string }[];
  };
  return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
}

function worktrees(): readonly string[] {
  return (
    project
      .git("worktree", "list", "--porcelain")
      .match(/^worktree .*/gm)
      ?.slice(1) ?? []
  );
}

describe("several lanes", () => {
  test("twenty tasks in eight lanes, some of them liars: what is true is merged, and nothing else", async () => {
    const tasks = Array.from({ length: 20 }, (_, index) => `task-${String(index + 1).padStart(2, "0")}`);
    parallelProject(
      tasks,
      `sleep 0.$((\${#RALPH_TASK_ID} % 3))
case $RALPH_TASK_ID in
*5) if [ $n = 1 ]; then ${DONE}; else ${WORKS}; fi ;;
*) ${WORKS} ;;
esac`,
    );
    expect(await run("--parallel", "8")).toMatchObject({ code: 0 });
    expect(new Set(Object.values(await statuses()))).toEqual(new Set(["done"]));
    for (const task of tasks) expect(project.read(`${task}.txt`)).toBe(`${task}\n`);
    expect(project.read("TODO.md")).not.toContain("- [ ]");
    expect(project.git("status", "--porcelain")).toBe("");
    expect(project.git("log", "--format=%s", "--grep", "ralph(task").split("\n")).toHaveLength(20);
    expect(worktrees()).toEqual([]);
    expect(project.leftovers()).toEqual([]);
  });

  test("tasks that change the same line: the later one is told, and brings both together", async () => {
    project = parallelProject(
      ["one", "two"],
      `if [ $n = 1 ]; then echo "$RALPH_TASK_ID" > shared.txt; begun one; begun two
else git merge -q main || { printf 'one\\ntwo\\n' > shared.txt; git add -A; git commit -qm together; }; fi
${DONE}`,
    );
    expect(await run("--parallel", "2")).toMatchObject({ code: 0 });
    expect(project.read("shared.txt")).toBe("one\ntwo\n");
    const failed = (await project.events()).filter(({ type }) => type === "merge.failed");
    expect(failed).toMatchObject([{ conflicts: ["shared.txt"] }]);
    const told = readdirSync(join(project.root, ".git"))
      .filter((name) => name.startsWith("prompt-"))
      .map((name) => project.read(`.git/${name}`))
      .filter((prompt) => prompt.includes("conflicts in shared.txt"));
    expect(told).toHaveLength(1);
  });

  test("each green and together red: the second is not merged, and its next prompt shows the gate", async () => {
    parallelProject(
      ["one", "two"],
      `if [ $n = 1 ]; then echo done > "$RALPH_TASK_ID.txt"; begun one; begun two; ${DONE}
else echo '<promise>BLOCKED:they exclude each other</promise>'; fi`,
      '[[gates]]\nname = "alone"\ncommand = "! { test -e one.txt && test -e two.txt; } || { echo both are there; false; }"\n',
    );
    expect(await run("--parallel", "2")).toMatchObject({ code: 2 });
    const merged = ["one.txt", "two.txt"].filter((file) => existsSync(join(project.root, file)));
    expect(merged).toHaveLength(1);
    const prompts = readdirSync(join(project.root, ".git")).filter((name) => name.startsWith("prompt-"));
    const told = prompts
      .map((name) => project.read(`.git/${name}`))
      .filter((text) => text.includes("but merged into main"));
    expect(told).toHaveLength(1);
    // The work is kept, and a person can find it.
    expect(worktrees()).toHaveLength(1);
    const [listed] = JSON.parse((await project.ralph("worktrees", "--json")).stdout) as { branch: string }[];
    expect(project.git("branch", "--list", listed?.branch ?? "none")).not.toBe("");
    expect((await project.ralph("worktrees", "--clean")).stdout).toContain("not merged");
  });

  test("a task that is blocked does not stop the others", async () => {
    parallelProject(
      ["one", "two", "three"],
      `if [ $RALPH_TASK_ID = one ]; then echo '<promise>BLOCKED:no</promise>'; else ${WORKS}; fi`,
    );
    expect(await run("--parallel", "2")).toMatchObject({ code: 2 });
    expect(await statuses()).toEqual({ one: "blocked", two: "done", three: "done" });
  });
});

describe("a branch whose work was accepted", () => {
  /** Accepted, and held up by what lies in the user's checkout. */
  async function acceptedOne(agent = WORKS): Promise<string> {
    parallelProject(["one"], `${agent} && git add -A && git commit -qm work`);
    project.write("README.md", "a person's\n");
    expect(await run("--worktree")).toMatchObject({ code: 2 });
    project.git("checkout", "--quiet", "README.md");
    return project.git("rev-parse", "ralph/one");
  }

  test("is moved by another agent: what was accepted is merged, and the rest is told", async () => {
    parallelProject(
      ["zero", "one", "evil"],
      `case $RALPH_TASK_ID in
one) until test -e "$common/gated-zero"; do sleep 0.05; done; ${WORKS} ;;
evil) until test -e "$common/gated-one"; do sleep 0.05; done; sleep 1
  echo stolen > stolen.txt; git add -A; git commit -qm stolen
  git update-ref refs/heads/ralph/one HEAD; git reset -q --hard HEAD~1; touch "$common/moved"; ${WORKS} ;;
*) ${WORKS} ;;
esac`,
    );
    // A merge is tried out on no branch: the first one waits there until the other's branch is moved.
    const common = join(project.root, ".git");
    project.write(
      "gate.sh",
      `branch=$(git branch --show-current); touch "${common}/gated-\${branch#ralph/}"
test -n "$branch" || until test -e "${common}/moved"; do sleep 0.05; done\n`,
    );
    const config = project.read(".ralph/ralph.toml");
    project.write(".ralph/ralph.toml", `${config}[[gates]]\nname = "slow"\ncommand = "sh gate.sh"\n`);
    project.commit("a gate");
    const { code, stdout } = await run("--parallel", "3");
    expect(code).toBe(0);
    expect(project.read("one.txt")).toBe("one\n");
    expect(existsSync(join(project.root, "stolen.txt"))).toBe(false);
    expect(stdout).toContain("ralph/one was moved away from the accepted commit");
    expect((await project.ralph("why", "one")).stdout).toContain("was moved away from the accepted commit");
    const stolen = project.git("log", "--all", "--format=%H", "--grep", "^stolen$");
    expect(project.git("branch", "--format=%(refname)", "--contains", stolen)).toContain("/one");
  });

  test("gets further commits: only what was accepted is merged, and the rest stays on the branch", async () => {
    const accepted = await acceptedOne();
    const [root = ""] = worktrees().map((line) => line.slice("worktree ".length));
    project.write("more.txt", "more\n");
    project.git("-C", root, "commit", "--quiet", "--allow-empty", "-m", "by hand");
    const { code, stdout } = await run("--worktree");
    expect(code).toBe(0);
    expect(project.read("one.txt")).toBe("one\n");
    expect(stdout).toContain(`ralph/one has 1 commit on top of the accepted commit ${accepted.slice(0, 7)}`);
    expect(project.git("log", "-1", "--format=%s", "ralph/merged/one")).toBe("by hand");
  });

  test("is moved, and the accepted commit conflicts: its agent goes on when the branch is put back", async () => {
    const joins = "git merge -q main || { echo both > one.txt; git add -A; git commit -qm both; }";
    const accepted = await acceptedOne(`test $n = 1 || { ${joins}; ${DONE}; exit; }; ${WORKS}`);
    project.git("update-ref", "refs/heads/ralph/one", "main");
    project.write("one.txt", "somebody's\n");
    project.commit("the same file");
    const held = await run("--worktree");
    expect(held.code).toBe(2);
    const command = `git update-ref refs/heads/ralph/one ${accepted}`;
    expect(held.stdout).toContain(`somebody moved ralph/one; put it back: ${command}\n`);
    project.git(...command.split(" ").slice(1));
    expect(await run("--worktree")).toMatchObject({ code: 0 });
    expect(project.read("one.txt")).toBe("both\n");
  });

  test("is deleted: its commit is kept all the same, and merged", async () => {
    const accepted = await acceptedOne();
    project.git("update-ref", "-d", "refs/heads/ralph/one");
    for (const line of worktrees())
      project.git("worktree", "remove", "--force", line.slice("worktree ".length));
    project.git("reflog", "expire", "--expire=now", "--all");
    project.git("gc", "--quiet", "--prune=now");
    const { code, stdout } = await run("--worktree");
    expect(code).toBe(0);
    expect(project.read("one.txt")).toBe("one\n");
    expect(stdout).toContain(`somebody deleted ralph/one; the accepted commit ${accepted.slice(0, 7)}`);
  });

  test("loses its commit: the task waits for a person, who is told what to type", async () => {
    const accepted = await acceptedOne();
    for (const ref of project.git("for-each-ref", "--format=%(refname)", "refs/ralph/accepted").split("\n"))
      project.git("update-ref", "-d", ref);
    project.git("update-ref", "-d", "refs/heads/ralph/one");
    for (const line of worktrees())
      project.git("worktree", "remove", "--force", line.slice("worktree ".length));
    project.git("reflog", "expire", "--expire=now", "--all");
    project.git("gc", "--quiet", "--prune=now");
    const { code, stdout } = await run("--worktree");
    expect(code).toBe(2);
    expect(stdout).toContain(`the accepted commit ${accepted} of ralph/one is no longer in this repository`);
    const { stdout: inbox } = await project.ralph("inbox");
    expect(inbox).toContain("one is blocked: its work waits on ralph/one: the accepted commit");
    expect(inbox).toContain("ralph reset --task one");
    await project.ralph("reset", "--task", "one");
    expect(await run("--worktree")).toMatchObject({ code: 0 });
    expect(project.read("one.txt")).toBe("one\n");
  });
});

describe("a set-up", () => {
  test("that fails blocks its task, with what it said", async () => {
    parallelProject(["one"], WORKS, '[worktree]\nsetup = "echo no such registry; exit 3"\n');
    expect(await run("--worktree")).toMatchObject({ code: 2 });
    expect((await project.ralph("status")).stdout).toContain("no such registry");
    expect(existsSync(join(project.root, ".git", "calls-one"))).toBe(false);
  });

  test("runs once in each worktree, and finds the files that were copied in", async () => {
    parallelProject(
      ["one"],
      `cat .env made > "$RALPH_TASK_ID.txt"; ${DONE}`,
      '[worktree]\nsetup = "cat .env > made"\ninclude = [".env"]\n',
    );
    project.write(".gitignore", ".env\nmade\n");
    project.commit("ignore");
    project.write(".env", "SETTING=1\n");
    expect(await run("--worktree")).toMatchObject({ code: 0 });
    expect(project.read("one.txt")).toBe("SETTING=1\nSETTING=1\n");
    expect(project.git("ls-files", ".env", "made")).toBe("");
  });
});

describe("ralph cancel in one of several lanes", () => {
  test("ends an agent that ignores TERM, and the others are not disturbed", async () => {
    parallelProject(
      ["one", "two", "three"],
      `if [ $RALPH_TASK_ID = one ]; then trap '' TERM; while :; do sleep 0.1; done; else sleep 0.3; ${WORKS}; fi`,
    );
    const running = project.start("run", "--parallel", "2");
    await until("the agents work", () => existsSync(join(project.root, ".git", "calls-one")));
    expect(await project.ralph("cancel", "one")).toMatchObject({
      code: 0,
      stdout: "Cancelled Ralph loop for one at iteration 1/30\n",
    });
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(await statuses()).toEqual({ one: "cancelled", two: "done", three: "done" });
    expect(project.leftovers()).toEqual([]);
  });

  test("--all under load ends the run, and nothing is left running", async () => {
    const tasks = ["one", "two", "three", "four", "five", "six"];
    parallelProject(tasks, "while :; do :; done");
    const running = project.start("run", "--parallel", "6");
    await until("all work", () =>
      tasks.every((task) => existsSync(join(project.root, ".git", `calls-${task}`))),
    );
    expect(await project.ralph("cancel", "--all")).toMatchObject({ code: 0 });
    expect(await running.finished).toMatchObject({ code: 130 });
    expect(project.leftovers()).toEqual([]);
  });
});

describe("the user's checkout", () => {
  test("with uncommitted changes is not touched: the work waits, and the next run brings it", async () => {
    parallelProject(["one"], WORKS);
    project.write("mine.txt", "committed\n");
    project.commit("mine");
    project.write("mine.txt", "not yet committed\n");
    const waits = await run("--worktree");
    expect(waits).toMatchObject({ code: 2 });
    expect(waits.stdout).toContain("is checked out");
    expect(project.read("mine.txt")).toBe("not yet committed\n");
    expect(existsSync(join(project.root, "one.txt"))).toBe(false);
    project.commit("now it is");
    // As the sentence says, without any flag.
    expect(await run()).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).toContain("- [x] **one**");
    expect(project.read("one.txt")).toBe("one\n");
    expect(project.read("mine.txt")).toBe("not yet committed\n");
  });

  test("that keeps a result waiting is named in the same words everywhere, and unblock tries the merge again", async () => {
    parallelProject(["one"], WORKS);
    project.write("mine.txt", "committed\n");
    project.commit("mine");
    project.write("mine.txt", "not yet committed\n");
    const waits = await run("--worktree");
    expect(waits.stdout).toContain("settle it, then: ralph unblock one");
    const status = JSON.parse((await project.ralph("status", "--json")).stdout) as {
      inbox: { task: string; kind: string; text: string }[];
      tasks: { status: string; blocked_reason: string }[];
    };
    const [item] = status.inbox;
    expect(status.inbox).toHaveLength(1);
    expect(item).toMatchObject({ task: "one", kind: "blocked" });
    expect(item?.text).toMatch(
      /^its work waits on ralph\/one: main is checked out in .*uncommitted changes \(mine\.txt\)$/,
    );
    expect(status.tasks[0]).toMatchObject({ status: "blocked", blocked_reason: item?.text });
    const inbox = (await project.ralph("inbox")).stdout;
    expect(inbox).toContain(`one is blocked: ${item?.text ?? ""}`);
    expect(inbox).toContain("→ commit or put away what is in the way, then ralph unblock one");
    const blocked = JSON.parse((await project.ralph("blocked", "--json")).stdout) as unknown[];
    expect(blocked).toMatchObject([{ id: "one", reason: item?.text, command: "ralph unblock one" }]);
    expect((await project.ralph("why")).stdout).toContain("ralph unblock one");

    const still = await project.ralph("unblock", "one");
    expect(still).toMatchObject({ code: 2 });
    expect(still.stderr).toContain(`one still waits: ${item?.text ?? ""}`);
    expect(existsSync(join(project.root, "one.txt"))).toBe(false);
    project.commit("now it is");
    const merged = await project.ralph("unblock", "one");
    expect(merged).toMatchObject({ code: 0 });
    expect(merged.stderr).toContain("one is merged into main");
    expect(project.read("one.txt")).toBe("one\n");
    expect(await project.ralph("inbox")).toMatchObject({
      stdout: expect.stringContaining("Nothing waits") as string,
    });
  });

  test("may go on meanwhile: what the user commits stays, and the merges come on top", async () => {
    parallelProject(["one", "two"], `told_to_go; ${WORKS}`);
    const running = project.start("run", "--parallel", "2");
    await until("the agents work", () => existsSync(join(project.root, ".git", "calls-two")));
    project.write("mine.txt", "mine\n");
    project.commit("mine");
    project.write(".git/go", "");
    expect(await running.finished).toMatchObject({ code: 0 });
    for (const file of ["mine.txt", "one.txt", "two.txt"]) expect(project.git("ls-files", file)).toBe(file);
  });

  test("on a branch of its own keeps it: the base moves without it", async () => {
    parallelProject(["one"], `told_to_go; ${WORKS}`);
    const running = project.start("run", "--worktree");
    await until("the agent works", () => existsSync(join(project.root, ".git", "calls-one")));
    project.git("switch", "-q", "-c", "elsewhere");
    project.write(".git/go", "");
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(existsSync(join(project.root, "one.txt"))).toBe(false);
    expect(project.git("show", "main:one.txt")).toBe("one");
    expect(project.git("show", "main:TODO.md")).toContain("- [x] **one**");
    expect(await run("--worktree")).toMatchObject({ code: 0 });
  });
});

describe("with the branches as the result", () => {
  test("nothing is merged, and the run is complete", async () => {
    parallelProject(["one", "two"], WORKS, '[git]\nmerge = "none"\n');
    expect(await run("--parallel", "2")).toMatchObject({ code: 0 });
    expect(existsSync(join(project.root, "one.txt"))).toBe(false);
    expect(project.git("show", "ralph/one:one.txt")).toBe("one");
  });
});

describe("ralph undo", () => {
  test("takes the last merge back; the work is still there as a branch, and the task is to do again", async () => {
    parallelProject(["one", "two"], WORKS);
    await run("--worktree");
    expect(await project.ralph("verify", "two")).toMatchObject({ code: 0 });
    const before = project.git("rev-parse", "main~1^{tree}");
    expect(await project.ralph("undo")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("ralph/merged/two") as string,
    });
    expect(project.git("rev-parse", "main^{tree}")).toBe(before);
    expect(project.git("show", "ralph/merged/two:two.txt")).toBe("two");
    expect(await statuses()).toEqual({ one: "done", two: "todo" });
    expect(await project.ralph("undo")).toMatchObject({ code: 0 });
    expect(existsSync(join(project.root, "one.txt"))).toBe(false);
    expect(await project.ralph("undo")).toMatchObject({ code: 1 });
    expect(await run("--worktree")).toMatchObject({ code: 0 });
    expect(project.read("two.txt")).toBe("two\n");
  });
});

describe("killed", () => {
  test("at any moment: nothing is lost, nothing is done twice", async () => {
    const tasks = ["one", "two", "three", "four"];
    parallelProject(tasks, `sleep 0.2; ${WORKS}`);
    for (const ms of [150, 300, 450, 600, 750]) {
      const running = project.start("run", "--parallel", "2");
      const timer = setTimeout(() => running.child.kill("SIGKILL"), ms);
      await running.finished;
      clearTimeout(timer);
    }
    expect(await run("--parallel", "2")).toMatchObject({ code: 0 });
    for (const task of tasks) expect(project.read(`${task}.txt`)).toBe(`${task}\n`);
    expect(project.git("log", "--format=%s", "--grep", "^ralph(").split("\n")).toHaveLength(tasks.length);
    expect(project.git("status", "--porcelain")).toBe("");
    expect(worktrees()).toEqual([]);
    expect(project.leftovers()).toEqual([]);
  });
});

describe("what agents and people do to lanes", () => {
  test("an agent that deletes its worktree gets it again", async () => {
    parallelProject(
      ["one", "two"],
      `if [ $RALPH_TASK_ID$n = one1 ]; then git worktree remove --force "$PWD"; ${DONE}; else ${WORKS}; fi`,
    );
    expect(await run("--parallel", "2")).toMatchObject({ code: 0 });
    expect(await statuses()).toEqual({ one: "done", two: "done" });
    expect(worktrees()).toEqual([]);
  });

  test("a task file that git does not know is marked where it lies", async () => {
    parallelProject(["one", "two"], WORKS);
    project.git("rm", "--quiet", "--cached", "TODO.md");
    project.write(".gitignore", "TODO.md\n");
    project.git("add", ".gitignore");
    project.git("commit", "--quiet", "--message", "ignored");
    expect(await run("--parallel", "2")).toMatchObject({ code: 0 });
    expect(project.read("TODO.md")).not.toContain("[ ]");
    expect(project.git("status", "--porcelain")).toBe("");
  });

  test("a branch whose name is not ASCII is renamed when it is merged", async () => {
    parallelProject([], `echo x > x.txt; ${DONE}`);
    project.remove("TODO.md");
    project.write(
      ".ralph/tasks.json",
      JSON.stringify({ project: "p", userStories: [{ id: "ünï", title: "t", passes: false }] }),
    );
    project.commit("stories");
    expect(await run("--worktree")).toMatchObject({ code: 0 });
    expect(project.git("-c", "core.quotePath=false", "branch", "--list", "ralph/*").trim()).toBe(
      "ralph/merged/ünï",
    );
  });

  test("work of others that is merged in place is nobody else's change", async () => {
    parallelProject(
      ["one", "two"],
      `if [ $RALPH_TASK_ID = one ]; then ${WORKS}; else sleep 1.5; echo '<promise>COMPLETE</promise>'; fi`,
      '[[gates]]\nname = "slow"\ncommand = "sleep 0.7"\n',
    );
    const running = project.start("run", "--worktree", "--task", "one");
    await until("it is accepted", () => running.stdout().includes("accepted"));
    running.child.kill("SIGKILL");
    await running.finished;
    expect(await run()).toMatchObject({ code: 2 });
    expect(await statuses()).toEqual({ one: "done", two: "blocked" });
  });

  test("work that is cancelled while its gates run is not merged", async () => {
    parallelProject(
      ["one", "two"],
      WORKS,
      `[[gates]]
name = "slow"
command = "test ! -e one.txt || { cd $(git rev-parse --git-common-dir); touch checking; until test -e go; do sleep 0.05; done; }"
`,
    );
    const running = project.start("run", "--parallel", "2");
    await until("the gate runs", () => existsSync(join(project.root, ".git", "checking")));
    expect(await project.ralph("cancel", "one")).toMatchObject({ code: 0 });
    project.write(".git/go", "");
    expect(await running.finished).toMatchObject({ code: 0 });
    expect(await statuses()).toEqual({ one: "cancelled", two: "done" });
    expect(existsSync(join(project.root, "one.txt"))).toBe(false);
    expect(await run()).toMatchObject({ code: 0 });
    expect(project.read("one.txt")).toBe("one\n");
  });
});
