// What a repository brings along may be hostile: it leads nowhere outside, and none of its words is run.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createProject, WORKS, type Project } from "./project.ts";

const PRECIOUS = "precious\n";
let project: Project;
let outside: string;

beforeEach(() => {
  project = createProject();
  outside = join(project.root, "..", "outside");
  mkdirSync(join(outside, "folder"), { recursive: true });
  writeFileSync(join(outside, "folder", "file"), PRECIOUS);
});
afterEach(() => project.dispose());

/** Everything outside, by its path. */
function lookOutside(): Record<string, string> {
  const files = readdirSync(outside, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(outside.length + 1), readFileSync(path, "utf8")];
    }),
  );
}

/** In the place of a file that ralph writes: a link to somebody's file. */
function lead(path: string, text: string | null = PRECIOUS): void {
  const link = join(project.root, path);
  const target = join(outside, path.replaceAll("/", "-"));
  if (text !== null) writeFileSync(target, text);
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(target, link);
}

const WRITTEN = [
  ".gitignore",
  "status.json",
  "active.json",
  "progress.json",
  "metrics.json",
  "blocked.txt",
  "decide.txt",
  "interventions/events.json",
  "interventions/profile.json",
  "interventions/feedback.txt",
  "logs/.writable",
  "logs/summary.csv",
  "logs/execution.jsonl",
  "logs/iteration-001.log",
  "logs/iteration-001.prompt.md",
].map((path) => `.ralph/${path}`);

test.each([
  ["a file", PRECIOUS],
  ["nothing", null],
])("a link to %s in the place of any file that ralph writes is not followed", async (_, text) => {
  project.script({ one: [[{ promise: "BLOCKED:no key" }]] });
  for (const path of WRITTEN) lead(path, text);
  lead(".ralph/prompts/build.md", text);
  const before = lookOutside();
  const finished = await project.ralph("run", "--quiet");
  expect(finished.stderr).not.toContain("internal error");
  await project.ralph("unblock", "one");
  project.script({ one: [WORKS] });
  await project.ralph("run", "--quiet");
  await project.ralph("archive", "--include-logs");
  expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["blocked", "accepted"]);
  await project.ralph("init", "--force", "--prompts");
  expect(lookOutside()).toEqual(before);
});

test("what an agent puts in their place while it runs is not followed, and nobody waits for it", async () => {
  const inTheWay = (make: string): string =>
    WRITTEN.map(
      (path) => `rm -rf ${path}; mkdir -p $(dirname ${path}); ${make.replaceAll("PATH", path)}`,
    ).join("\n");
  const links = inTheWay(`ln -s "${outside}/$(basename PATH)" PATH`);
  // Git itself waits at a pipe of that name.
  const pipes = inTheWay("test PATH = .ralph/.gitignore || mkfifo PATH");
  project.write("TODO.md", "- [ ] **one**: links\n- [ ] **two**: pipes\n- [ ] **three**: the rest\n");
  project.script({ one: [[{ shell: links }, ...WORKS]], two: [[{ shell: pipes }, ...WORKS]] }, [WORKS]);
  project.commit("tasks");
  const before = lookOutside();
  expect((await project.ralph("run", "--quiet")).stderr).not.toContain("internal error");
  expect(lookOutside()).toEqual(before);
  expect((await project.history()).map(({ verdict }) => verdict)).toEqual(
    Array.from({ length: 3 }, () => "accepted"),
  );
  expect(project.read(".ralph/logs/summary.csv").trimEnd().split("\n")).toHaveLength(4);
});

test.each([".ralph", ".ralph/logs", ".ralph/interventions", ".ralph/archive"])(
  "a link in the place of the folder %s is refused, or not followed",
  async (path) => {
    const link = join(project.root, path);
    rmSync(link, { recursive: true, force: true });
    symlinkSync(join(outside, "folder"), link);
    const before = lookOutside();
    for (const args of [["run", "--quiet", "--agent", "demo"], ["archive"], ["import", "TODO.md"]])
      expect((await project.ralph(...args)).stderr).not.toContain("internal error");
    expect(lookOutside()).toEqual(before);
  },
);

test.each(["folder", "nothing"])(
  "an import does not write through a link to %s, and says so",
  async (target) => {
    project.remove(".ralph");
    symlinkSync(join(outside, target), join(project.root, ".ralph"));
    const before = lookOutside();
    const refused = await project.ralph("import", "TODO.md");
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toMatch(/\.ralph is a symbolic link; .*\n {2}→ remove the link\n$/);
    expect(lookOutside()).toEqual(before);
  },
);

test("an import writes elsewhere when that is asked for", async () => {
  expect(await project.ralph("--dir", "../elsewhere", "import", "TODO.md")).toMatchObject({ code: 0 });
  expect(project.read("../elsewhere/tasks.json")).toContain("userStories");
});

const SHELL_WORDS = "$(touch RAN-1) `touch RAN-2` ; touch RAN-3 # | touch RAN-4 && touch RAN-5";
const HOSTILE_IDS = ["../../outside/x", "--upload-pack=touch RAN-6", "-rf", "a$(touch RAN-7);b"];

/** Files with a name that only a run word makes, anywhere below the folder of the project and its surroundings. */
function ran(): readonly string[] {
  const all = readdirSync(join(project.root, ".."), { recursive: true, encoding: "utf8" });
  return all.filter((path) => /(^|\/)RAN-\d+$/.test(path));
}

test("neither titles, ids nor branches are run, or lead elsewhere; side by side or not", async () => {
  const boxes = [
    `- [ ] **task**: make it ${SHELL_WORDS}`,
    ...HOSTILE_IDS.map((id) => `- [ ] **${id}**: make it too`),
    "- [ ] --title-like-a-flag $(touch RAN-8)",
  ];
  project.write("TODO.md", `# Tasks $(touch RAN-9)\n\n${boxes.join("\n")}\n`);
  project.script({}, [[{ shell: 'echo "$RALPH_TASK_ID" >> work.txt' }, { promise: "COMPLETE" }]]);
  project.commit("hostile");
  project.git("switch", "--quiet", "--create", "x$(touch${IFS}RAN-10);`touch${IFS}RAN-11`");
  const before = lookOutside();
  const first = await project.ralph("run", "--quiet", "--keep-going", "-n", "1");
  const second = await project.ralph("run", "--quiet", "--keep-going", "--parallel", "2", "-n", "12");
  const why = await Promise.all(HOSTILE_IDS.map((id) => project.ralph("why", "--", id)));
  for (const { stderr } of [first, second, ...why]) expect(stderr).not.toContain("internal error");
  await project.ralph("archive", "--label", "../../outside/label$(touch RAN-12)");
  await project.ralph("archive");
  expect(ran()).toEqual([]);
  expect(lookOutside()).toEqual(before);
  expect((await project.history()).filter(({ verdict }) => verdict === "accepted").length).toBeGreaterThan(3);
});

test("who only looks runs nothing of the repository's", async () => {
  project.write(
    ".ralph/ralph.toml",
    'agent = "stub"\n[agents.stub]\ncommand = ["touch", "RAN-1"]\n[[gates]]\nname = "check"\ncommand = "touch RAN-2"\n',
  );
  const looks = ["status", "history", "tasks", "config", "inbox", "report"].map((name) =>
    project.ralph(name),
  );
  for (const { stderr } of await Promise.all(looks)) expect(stderr).not.toContain("internal error");
  expect(ran()).toEqual([]);
  await project.ralph("gates");
  expect(ran()).toEqual(["repository/RAN-2"]);
});

test("what a worktree is given stays inside, whatever it is called", async () => {
  project.write(
    ".ralph/ralph.toml",
    'agent = "demo"\n[worktree]\ninclude = ["../outside/**", "/etc/passwd", "away", "away/**", ".env*"]\n' +
      '[agents.demo]\nscript = ".ralph/script.json"\n',
  );
  project.script({}, [[{ shell: 'find -L . -name file > "$HOME/seen"' }, ...WORKS]]);
  symlinkSync(join(outside, "folder"), join(project.root, "away"));
  symlinkSync("../outside/folder/file", join(project.root, ".env"));
  project.write(".gitignore", "away\n.env\n");
  project.commit("hostile");
  const before = lookOutside();
  expect(await project.ralph("run", "--quiet", "--worktree")).toMatchObject({ code: 0 });
  expect(lookOutside()).toEqual(before);
  expect(readFileSync(join(project.root, "..", "home", "seen"), "utf8")).toBe("");
});

const MOVES = "\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b31m\u001bc\rfake";
const ASKS = `DECIDE:which? $(touch RAN-1) | $(touch RAN-2)\\"'\u0060touch RAN-3\u0060 | ${MOVES}`;

test("what agents, files and lists say moves no terminal, and no command to copy runs it", async () => {
  project.dispose();
  project = createProject({
    config: `agent = "stub"\n[run]\nkeep_going = true\nmax_attempts = 1\n[[gates]]\nname = "check"\ncommand = "cat said; test -e ok"\n[agents.stub]\ncommand = ["sh", "agent.sh"]\nformat = "text"\n`,
  });
  project.write("said", `${MOVES}\n`);
  project.write(
    "agent.sh",
    `cat said said >&2; cp said "$(cat said).txt"; case $RALPH_TASK_ID in ask*) cat asks;; block*) echo "<promise>BLOCKED:$(cat said)</promise>";; *) echo '<promise>COMPLETE</promise>';; esac\n`,
  );
  project.write("asks", `<promise>${ASKS}</promise>\n`);
  const ids = ["ask'; touch RAN-4; '", "block $(touch RAN-5)", "lies"];
  project.write("TODO.md", ids.map((id) => `- [ ] **${id}**: ${MOVES} ${id}\n`).join(""));
  project.commit("hostile");
  const looks = [
    ["run"],
    ["status"],
    ["tasks"],
    ["history"],
    ["inbox"],
    ["blocked", "--suggest"],
    ["metrics"],
    ["interventions"],
    ["logs", "1"],
    ["logs", "2"],
    ["why"],
    ["why", "1"],
    ["why", "2"],
    ...ids.map((id) => ["why", id]),
    ["promises"],
    ["replay"],
    ["steer", ids[0] ?? "", MOVES],
    ["steer"],
    ["steer", "a", "b", "$(touch RAN-6)"],
    ["decide"],
    ["decide", "a", "b", "c`touch RAN-7`"],
    ["decide", ids[0] ?? "", MOVES],
    ["unblock", MOVES],
    ["verify", "lies"],
    ["worktrees"],
    ["report", "--markdown"],
    ["gates"],
    ["config"],
    ["run", "--dry-run"],
  ];
  const commands: string[] = [];
  for (const words of looks) {
    const { stdout, stderr } = await project.ralph(...words);
    expect([words, stdout + stderr]).toEqual([
      words,
      // oxlint-disable-next-line no-control-regex -- escapes are what it is about
      expect.not.stringMatching(/[\0-\x08\x0b-\x1f\x7f-\x9f]/),
    ]);
    commands.push(
      ...(stdout + stderr).split("\n").flatMap((line) => /(ralph [a-z-]+ .*)/.exec(line)?.[1] ?? []),
    );
  }
  expect(commands.join("\n")).toMatch(/ralph decide .*\$\(touch RAN-2\)/);
  // What follows a command in its line is no shell's business, and may be wrong as one.
  for (const command of commands)
    spawnSync("sh", ["-c", `ralph() { :; }\n${command}`], { cwd: project.root });
  expect(ran()).toEqual([]);
});
