import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Death } from "./die-at-step.ts";
import { createProject, exists, startRalph, type Finished, type Project } from "./project.ts";

const DIE_AT_STEP = join(import.meta.dirname, "die-at-step.ts");

let project: Project;
afterEach(() => project.dispose());

/** An agent that is a shell script: it says what the script prints last, else that it is done. */
function scripted(script: string, more = "", tasks: readonly string[] = ["one", "two"]): Project {
  project = createProject({
    tasks,
    config: `agent = "stub"\n[agents.stub]\ncommand = ["sh", ".ralph/agent.sh"]\n${more}`,
  });
  project.write(
    ".ralph/agent.sh",
    `cat > "$HOME/prompt-$RALPH_TASK_ID"; echo ran >> "$HOME/ran-$RALPH_TASK_ID"\ntask() { test "$RALPH_TASK_ID" = $1; }
say() { echo "<promise>$1</promise>"; exit; }\n${script}\necho $RALPH_TASK_ID > $RALPH_TASK_ID.txt; say COMPLETE\n`,
  );
  return project;
}

const git = (...args: string[]): string => project.git(...args);
const subjects = (range: string): readonly string[] =>
  git("log", "--format=%s", "--reverse", range).split("\n").filter(Boolean);
const prompt = (task: string): string => project.read(`../home/prompt-${task}`).replaceAll(/\s+/g, " ");
const runs = (task: string): number => project.read(`../home/ran-${task}`).trim().split("\n").length;
const branches = (): string => git("for-each-ref", "--format=%(refname:short)", "refs/heads");

async function ends(code: number, ...args: string[]): Promise<Finished> {
  const finished = await project.ralph(...args);
  expect(finished).toMatchObject({ code });
  return finished;
}

const BLOCKED_ONCE = `if task one && ! test -e "$HOME/tried"; then : > "$HOME/tried"; echo half > half.txt; say "BLOCKED:help"; fi`;

test("the test that a blocked task deletes is there for the next task, which is accepted against it", async () => {
  scripted(
    `if task one; then git rm -q -r test; git commit -qm "no tests"; echo half > half.txt; say "BLOCKED:help"; fi`,
    '[[gates]]\nname = "tests"\ncommand = "sh test/check.sh"\n',
  );
  project.write("test/check.sh", "echo checked\n");
  const base = project.commit("checks");
  const run = await ends(2, "run", "--keep-going");
  expect(run.stderr + run.stdout).toContain("its unaccepted work is on the branch ralph/aside/one");
  expect([exists(project, "test/check.sh"), exists(project, "half.txt")]).toEqual([true, false]);
  expect(git("status", "--porcelain")).toBe("");
  expect(subjects(`${base}..`)).toEqual(["ralph(two): make two", "ralph(two): mark done"]);
  expect(git("diff", "--name-status", base, "ralph/aside/one")).toMatch(/^A\thalf.txt\nD\ttest\/check.sh$/);
  expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["blocked", "accepted"]);

  // What can be seen of it.
  const diff = await ends(0, "diff", "one");
  expect(diff.stderr).toContain("not accepted, on the branch ralph/aside/one");
  expect(diff.stdout).toContain("+half");
  expect((await ends(0, "diff", "two")).stdout).toContain("+two");
  expect((await ends(0, "diff", "two", "--json")).stdout).toContain('"is": "accepted"');
  expect((await ends(0, "why", "one")).stdout.replaceAll(/\s+/g, " ")).toContain(
    "Its unaccepted work is on the branch ralph/aside/one",
  );

  // It is not wanted.
  const head = git("rev-parse", "HEAD");
  expect((await ends(0, "discard", "one")).stdout).toContain("Discarded the work of one");
  expect([git("rev-parse", "HEAD"), branches()]).toEqual([head, "main"]);
  expect(git("for-each-ref", "refs/ralph/backup")).not.toBe("");
  await ends(1, "discard", "one");
  await ends(1, "diff", "one");
  expect((await ends(64, "discard", "two")).stderr).toContain("ralph undo two");
});

/** Ways in which an agent makes the check say yes before it says that it is blocked. */
const WEAKENING = {
  big: `{ echo "exit 0"; head -c 11000000 /dev/zero | tr "\\0" "#"; } > test/check.sh`,
  secret: `echo "exit 0" > .env.test`,
  unseen: `git update-index --assume-unchanged test/check.sh; echo "exit 0" > test/check.sh; exit`,
  submodule: `cd sub; echo "exit 0" > sub.sh; git add -A; git -c user.name=a -c user.email=a commit -qm easy; cd ..`,
  bisecting: `git bisect start; echo "exit 0" > test/check.sh`,
  ignored: `echo "exit 0" > test/conftest.py`,
};

test.each(["on a branch", "on a detached HEAD, with a branch in the way of ours"])(
  "%s, no task is checked by what a blocked task before it made of the check",
  async (where) => {
    const tricks = Object.entries(WEAKENING).map(
      ([task, shell]) => `task ${task} && { ${shell}; say "BLOCKED:help"; }`,
    );
    scripted(
      `echo bad > bad.txt; ! sh test/check.sh || echo $RALPH_TASK_ID >> "$HOME/weak"; task honest || rm bad.txt
${tricks.join("\n")}`,
      `[run]
max_stuck = 1
[verify]
reader = "never"
old_checks_fail = "reject"
[[gates]]
name = "tests"
command = "sh test/check.sh"
`,
      [...Object.keys(WEAKENING), "honest"],
    );
    git("init", "-q", "../other");
    project.write("../other/sub.sh", "true\n");
    git("-C", "../other", "add", "-A");
    git("-C", "../other", "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "sub");
    const other = join(project.root, "../other");
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub");
    project.write(".env.test", "true\n");
    project.write(".gitignore", "conftest.py\n");
    project.write(
      "test/check.sh",
      ". ./.env.test\n. sub/sub.sh\ntest ! -e test/conftest.py || . test/conftest.py\ntest ! -e bad.txt\n",
    );
    const base = project.commit("checks");
    if (where !== "on a branch") {
      git("branch", "ralph");
      git("checkout", "-q", "--detach");
    }
    await ends(2, "run");
    // A second try sees its own work. What git ignores cannot be taken back: the next task is judged without it.
    const weak = project.read("../home/weak").trim().split("\n");
    expect([...new Set(weak)]).toEqual(["unseen", "honest"]);
    expect((await project.history()).at(-1)).toMatchObject({ task: "honest", verdict: "rejected" });
    expect([git("rev-parse", "HEAD"), git("status", "--porcelain")]).toEqual([base, ""]);
  },
);

describe("work that is aside, while a person", () => {
  const prune = (): void => {
    git("branch", "-D", "ralph/aside/one");
    for (const ref of git("for-each-ref", "--format=%(refname)", "refs/ralph").split("\n").filter(Boolean))
      git("update-ref", "-d", ref);
    git("reflog", "expire", "--expire-unreachable=now", "--all");
    git("gc", "-q", "--prune=now");
  };
  const goOn = (): void => {
    git("switch", "-q", "ralph/aside/one");
    project.write("better.txt", "better\n");
    project.commit("better");
    git("switch", "-q", "main");
  };
  test.each([
    ["has deleted it for good", prune, "git no longer has its commits"],
    ["has begun a bisection", () => void git("bisect", "start"), "a bisection is under way"],
    ["has gone on with it there", goOn, "Look at that first"],
    ["has its branch checked out", () => void git("switch", "-q", "ralph/aside/one"), "Look at that first"],
  ])("%s: the task goes on, and its agent knows", async (_who, deed, told) => {
    scripted(BLOCKED_ONCE);
    const base = project.commit("agent");
    await ends(2, "run");
    deed();
    await ends(0, "unblock", "one");
    await ends(0, "run");
    expect(prompt("one")).toContain(told);
    expect(git("merge-base", base, "HEAD")).toBe(base);
    expect([exists(project, "one.txt"), git("status", "--porcelain")]).toEqual([true, ""]);
    expect(exists(project, "better.txt")).toBe(deed === goOn);
  });

  test("has deleted it for good can be discarded", async () => {
    scripted(BLOCKED_ONCE);
    project.commit("agent");
    await ends(2, "run");
    prune();
    expect((await ends(5, "diff", "one")).stderr).toContain("ralph discard one");
    await ends(0, "discard", "one");
    await ends(0, "unblock", "one");
    await ends(0, "run");
  });
});

test("half-done work comes back on top of what was accepted meanwhile, and its agent knows", async () => {
  scripted(BLOCKED_ONCE);
  const base = project.commit("agent");
  await ends(2, "run", "--keep-going");
  await ends(0, "unblock", "one");
  const run = await ends(0, "run");
  expect(run.stderr + run.stdout).toContain("its earlier work is back");
  expect(prompt("one")).toMatch(/Changed so far: half\.txt \(`git diff [0-9a-f]{12}`\)/);
  expect(["half.txt", "one.txt", "two.txt"].map((file) => exists(project, file))).toEqual([true, true, true]);
  expect(subjects(`${base}..`)).toEqual([
    "ralph(two): make two",
    "ralph(two): mark done",
    "ralph(one): earlier work",
    "ralph(one): make one",
    "ralph(one): mark done",
  ]);
  expect(branches()).toBe("main");
  expect((await ends(0, "diff", "one")).stdout).toMatch(/\+half[^]*\+one/);

  // The whole of a task that is not the last is taken back, and nothing else.
  project.write("mine.txt", "mine\n");
  project.commit("mine");
  const dry = await ends(0, "undo", "two", "--dry-run");
  expect(dry.stdout).toMatch(/Would undo two on main[^]*-two/);
  expect(exists(project, "two.txt")).toBe(true);
  expect((await ends(0, "undo", "one")).stdout).toContain("Undid one on main");
  expect(["half.txt", "one.txt", "two.txt", "mine.txt"].map((file) => exists(project, file))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(project.read("TODO.md")).toMatch(/\[ \] \*\*one\*\*[^]*\[x\] \*\*two\*\*/);
  const status = JSON.parse((await ends(0, "status", "--json")).stdout) as { tasks: unknown };
  expect(status.tasks).toMatchObject([
    { id: "one", status: "todo" },
    { id: "two", status: "done" },
  ]);
  expect((await ends(0, "why", "one")).stdout).toMatch(/undone|taken back/i);
  expect((await ends(0, "report")).stdout).toContain("one was accepted and then undone");
  await ends(1, "undo", "one");
});

test("work that conflicts stays aside after the answer, and its agent is told where", async () => {
  scripted(`if task one && ! test -e "$HOME/tried"; then : > "$HOME/tried"; echo one > shared.txt; say "DECIDE:tabs or spaces?"; fi
task two && echo two > shared.txt`);
  project.commit("agent");
  await ends(3, "run", "--keep-going");
  await ends(0, "decide", "one", "tabs");
  const run = await ends(0, "run");
  expect(run.stderr + run.stdout).toContain(
    "its earlier work stays on the branch ralph/aside/one: it conflicts with later work in shared.txt",
  );
  expect(prompt("one")).toContain("on the branch ralph/aside/one, and not in the work tree");
  expect(prompt("one")).toContain("tabs");
  expect(project.read("shared.txt")).toBe("two\n");
  expect(git("show", "ralph/aside/one:shared.txt")).toBe("one");
});

test("work of an agent that commits by itself leaves and comes back with what it had not committed", async () => {
  scripted(
    `if task one && ! test -e "$HOME/tried"; then : > "$HOME/tried"; echo 1 > done.txt; git add done.txt; git commit -qm "first half"; echo 2 > open.txt; echo KEY=1 > .env; say "BLOCKED:help"; fi
task one && { git rm -q --cached .env 2>/dev/null; rm -f .env; }
echo $RALPH_TASK_ID > $RALPH_TASK_ID.txt; git add "*.txt"; git commit -qm "$RALPH_TASK_ID by its agent"; say COMPLETE`,
    '[git]\ncommit = "agent"\n',
  );
  const base = project.commit("agent");
  await ends(2, "run", "--keep-going");
  expect(subjects(`${base}..`)).toEqual(["two by its agent", "ralph(two): mark done"]);
  expect(git("status", "--porcelain")).toBe("?? .env");
  expect(git("diff", "--name-only", base, "ralph/aside/one")).toBe("done.txt\nopen.txt");
  await ends(0, "unblock", "one");
  await ends(0, "run");
  expect(["done.txt", "open.txt", "one.txt"].map((file) => exists(project, file))).toEqual([
    true,
    true,
    true,
  ]);
  expect(branches()).toBe("main");
});

test("overnight a question, a blocked task and a liar hold up none of the other seven, and each printed command leads on", async () => {
  const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
  const list = `sed -i "s/\\[ \\] \\*\\*j/[x] **j/" TODO.md`;
  scripted(
    `test -e "$HOME/helped" && { mkdir -p test; echo "echo checked" > test/check.sh; echo $RALPH_TASK_ID > $RALPH_TASK_ID.txt; say COMPLETE; }
task b && { echo half > b.half; say "DECIDE:left or right? | left | right"; }
task d && { rm -r test; say "BLOCKED:no credentials"; }
task f && say COMPLETE
${list}`,
    '[[gates]]\nname = "tests"\ncommand = "sh test/check.sh"\n',
    names,
  );
  project.write("test/check.sh", "echo checked\n");
  const base = project.commit("checks");
  await ends(3, "run");
  const others = names.filter((name) => !["b", "d", "f"].includes(name));
  expect(subjects(`${base}..`)).toEqual(
    others.flatMap((name) => [`ralph(${name}): make ${name}`, `ralph(${name}): mark done`]),
  );
  const { inbox } = JSON.parse((await ends(0, "status", "--json")).stdout) as {
    inbox: readonly { task: string; kind: string }[];
  };
  expect(inbox.map(({ task, kind }) => [task, kind])).toEqual([
    ["b", "decide"],
    ["d", "blocked"],
    ["f", "blocked"],
  ]);
  const { stdout } = await ends(0, "inbox");
  expect(branches().split("\n")).toEqual(["main", "ralph/aside/b", "ralph/aside/d"]);
  const commands = [...stdout.matchAll(/ralph (decide|unblock) (\w)(?: "(\w+)")?/g)];
  expect(commands.map(([command]) => command)).toEqual([
    'ralph decide b "left"',
    "ralph unblock d",
    "ralph unblock f",
  ]);
  project.write("../home/helped", "");
  for (const [, ...words] of commands) await ends(0, ...words.filter((word) => word !== undefined));
  await ends(0, "run");
  expect((await ends(0, "inbox")).stdout).toContain("Nothing waits for you");
  expect([project.read("TODO.md").includes("[ ]"), branches()]).toEqual([false, "main"]);
});

describe("a person at work at the same time", () => {
  const DURING = (deed: string): string =>
    `if task one && ! test -e "$HOME/tried"; then : > "$HOME/tried"; echo half > half.txt; ${deed}; say "BLOCKED:help"; fi`;

  test("commits on top of work that is left stay, and so does the work", async () => {
    scripted(BLOCKED_ONCE.replace("BLOCKED:help", "CONTINUE"), "", ["one", "two"]);
    project.commit("agent");
    await ends(1, "run", "--max-iterations", "1");
    expect(exists(project, "half.txt")).toBe(true);
    project.write("mine.txt", "mine\n");
    const mine = project.commit("mine");
    const run = await ends(0, "run", "--task", "two");
    expect(run.stderr + run.stdout).toContain("its unaccepted work stays on your branch");
    expect(git("merge-base", "HEAD", mine)).toBe(mine);
    expect([exists(project, "half.txt"), exists(project, "mine.txt")]).toEqual([true, true]);
  });

  test("an edit of a file that the work has changed is not touched", async () => {
    scripted(BLOCKED_ONCE.replace("BLOCKED:help", "CONTINUE"));
    project.commit("agent");
    await ends(1, "run", "--max-iterations", "1");
    project.write("half.txt", "a person's\n");
    await ends(0, "run", "--task", "two", "--allow-dirty");
    expect(project.read("half.txt")).toBe("a person's\n");
  });

  test("the work leaves its branch while the person is on another one", async () => {
    scripted(BLOCKED_ONCE.replace("BLOCKED:help", "CONTINUE"));
    const base = project.commit("agent");
    await ends(1, "run", "--max-iterations", "1");
    git("switch", "--quiet", "--create", "mine", base);
    await ends(0, "run", "--task", "two");
    expect([git("rev-parse", "main"), exists(project, "half.txt")]).toEqual([base, false]);
    expect(subjects(`${base}..mine`)).toEqual(["ralph(two): make two", "ralph(two): mark done"]);
    expect(branches()).toBe("main\nmine\nralph/aside/one");
    await ends(0, "run");
    expect([exists(project, "half.txt"), exists(project, "one.txt")]).toEqual([true, true]);
  });

  test("a run that ends at its limit leaves the work in place, to be seen and discarded", async () => {
    scripted(DURING("true").replace("BLOCKED:help", "CONTINUE"), "", ["one"]);
    const base = project.commit("agent");
    await ends(1, "run", "--max-iterations", "1");
    expect((await ends(0, "diff")).stderr).toContain("one: under way");
    project.write("mine.txt", "mine\n");
    await ends(0, "discard", "one");
    expect([git("rev-parse", "HEAD"), exists(project, "half.txt")]).toEqual([base, false]);
    expect(project.read("mine.txt")).toBe("mine\n");
    await ends(0, "run", "--allow-dirty");
    expect(exists(project, "half.txt")).toBe(false);
  });
});

test("in a repository without a commit, the work leaves no commit behind, and comes back", async () => {
  scripted(BLOCKED_ONCE);
  git("update-ref", "-d", "HEAD");
  git("rm", "--quiet", "--cached", "-r", ".");
  await ends(2, "run", "--allow-dirty", "--keep-going");
  expect([branches(), exists(project, "half.txt")]).toEqual(["main\nralph/aside/one", false]);
  await ends(0, "unblock", "one");
  await ends(0, "run", "--allow-dirty");
  expect(subjects("main")).toContain("ralph(one): make one");
  expect(["half.txt", "one.txt", "two.txt"].map((file) => exists(project, file))).toEqual([true, true, true]);
});

test("in a worktree, the work can be seen and discarded", async () => {
  scripted(BLOCKED_ONCE);
  const base = project.commit("agent");
  await ends(2, "run", "--worktree", "--task", "one");
  expect((await ends(0, "diff", "one")).stdout).toContain("+half");
  await ends(0, "discard", "one");
  expect([git("rev-parse", "main"), branches(), git("worktree", "list").split("\n").length]).toEqual([
    base,
    "main",
    1,
  ]);
});

describe("killed while work leaves", () => {
  /** Answers what it does, and dies before this step of it. */
  async function run(step: number): Promise<readonly string[]> {
    scripted(BLOCKED_ONCE, "", ["one"]);
    project.commit("agent");
    const folder = join(project.root, "..");
    const log = join(folder, "steps");
    const death: Death = { step, when: "before", hooks: null, fine: false, log, folder };
    const env = { ...project.env, NODE_OPTIONS: `--import ${DIE_AT_STEP}`, DEATH: JSON.stringify(death) };
    await startRalph(project.root, env, ["run"]).finished;
    return readFileSync(log, "utf8").split("\n");
  }

  test.each([/update-ref .*refs\/heads\/main/, /read-tree -m -u/])(
    "before %s, it can be discarded, and is off the branch then",
    async (step) => {
      const at = (await run(0)).findIndex((line) => step.test(line)) + 1;
      expect(at).toBeGreaterThan(0);
      project.dispose();
      expect((await run(at)).findLast(Boolean)).toMatch(step);
      const base = git("rev-parse", "main~1");
      expect((await project.events()).at(-1)).toMatchObject({ type: "work.leaving", base });
      await ends(0, "discard", "one");
      expect([git("rev-parse", "main"), git("status", "--porcelain"), branches()]).toEqual([
        base,
        "",
        "main",
      ]);
    },
  );
});

describe("a claim whose old checks fail", () => {
  const WEAKENED = `task one && { echo "true" > test/check.sh; echo one > one.txt; say COMPLETE; }`;
  const GATES =
    '[verify]\nreader = "never"\n[[gates]]\nname = "tests"\ncommand = "sh test/check.sh && sh extra.sh"\n';

  async function asked(): Promise<void> {
    scripted(WEAKENED, GATES);
    project.write("test/check.sh", "! test -e one.txt\n");
    project.write("extra.sh", "echo gate >> $HOME/gates\n! { test -e one.txt && test -e clash; }\n");
    project.commit("checks");
    await ends(3, "run", "--keep-going");
    expect([exists(project, "one.txt"), exists(project, "two.txt")]).toEqual([false, true]);
  }

  test("is complete when a person accepts it, on top of what was accepted meanwhile, without an agent", async () => {
    await asked();
    const before = [runs("one"), project.read("../home/gates").length];
    await ends(0, "decide", "one", "accept");
    await ends(0, "run");
    const after = [runs("one"), project.read("../home/gates").length];
    expect(after[0]).toBe(before[0]);
    expect(after[1]).toBeGreaterThan(before[1] ?? 0);
    expect([exists(project, "one.txt"), exists(project, "two.txt"), branches()]).toEqual([
      true,
      true,
      "main",
    ]);
    expect(project.read("TODO.md")).not.toContain("[ ]");
    expect((await ends(0, "undo", "one")).stdout).toContain("Undid one");
    expect([exists(project, "one.txt"), exists(project, "two.txt")]).toEqual([false, true]);
  });

  test("goes back to its agent when a gate fails on the combined result", async () => {
    await asked();
    project.write("clash", "");
    project.commit("clash");
    await ends(0, "decide", "one", "accept");
    const run = await project.ralph("run", "--max-iterations", "1");
    expect(run.stderr + run.stdout).toContain("on top of later work tests would fail");
    expect(prompt("one")).toContain("ralph/aside/one");
    expect(branches()).toContain("ralph/aside/one");
  });
});
