import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TOPICS } from "../../src/cli/commands/help.ts";
import { COMMANDS, type CommandGroup, GROUPS } from "../../src/cli/commands.ts";
import { createBareProject, type Project } from "./project.ts";

let project: Project;
beforeAll(() => {
  project = createBareProject();
});
afterAll(() => project.dispose());

test("help lists commands in their groups, and topics", async () => {
  const { code, stdout } = await project.ralph("help");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Maintain\n {2}doctor +check this machine/m);
  for (const [name, summary] of Object.entries(TOPICS))
    expect(stdout).toMatch(new RegExp(`^  ${name} +${summary}$`, "m"));
});

test("ralph alone and --help fit on one screen, and leave out what is rarely used", async () => {
  const [alone, flag] = [await project.ralph(), await project.ralph("--help")];
  expect(alone).toEqual(flag);
  const lines = alone.stdout.trimEnd().split("\n");
  expect(lines.length).toBeLessThan(40);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  const words = new Set(alone.stdout.match(/[\w-]+/g));
  const groups: readonly CommandGroup[] = Object.values(GROUPS);
  const rare = groups.flatMap((group) => group.rare);
  const others = groups.flatMap((group) => [...group.usual, ...group.others]);
  for (const name of others) expect(words).toContain(name);
  for (const name of rare)
    expect(alone.stdout).not.toMatch(new RegExp(`^  ${name} |also:.*\\b${name}\\b`, "m"));
});

test("help GROUP lists a group whole, and every command is in one", async () => {
  const texts = await Promise.all(Object.keys(GROUPS).map((name) => project.ralph("help", name)));
  const listed = texts.flatMap(({ stdout }) =>
    [...stdout.matchAll(/^ {2}([\w-]+) /gm)].map(([, name]) => name),
  );
  expect(listed).toHaveLength(Object.keys(COMMANDS).length);
  expect(new Set(listed)).toEqual(new Set(Object.keys(COMMANDS)));
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
