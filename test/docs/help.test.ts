import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { commandShapes, type CommandShape } from "../../src/cli/commands/completion.ts";
import { helpBlocks } from "../../scripts/help-blocks.ts";
import { TOPICS } from "../../src/cli/commands/help.ts";
import { createProgram } from "../../src/cli/commands.ts";
import { EXIT_CODES } from "../../src/core/loop/outcome.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const topics = Object.keys(TOPICS);
const read = (name: string): string => readFileSync(join(ROOT, "docs", "help", `${name}.md`), "utf8");

let shapes: readonly CommandShape[];
beforeAll(async () => {
  shapes = commandShapes(await createProgram("", () => true));
});

test("every topic has a page, and every page is a topic", () => {
  const pages = globSync("docs/help/*.md", { cwd: ROOT }).map((path) => basename(path, ".md"));
  expect(pages.toSorted()).toEqual(topics.toSorted());
});

test.each(topics)("the page of %s begins with its summary, and fits into a terminal", (name) => {
  const [heading] = helpBlocks(read(name));
  const summary: string = TOPICS[name as keyof typeof TOPICS];
  expect(heading).toEqual({ is: "heading", text: `${summary[0]?.toUpperCase()}${summary.slice(1)}` });
  const lines = read(name).split("\n");
  expect(lines.filter((line) => line.length > 112)).toEqual([]);
  expect(lines.length).toBeLessThan(50);
});

test.each(topics)("what the page of %s tells to type can be typed", (name) => {
  const typed = [...read(name).matchAll(/(?:^|`)ralph ((?:[a-z-]+)(?: [^`#\n]*)?)/gm)].map(
    ([, words = ""]) => words,
  );
  for (const words of typed) {
    const command = shapes.find(({ path }) => path === words.split(" ")[0]);
    expect(command, `ralph ${words}`).toBeDefined();
    for (const [flag] of words.matchAll(/(?<= )--[a-z-]+/g))
      expect(command?.options.map(({ long }) => long)).toContain(flag);
  }
});

test("every exit code of a run is explained", () => {
  const table = helpBlocks(read("exit-codes")).find(({ is }) => is === "table");
  const codes = table?.is === "table" ? table.rows.map(([code]) => Number(code)) : [];
  expect(codes).toEqual(expect.arrayContaining(Object.values(EXIT_CODES)));
});

test("the manual page has every command and every topic, and the formatter understands it", () => {
  const page = readFileSync(join(ROOT, "man", "ralph.1"), "utf8");
  for (const { path } of shapes.slice(1))
    expect(page).toContain(`\n.SS ralph ${path.replaceAll("-", String.raw`\-`)}\n`);
  expect(page.match(/^\.SH /gm)).toHaveLength(4 + topics.length);
  const macros = [...page.matchAll(/^\.(\S+)/gm)].map(([, macro = ""]) => macro);
  const known = ['\\"', "TH", "SH", "SS", "B", "PP", "TP", "IP", "RS", "RE", "nf", "fi", "br"];
  expect(macros.filter((macro) => !known.includes(macro))).toEqual([]);
  if (spawnSync("groff", ["--version"]).status !== 0) return;
  expect(
    execFileSync("groff", ["-man", "-ww", "-z", join(ROOT, "man", "ralph.1")], { encoding: "utf8" }),
  ).toBe("");
});
