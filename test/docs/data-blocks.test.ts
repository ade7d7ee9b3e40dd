// What the documentation shows as configuration, JSON and code is just that.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { complaint } from "../config/config-folder.ts";
import { allBlocks, ROOT, type CodeBlock } from "./code-blocks.ts";

const named = ({ page, line }: CodeBlock): string => `${page}:${line}`;
const isGenerated = ({ page }: CodeBlock): boolean => page.startsWith("docs/reference/");

test("every toml block is a configuration that is accepted", async () => {
  const blocks = allBlocks("toml");
  expect(blocks.length).toBeGreaterThan(25);
  const wrong: string[] = [];
  for (const block of blocks) {
    const said = await complaint({ ".ralph/ralph.toml": block.text });
    if (said !== "nothing is wrong") wrong.push(`${named(block)}: ${said}`);
  }
  expect(wrong).toEqual([]);
});

test("every json block is JSON", () => {
  const blocks = allBlocks("json");
  expect(blocks.length).toBeGreaterThan(3);
  expect(blocks.filter(({ text }) => !isJson(text)).map(named)).toEqual([]);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // that is the answer
  }
}

test("the code of the generated reference can be parsed", () => {
  const wrong = allBlocks("ts", "js").filter(
    (block) => isGenerated(block) && parseSync("block.ts", block.text).errors.length > 0,
  );
  expect(wrong.map(named)).toEqual([]);
});

/** What a page's code uses and does not show. */
const UNSHOWN = `import { createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "ralph";
declare function brokenLinks(root: string, signal: AbortSignal): Promise<string[]>;
declare const [secret, signature]: string[], rawBody: Buffer;
`;

let folder: string;

/** A project of somebody else's that has ralph installed. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-blocks-"));
  mkdirSync(join(folder, "node_modules", "@types"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules", "ralph"));
  symlinkSync(join(ROOT, "node_modules", "@types", "node"), join(folder, "node_modules", "@types", "node"));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    target: "es2024",
    types: ["node"],
  };
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("all other code fits the types that are published", () => {
  const pages = Map.groupBy(
    allBlocks("ts", "js").filter((block) => !isGenerated(block)),
    ({ page }) => page,
  );
  expect(pages.size).toBeGreaterThan(7);
  for (const [page, blocks] of pages) {
    const name = page.replaceAll(/\W/g, "-");
    writeFileSync(join(folder, `${name}.ts`), moduleOf(blocks));
  }
  writeFileSync(join(folder, "wrong.ts"), moduleOf([{ text: "gates: { links: { check: 1 } }," }]));
  const { stdout } = spawnSync(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", "."], {
    cwd: folder,
    encoding: "utf8",
  });
  const found = stdout.split("\n").filter((line) => /^\S/.test(line));
  expect(found.filter((line) => !line.startsWith("wrong.ts"))).toEqual([]);
  expect(found).toHaveLength(1);
});

/** The blocks of one page as one file; parts of a plugin are put where they belong. */
function moduleOf(blocks: readonly Pick<CodeBlock, "text">[]): string {
  const texts = blocks.map(({ text }) => text.replaceAll(/^import \{ definePlugin \} from "ralph";$/gm, ""));
  return `${UNSHOWN}${texts.map(statementOf).join("\n")}\nexport {};\n`;
}

function statementOf(text: string): string {
  const plugin = (part: string): string => `definePlugin({ apiVersion: 1, name: "block", ${part} });`;
  if (text.startsWith("createReader()")) return plugin(`agents: { one: { command: ["one"], ${text} } }`);
  return /^\w+: \{/.test(text) ? plugin(text) : text;
}
