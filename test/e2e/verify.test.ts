import { afterEach, describe, expect, test } from "vitest";
import { createProject, type Project, type Steps } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

const GATED = `agent = "demo"
[agents.demo]
script = ".ralph/script.json"
[[gates]]
name = "tests"
command = "test ! -e a.txt || grep -q right a.txt || { echo 'FAIL a.test.ts > is right'; echo '1 failed'; exit 1; }"
`;

const DOES_IT: Steps = [
  { write: { path: "a.txt", text: "right\n" } },
  { write: { path: "b.txt", text: "more\n" } },
  { promise: "COMPLETE" },
];

async function accepted(config = GATED, ...flags: string[]): Promise<void> {
  project = createProject({ config });
  project.script({ one: [DOES_IT] });
  project.commit();
  expect(await project.ralph("run", ...flags)).toMatchObject({ code: 0 });
}

describe("ralph verify", () => {
  test("prints the certificate, checks everything again, and writes nothing", async () => {
    await accepted();
    const log = (await project.ralph("history", "--jsonl")).stdout;
    const { code, stdout } = await project.ralph("verify", "one");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^one was accepted in iteration 1, \d{4}-[\dT:-]+Z, commit [0-9a-f]{7}\.$/m);
    expect(stdout).toMatch(/^ {2}claim {5}COMPLETE, by demo$/m);
    expect(stdout).toMatch(/^ {2}changed {3}2 files: a\.txt, b\.txt$/m);
    expect(stdout).toMatch(/^ {2}gates {5}tests passed \(/m);
    expect(stdout).toMatch(/^✔ the accepted commit [0-9a-f]{7} is in the history of HEAD$/m);
    expect(stdout).toMatch(/^✔ the work is still there \(2 files\)$/m);
    expect(stdout).toMatch(/^✔ gate "tests" passes \(/m);
    expect(stdout).toMatch(/\none is verified\.\n$/);
    expect(project.git("status", "--porcelain")).toBe("");
    expect((await project.ralph("history", "--jsonl")).stdout).toBe(log);
  });

  test("after somebody broke the code: exit 1, and which gate", async () => {
    await accepted();
    project.write("a.txt", "wrong\n");
    project.commit("break it");
    const { code, stdout } = await project.ralph("verify", "one");
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      '✗ gate "tests" fails now (exit 1); it passed when the task was accepted; failing: a.test.ts > is right',
    );
    expect(stdout).toContain("  │ 1 failed\n");
    expect(stdout).toContain("one is not verified: 1 check failed.\n");
    const json = await project.ralph("verify", "one", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      schema: "ralph.verify.v1",
      verified: false,
      certificate: { claim: "COMPLETE", changed: { files: 2 } },
      checks: [
        { check: "history", status: "well" },
        { check: "work", status: "well" },
        { check: "gate:tests", status: "failed" },
      ],
    });
    expect(await project.ralph("verify", "one", "--no-gates")).toMatchObject({ code: 0 });
  });

  test("after a revert of the work: exit 1, though the gates pass", async () => {
    await accepted();
    project.git("revert", "--no-edit", project.git("log", "--format=%H", "--max-count=1", "--", "a.txt"));
    const { code, stdout } = await project.ralph("verify", "one");
    expect(code).toBe(1);
    expect(stdout).toContain("✗ nothing is left of the work; no longer there: a.txt, b.txt\n");
    expect(stdout).toContain('✔ gate "tests" passes');
  });

  test("a part that is gone is a warning, and uncommitted changes are said", async () => {
    await accepted();
    project.remove("b.txt");
    const { code, stdout } = await project.ralph("verify", "one");
    expect(code).toBe(0);
    expect(stdout).toContain("! part of the work is gone; no longer there: b.txt\n");
    expect(stdout).toContain("Note: the work tree has uncommitted changes (1 file: b.txt)");
  });

  test("on another branch the commit is not in the history", async () => {
    await accepted();
    project.git("checkout", "--quiet", "-b", "other", "HEAD~2");
    expect(await project.ralph("verify", "one", "--no-gates")).toMatchObject({ code: 1 });
  });

  test("runs a --check of the run again, and today's command of a gate with the same name", async () => {
    await accepted(GATED, "--check", "test ! -e broken");
    project.write(".ralph/ralph.toml", GATED.replace("grep -q right", "grep -q left"));
    project.write("broken", "");
    const { code, stdout } = await project.ralph("verify", "one");
    expect(code).toBe(1);
    expect(stdout).toContain('✗ gate "tests" fails now');
    expect(stdout).toContain('✗ gate "test ! -e broken" fails now (exit 1); it passed when');
  });

  test("says what a task is that was never accepted", async () => {
    project = createProject({ tasks: ["one", "two"] });
    project.write("TODO.md", "- [ ] **one**: make one\n- [x] **two**: by hand\n");
    project.script({ one: [[{ blocked: "no" }]] });
    project.commit();
    await project.ralph("run");
    const blocked = await project.ralph("verify", "one");
    expect(blocked).toMatchObject({ code: 64 });
    expect(blocked.stderr).toContain("was never accepted, so there is no certificate: it is blocked");
    expect((await project.ralph("verify", "two")).stderr).toContain("it is done, marked by a person");
    const unknown = await project.ralph("verify", "tow");
    expect(unknown).toMatchObject({ code: 64 });
    expect(unknown.stderr).toContain('there is no task "tow"');
  });
});
