import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProject, exists, WORKS, type Finished, type Project, type Steps } from "./project.ts";

const DEMO = 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n';
const NOT_INSTALLED = "no-such-linter is not installed";
const SUCCESS = { code: 0, stderr: "" };

let project: Project;
/** On the PATH of ralph, and outside of the repository. */
let tools: string;

beforeEach(() => {
  tools = mkdtempSync(join(tmpdir(), "ralph-test-tools-"));
});
afterEach(() => {
  project.dispose();
  rmSync(tools, { recursive: true });
});

function withGates(...gates: string[]): Project {
  return createProject({
    config: `${DEMO}${gates.map((gate) => `\n[[gates]]\n${gate}\n`).join("")}`,
    env: { PATH: `${tools}:${process.env["PATH"]}` },
  });
}

function lint(command: string, more = ""): Project {
  return withGates(`name = "lint"\ncommand = '''${command}'''\n${more}`);
}

function install(name: string, script: string): void {
  writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Its verdict, and how each gate ended. */
async function firstIteration(): Promise<readonly (string | undefined)[]> {
  const [first] = (await project.history()) as unknown as { verdict: string; gates: { status: string }[] }[];
  return [first?.verdict, ...(first?.gates ?? []).map(({ status }) => status)];
}

function expectRefusal(run: Finished, sentence: string): void {
  expect(run).toEqual({ code: 64, signal: null, stdout: "", stderr: `ralph: ${sentence}\n` });
  expect(exists(project, "one.txt")).toBe(false);
  expect(exists(project, ".ralph/logs")).toBe(false);
}

describe("a gate whose program is not installed refuses the start", () => {
  test.each([["no-such-linter ."], ["CI=1 MODE='a b' no-such-linter . | tee out.txt"]])(
    "when it is configured as %s",
    async (command) => {
      project = lint(command);
      const change = "Install it, or change [[gates]] in .ralph/ralph.toml:7.";
      const sentence = `Gate "lint" can't run: ${NOT_INSTALLED}. ${change}`;
      expectRefusal(await project.ralph("run"), sentence);
      expect(await project.ralph("run", "--dry-run")).toMatchObject({ code: 64, stdout: "" });
      expectRefusal(await project.ralph("run", "--parallel", "2"), sentence);
    },
  );

  test("naming each gate that lacks something", async () => {
    project = withGates(
      'name = "types"\ncommand = "true"',
      'name = "lint"\ncommand = "no-such-linter"',
      'name = "style"\ncommand = "/opt/no-such-folder/style"\nrequired = false',
    );
    expectRefusal(
      await project.ralph("run"),
      `Gate "lint" can't run: ${NOT_INSTALLED}. Install it, or change [[gates]] in .ralph/ralph.toml:11.\n` +
        `Gate "style" can't run: /opt/no-such-folder/style is not installed. Install it, or change [[gates]] in .ralph/ralph.toml:15.`,
    );
  });

  test("when --check asks for it", async () => {
    project = withGates();
    expectRefusal(
      await project.ralph("run", "make it", "--check", "no-such-linter ."),
      `Gate "no-such-linter ." can't run: ${NOT_INSTALLED}. Install it, or change --check.`,
    );
  });

  test("when the task list asks for it", async () => {
    project = withGates();
    project.remove("TODO.md");
    const story = { id: "one", title: "one", passes: false };
    project.write("tasks.json", JSON.stringify({ verifyCommands: ["no-such-linter"], userStories: [story] }));
    project.commit();
    expectRefusal(
      await project.ralph("run"),
      `Gate "no-such-linter" can't run: ${NOT_INSTALLED}. Install it, or change verifyCommands in tasks.json.`,
    );
  });

  test("of a worker too, before it asks for work", async () => {
    project = createProject({
      config: `${DEMO}[[gates]]\nname = "lint"\ncommand = "no-such-linter"\n`,
      env: { RALPH_QUEUE_URL: "postgres://127.0.0.1:1/nowhere" },
    });
    expectRefusal(
      await project.ralph("worker"),
      `Gate "lint" can't run: ${NOT_INSTALLED}. Install it, or change [[gates]] in .ralph/ralph.toml:6.`,
    );
  });

  test("when Python lacks the tool", async () => {
    install("python3", 'case "$1" in -c) echo False;; *) echo "No module named $2" >&2; exit 1;; esac');
    project = lint("python3 -m pytest -q");
    expectRefusal(
      await project.ralph("run"),
      `Gate "lint" can't run: pytest for python3 is not installed. Install it, or change [[gates]] in .ralph/ralph.toml:7.`,
    );
  });

  test("unless its own environment leads to the program", async () => {
    install("mylint", "exit 0");
    project = createProject({
      config: `${DEMO}[[gates]]\nname = "lint"\ncommand = "mylint"\n`,
    });
    expect(await project.ralph("run")).toMatchObject({ code: 64 });
    const path = `${tools}:${process.env["PATH"]}`;
    project.write(
      ".ralph/ralph.toml",
      `${DEMO}[[gates]]\nname = "lint"\ncommand = "mylint"\nenv = { PATH = "${path}" }\n`,
    );
    expect(await project.ralph("run")).toMatchObject(SUCCESS);
  });
});

describe("a run starts", () => {
  test.each([
    ["cd src && true"],
    ["[ -f README.md ]"],
    ["! false"],
    ["if true; then true; fi"],
    ["PATH=$PWD/bin:$PATH own-tool || true"],
  ])("with the shell's own word: %s", async (command) => {
    project = lint(command);
    expect(await project.ralph("run")).toMatchObject(SUCCESS);
    expect(await firstIteration()).toEqual(["accepted", "passed"]);
  });

  test.each([["./check.sh"], ["sh check.sh"]])(
    "with a script that the task has to write: %s",
    async (command) => {
      project = lint(command);
      const writes: Steps = [{ shell: "echo true > check.sh; chmod +x check.sh" }, { promise: "COMPLETE" }];
      project.script({ one: [WORKS, writes] });
      project.commit();
      expect(await project.ralph("run")).toMatchObject({ code: 0 });
      expect((await project.history()).map(({ verdict }) => verdict)).toEqual(["rejected", "accepted"]);
      expect(await firstIteration()).toEqual(["rejected", "failed"]);
    },
  );

  test("with a program in the folder where the gate runs", async () => {
    project = lint("bin/check", 'cwd = "src"');
    mkdirSync(join(project.root, "src/bin"));
    writeFileSync(join(project.root, "src/bin/check"), "#!/bin/sh\n", { mode: 0o755 });
    project.commit();
    expect(await project.ralph("run")).toMatchObject(SUCCESS);
  });

  test.each(["warn", "skip"])("without the gate where on_missing = %s, and says so", async (onMissing) => {
    project = createProject({
      tasks: ["one", "two"],
      config: `${DEMO}[[gates]]\nname = "lint"\ncommand = "no-such-linter"\non_missing = "${onMissing}"\n`,
    });
    const { code, stdout, stderr } = await project.ralph("run");
    expect(code).toBe(0);
    const warning = `ralph: Gate "lint" can't run: ${NOT_INSTALLED}. The run goes on without it (on_missing = "warn").\n`;
    expect(stderr).toBe(onMissing === "warn" ? warning : "");
    const accepted = stdout.split("\n").filter((line) => line.includes("✔ accepted"));
    expect(accepted).toHaveLength(2);
    for (const line of accepted) expect(line).toContain("lint");
    const { stdout: certificate } = await project.ralph("verify", "two");
    expect(certificate).toContain("gates     lint did not run\n");
    expect(certificate).toContain(`! gate "lint" can't run: ${NOT_INSTALLED}`);
  });
});

describe("during a run", () => {
  test.each([["mylint | cat"], ["sh wrapper.sh"]])(
    "a tool that is uninstalled is missing: %s",
    async (command) => {
      install("mylint", "exit 0");
      project = lint(command);
      project.write("wrapper.sh", "mylint\n");
      project.script({ one: [[{ shell: `rm ${join(tools, "mylint")}` }, ...WORKS]] });
      project.commit();
      await project.ralph("run", "-n", "1");
      expect(await firstIteration()).toEqual([expect.not.stringMatching("accepted"), "missing"]);
    },
  );

  test.each([["./check.sh"], ["sh check.sh"], ["sh outer.sh"]])(
    "a script of the repository that is deleted has failed: %s",
    async (command) => {
      project = lint(command);
      project.write("outer.sh", "./check.sh\n");
      writeFileSync(join(project.root, "check.sh"), "true\n", { mode: 0o755 });
      project.script({ one: [[{ shell: "rm check.sh" }, ...WORKS]] });
      project.commit();
      await project.ralph("run", "-n", "1");
      const [verdict, status = "put back"] = await firstIteration();
      expect(verdict).toBe("rejected");
      expect(status).not.toBe("missing");
    },
  );
});

describe("ralph gates and ralph doctor use the same words", () => {
  test("for a gate that must run", async () => {
    project = lint("no-such-linter .");
    const gates = await project.ralph("gates");
    expect(gates).toMatchObject({ code: 1, stdout: `✗ lint can't run: ${NOT_INSTALLED}\n` });
    const doctor = await project.ralph("doctor");
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(
      `✗ gate lint: ${NOT_INSTALLED}\n    → Install it, or change [[gates]] in .ralph/ralph.toml:7.\n`,
    );
  });

  test("for gates that may be missing", async () => {
    project = withGates(
      'name = "a"\ncommand = "no-such-linter"\non_missing = "warn"',
      'name = "b"\ncommand = "CI=1 no-such-linter | cat"\non_missing = "skip"',
    );
    const { code, stdout } = await project.ralph("gates");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `– a can't run: ${NOT_INSTALLED} (on_missing = warn)\n– b can't run: ${NOT_INSTALLED} (on_missing = skip)\n`,
    });
  });
});
