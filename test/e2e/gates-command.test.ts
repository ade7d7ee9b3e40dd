import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, until, WORKS, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

function config(...gates: string[]): string {
  return `agent = "nobody"\n${gates.map((gate) => `[[gates]]\n${gate}\n`).join("")}`;
}

describe("ralph gates", () => {
  test("tells of each gate, and of a failing one the end of its output", async () => {
    project = createProject({
      config: config(
        'name = "types"\ncommand = "true"',
        'name = "tests"\ncommand = "seq 30; exit 3"',
        'name = "swiftlint"\ncommand = "no-such-linter ."\non_missing = "warn"',
        'name = "style"\ncommand = "false"\nrequired = false',
      ),
    });
    project.remove("TODO.md");
    const { code, stdout, stderr } = await project.ralph("gates");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toMatch(/^✔ types passed [\d.]+s$/m);
    expect(stdout).toMatch(/^✗ tests failed exit 3 [\d.]+s\n {2}│ 11\n/m);
    expect(stdout).toMatch(/^– swiftlint can't run: no-such-linter is not installed \(on_missing = warn\)$/m);
    expect(stdout).toMatch(/^✗ style failed exit 1 [\d.]+s \(not required\)$/m);
  });

  test("--json, and gates of the command line and of the task source", async () => {
    project = createProject({ config: config('name = "types"\ncommand = "true"\nkind = "types"') });
    project.remove("TODO.md");
    project.write("tasks.json", JSON.stringify({ verifyCommands: ["test -e README.md"], userStories: [] }));
    const { code, stdout } = await project.ralph("gates", "--json", "--check", "echo yes");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(
      [
        { name: "types", command: "true", kind: "types", tail: "" },
        { name: "test -e README.md", command: "test -e README.md", kind: null, tail: "" },
        { name: "echo yes", command: "echo yes", kind: null, tail: "yes" },
      ].map((gate) => ({
        ...gate,
        required: true,
        status: "passed",
        exit_code: 0,
        duration_seconds: expect.any(Number) as number,
        tries: 1,
        failures: [],
      })),
    );
  });

  test("without any gate says how to add one", async () => {
    project = createProject({ config: config() });
    const { code, stdout } = await project.ralph("gates");
    expect(code).toBe(0);
    expect(stdout).toContain("[[gates]]");
    expect((await project.ralph("gates", "--json")).stdout).toBe("[]\n");
  });

  test("shows no secret", async () => {
    project = createProject({ config: config(), env: { MY_API_KEY: "s3ntinel-value-0123456789" } });
    const check = "echo s3ntinel-value-0123456789 $MY_API_KEY; false";
    for (const flags of [[], ["--json"]]) {
      const { stdout, stderr } = await project.ralph("gates", "--check", check, ...flags);
      expect(stdout + stderr).not.toContain("s3ntinel");
    }
  });

  test("Ctrl-C ends the gate with everything it started", async () => {
    project = createProject({
      config: config('name = "slow"\ncommand = "touch started; sleep 600 & sleep 600"'),
    });
    const running = project.start("gates");
    await until("the gate runs", () => exists(project, "started"));
    running.child.kill("SIGINT");
    expect(await running.finished).toMatchObject({ code: 130, stdout: "" });
    expect(project.leftovers()).toEqual([]);
  });
});

describe("the gates of a run", () => {
  const gate = (name: string, command: string): string =>
    `[[gates]]\nname = "${name}"\ncommand = "${command}"\n`;
  const withGates = (run: string, ...gates: readonly string[]): string =>
    `agent = "demo"\n[run]\n${run}\n[agents.demo]\nscript = ".ralph/script.json"\n${gates.join("")}`;
  const log = (word: string): string => `echo ${word} >> ../home/ran`;
  const ran = (): readonly string[] => project.read("../home/ran").trim().split("\n");

  test("begin with the one that failed last", async () => {
    const gates = [gate("a", log("a")), gate("b", `${log("b")}; test ! -e bad`)];
    project = createProject({ config: withGates("", ...gates) });
    project.script({
      one: [
        [{ shell: "echo x > bad" }, ...WORKS],
        [{ remove: "bad" }, ...WORKS],
      ],
    });
    project.commit();
    expect((await project.ralph("run")).code).toBe(0);
    expect(ran()).toEqual(["a", "b", "a", "b", "b", "a"]);
  });

  test("run side by side with gates_parallel, and leave nothing behind", async () => {
    const meets = (own: string, other: string): string =>
      `setsid sleep 300 & touch ../home/${own}; until test -e ../home/${other}; do sleep 0.05; done`;
    const gates = [gate("a", meets("a", "b")), gate("b", meets("b", "a"))];
    project = createProject({ config: withGates("gates_parallel = 2", ...gates) });
    expect((await project.ralph("run")).code).toBe(0);
    expect(project.leftovers()).toEqual([]);
  });
});
