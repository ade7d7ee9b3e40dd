import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Death } from "./die-at-step.ts";
import { createProject, until, type Project } from "./project.ts";
import { createTeam, onBase } from "./team.ts";

const DIE_AT_STEP = join(import.meta.dirname, "die-at-step.ts");

/** What tests and gates tell each other; temporary files of the program go to `tmp` in it. */
let folder: string;
let dispose: (() => unknown)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-test-"));
  mkdirSync(join(folder, "tmp"));
  dispose = [];
});
afterEach(async () => {
  for (const one of dispose) await one();
  rmSync(folder, { recursive: true });
});

const READER = `[verify]
reader_agent = "reader"
[agents.reader]
command = ["sh", "-c", "cat > /dev/null; echo scribble >> README.md; echo '<review>{\\"criteria\\": [], \\"concerns\\": [{\\"concern\\": 1, \\"answer\\": \\"harmless\\", \\"reason\\": \\"as asked\\"}]}</review>'"]
`;

function stubProject(
  tasks: readonly string[],
  agent: string,
  more: string,
  env: Readonly<Record<string, string>> = {},
): Project {
  const project = createProject({
    tasks,
    config: `agent = "stub"\n[agents.stub]\ncommand = ["sh", "-c", ${JSON.stringify(`cat > /dev/null; ${agent}; echo '<promise>COMPLETE</promise>'`)}]\n${more}`,
    env: { TMPDIR: join(folder, "tmp"), ...env },
  });
  dispose.push(() => project.dispose());
  return project;
}

function typesOf(
  events: readonly Record<string, unknown>[],
  ...types: readonly string[]
): readonly unknown[] {
  return types.map((type) => events.filter((event) => event["type"] === type).length);
}

test("without a changed check, git is asked what it is asked with old checks switched off", async () => {
  const asked = async (mode: string): Promise<readonly string[]> => {
    const log = join(folder, mode);
    const death: Death = { step: 0, when: "before", hooks: null, fine: false, log, folder };
    const project = stubProject(
      ["one", "two"],
      "echo work > $RALPH_TASK_ID.txt",
      `[verify]\nold_checks = "${mode}"\n[[gates]]\nname = "check"\ncommand = "sh test/check.sh"\n`,
      { NODE_OPTIONS: `--import ${DIE_AT_STEP}`, DEATH: JSON.stringify(death) },
    );
    project.write("test/check.sh", "true\n");
    project.commit("checks");
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    const steps = readFileSync(log, "utf8").split("\n");
    return steps.filter((step) => step.startsWith("git ")).map((step) => step.split(" ")[1] ?? "");
  };
  const auto = await asked("auto");
  expect(auto.length).toBeGreaterThan(5);
  expect(auto.toSorted()).toEqual((await asked("never")).toSorted());
});

test("in lanes, the old checks of two tasks run at the same time, each in its own worktree", async () => {
  const project = stubProject(
    ["one", "two"],
    'echo work > $RALPH_TASK_ID.txt; echo "test -e $RALPH_TASK_ID.txt" > test/$RALPH_TASK_ID.sh',
    '[[gates]]\nname = "check"\ncommand = "for f in test/*.sh; do sh $f || exit 1; done"\n',
  );
  for (const [task, other] of [
    ["one", "two"],
    ["two", "one"],
  ])
    project.write(
      `test/${task}.sh`,
      `test -e ${task}.txt || exit 0\n: > ${folder}/${task}; until test -e ${folder}/${other}; do sleep 0.05; done\n`,
    );
  project.commit("checks");
  expect(await project.ralph("run", "--parallel", "2")).toMatchObject({ code: 0, stderr: "" });
  expect(typesOf(await project.events(), "old-checks.ran", "task.merged", "reader.asked")).toEqual([2, 2, 0]);
  const { stdout } = await project.ralph("why", "one");
  expect(stdout.replaceAll(/\s+/g, " ")).toContain("the old checks pass too (test/one.sh)");
  expect(project.read("test/one.sh")).toBe("test -e one.txt\n");
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
});

test("a sandboxed agent that commits by itself; the gate has a folder, a port and a report of its own", async () => {
  const gate =
    "echo report > report.txt; node -e \"require('net').createServer().listen(Number(process.env.PORT)).unref()\" && sh test/check.sh";
  const project = stubProject(
    ["one"],
    "cd packages/web; echo work > one.txt; echo test -e one.txt > test/check.sh; git add -A; git commit -qm work",
    `[git]\ncommit = "agent"\n[sandbox]\nkind = "bubblewrap"\n${READER}[[gates]]\nname = "check"\ncwd = "packages/web"\nenv = { PORT = "38471" }\ncommand = ${JSON.stringify(gate)}\n`,
  );
  project.write("packages/web/test/check.sh", "! test -e one.txt\n");
  project.write(".gitignore", "report.txt\n");
  project.commit("checks");
  expect(await project.ralph("run")).toMatchObject({ code: 0, stderr: "" });
  const events = await project.events();
  expect(typesOf(events, "old-checks.ran", "reader.answered", "task.completed")).toEqual([1, 1, 1]);
  expect(events.find(({ type }) => type === "reader.answered")).toMatchObject({
    // In a sandbox it cannot write at all.
    reading: { failure: null, undone: [] },
  });
  expect(project.git("status", "--porcelain")).toBe("");
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
});

test(
  "a worker that is killed during old checks leaves nothing, and the next one runs them again",
  { timeout: 120_000 },
  async () => {
    const team = await createTeam({
      tasks: ["a"],
      others: [[{ shell: "echo a > a.txt; echo test -e a.txt > test/check.sh" }, { promise: "COMPLETE" }]],
      config: `${READER}[[gates]]\nname = "check"\ncommand = "sh test/check.sh"\n`,
    });
    dispose.push(() => team.dispose());
    const office = team.machine("office");
    const server = team.machine("server", { env: { TMPDIR: join(folder, "tmp") } });
    mkdirSync(join(office.root, "test"));
    // The old check, once there is work.
    const held = `: > ${folder}/held; until test -e ${folder}/go; do sleep 0.05; done; exit 1`;
    writeFileSync(join(office.root, "test/check.sh"), `test -e a.txt || exit 0\n${held}\n`);
    office.git("add", "test");
    office.git("-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "checks");
    office.git("push", "--quiet", "origin", "main");
    expect(await office.ralph("submit")).toMatchObject({ code: 0 });
    const worker = server.start("worker");
    dispose.push(() => worker.child.kill("SIGKILL"));
    await until("the old check runs", () => existsSync(join(folder, "held")));
    worker.child.kill("SIGKILL");
    await worker.finished;
    expect(readdirSync(join(folder, "tmp"))).not.toEqual([]);
    const next = server.start("worker", "--drain");
    await until("it is cleared away", () => readdirSync(join(folder, "tmp")).length === 0);
    writeFileSync(join(folder, "go"), "");
    expect(await next.finished).toMatchObject({ code: 0 });
    expect(onBase(team, "test/check.sh")).toBe("test -e a.txt");
    expect(
      typesOf(
        await team.events(),
        "iteration.started",
        "old-checks.ran",
        "reader.answered",
        "task.completed",
      ),
    ).toEqual([1, 1, 1, 1]);
    expect(team.leftovers()).toEqual([]);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  },
);
