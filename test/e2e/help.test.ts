import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TOPICS } from "../../src/cli/commands/help.ts";
import { createBareProject, type Project } from "./project.ts";

let project: Project;
beforeAll(() => {
  project = createBareProject();
});
afterAll(() => project.dispose());

test("help lists commands and topics", async () => {
  const { code, stdout } = await project.ralph("help");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}doctor \[options\] +check this machine/m);
  for (const [name, summary] of Object.entries(TOPICS))
    expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}$`, "m"));
});

test("help TOPIC prints its page, without the marks of Markdown", async () => {
  const { code, stdout } = await project.ralph("help", "exit-codes");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^What the exit codes mean\n\n {2}Code {2}Meaning/);
  expect(stdout).toMatch(/^ {2}3 {5}a decision is needed +ralph inbox$/m);
  const [, page = "", root = ""] = /More: in CI \((.*)\)\.\nThese pages are in (.*)\n/.exec(stdout) ?? [];
  expect(existsSync(join(root, page))).toBe(true);
});

test("help COMMAND says what --help says; a name that is both is told as both", async () => {
  const [help, flag] = [await project.ralph("help", "run"), await project.ralph("run", "--help")];
  expect(help).toEqual(flag);
  const { stdout } = await project.ralph("help", "gates");
  expect(stdout).toContain("Commands that must pass");
  expect(stdout).toContain("Usage: ralph gates [options]");
});

test("an unknown topic is refused with the nearest one", async () => {
  expect(await project.ralph("help", "exit-code")).toMatchObject({
    code: 64,
    stderr: 'ralph: there is neither a topic nor a command "exit-code"\n  → ralph help exit-codes\n',
  });
});

test("completions know the topics", async () => {
  const { stdout } = await project.ralph("completion", "bash");
  expect(stdout).toMatch(/"help"\) word="getting-started .*troubleshooting/);
});
