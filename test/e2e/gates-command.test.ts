import { afterEach, describe, expect, test } from "vitest";
import { createProject, exists, until, type Project } from "./project.ts";

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
