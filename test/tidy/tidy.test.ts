import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Size, sizes } from "./sizes.ts";
import { tidy } from "./tidy.ts";

const repository = join(import.meta.dirname, "..", "..");
const trees: string[] = [];

afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

test("this repository is tidy", () => {
  expect(tidy(repository, sizes)).toEqual([]);
});

test("a tree that keeps every rule has no finding", () => {
  const tree = plant({
    "src/core/plan.ts": `export const done = (at: number): Date => new Date(at);`,
    "src/core/plan.test.ts": `import { test } from "vitest";\nimport { done } from "./plan.ts";\ntest("x", () => console.log(done(1)));`,
    "src/engine/ports.ts": `import type { done } from "../core/plan.ts";\nexport type Done = typeof done;`,
    "src/adapters/store/sqlite.ts": `import Database from "better-sqlite3";\nimport type { Done } from "../../engine/ports.ts";\nexport const open = (d: Done) => [Database, d];`,
    "src/app/compose.ts": `import { open } from "../adapters/store/sqlite.ts";\nexport const compose = () => open;`,
    "src/cli/run.ts": `import { compose } from "../app/compose.ts";\nexport const run = () => console.log(compose(), process.pid);`,
    "src/main.ts": `const { run } = await import("./cli/run.ts");\nrun();`,
    "src/demo-agent.ts": `import { argv } from "node:process";\nconsole.log(argv);`,
  });
  expect(tidy(tree)).toEqual([]);
});

describe("import directions", () => {
  const cases: readonly [why: string, from: string, statement: string, reason: string][] = [
    ["core uses Node", "src/core/a.ts", `import "node:fs";`, "imports node:fs; core imports core only"],
    ["core uses a package", "src/core/a.ts", `import "zod";`, "imports zod; core imports core only"],
    [
      "core uses the engine",
      "src/core/a.ts",
      `import "../engine/b.ts";`,
      "imports src/engine/b.ts; core imports",
    ],
    [
      "types count",
      "src/core/a.ts",
      `import type { B } from "../engine/b.ts";`,
      "imports src/engine/b.ts; core",
    ],
    [
      "type queries count",
      "src/core/a.ts",
      `export type B = import("../engine/b.ts").B;`,
      "imports src/engine/b.ts",
    ],
    ["lazy ones count", "src/core/a.ts", `void import("../engine/b.ts");`, "imports src/engine/b.ts; core"],
    [
      "re-exports count",
      "src/core/a.ts",
      `export { b } from "../engine/b.ts";`,
      "imports src/engine/b.ts; core",
    ],
    [
      "engine uses an adapter",
      "src/engine/a.ts",
      `import "../adapters/x/b.ts";`,
      "imports src/adapters/x/b.ts; engine",
    ],
    ["engine uses a package", "src/engine/a.ts", `import "zod";`, "imports zod; engine imports core, engine"],
    [
      "adapter uses the engine",
      "src/adapters/x/a.ts",
      `import "../../engine/b.ts";`,
      "imports src/engine/b.ts; an",
    ],
    [
      "adapter uses a sister",
      "src/adapters/y/a.ts",
      `import "../x/b.ts";`,
      "imports src/adapters/x/b.ts; an adapter",
    ],
    [
      "config uses the engine",
      "src/config/a.ts",
      `import "../engine/b.ts";`,
      "imports src/engine/b.ts; config",
    ],
    [
      "a screen uses the engine",
      "src/tui/a.ts",
      `import "../engine/b.ts";`,
      "imports src/engine/b.ts; screens",
    ],
    [
      "the evaluation uses an adapter",
      "src/eval/a.ts",
      `import "../adapters/x/b.ts";`,
      "imports src/adapters/x/b.ts; the evaluation",
    ],
    [
      "cli uses an adapter",
      "src/cli/a.ts",
      `import "../adapters/x/b.ts";`,
      "imports src/adapters/x/b.ts; cli",
    ],
    [
      "adapter uses compose",
      "src/adapters/x/a.ts",
      `import "../../app/compose.ts";`,
      "imports src/app/compose.ts, which only",
    ],
    [
      "compose uses cli",
      "src/app/compose.ts",
      `import "../cli/b.ts";`,
      "imports src/cli/b.ts, which only cli and main",
    ],
    ["cli uses main", "src/cli/a.ts", `import "../main.ts";`, "imports src/main.ts, which only"],
    [
      "demo uses the engine",
      "src/demo-agent.ts",
      `import "./engine/b.ts";`,
      "imports src/engine/b.ts; the demo",
    ],
    ["demo uses a package", "src/demo-agent.ts", `import "zod";`, "imports zod; the demo agent stands alone"],
    ["no layer", "src/misc/a.ts", `import "zod";`, "the file belongs to no layer"],
    ["no such file", "src/core/a.ts", `import "./b";`, "./b does not exist"],
  ];
  test.each(cases)("%s", (_why, from, statement, reason) => {
    const targets = [
      "src/engine/b.ts",
      "src/adapters/x/b.ts",
      "src/cli/b.ts",
      "src/app/compose.ts",
      "src/main.ts",
    ];
    const empty = Object.fromEntries(targets.map((path) => [path, ""]));
    expectOne(plant({ ...empty, [from]: `\n${statement}` }), `${from}:2: ${reason}`);
  });
});

describe("cycles", () => {
  test("are named with their whole path", () => {
    const tree = plant({
      "src/core/a.ts": `import { b } from "./b.ts";\nexport const a = () => b;`,
      "src/core/b.ts": `import { c } from "./c.ts";\nexport const b = () => c;`,
      "src/core/c.ts": `import { a } from "./a.ts";\nexport const c = () => a;`,
    });
    expectOne(
      tree,
      "src/core/a.ts:1: import cycle src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts;",
    );
  });

  test("of types only are none", () => {
    const tree = plant({
      "src/core/a.ts": `import type { B } from "./b.ts";\nexport type A = B | 1;`,
      "src/core/b.ts": `import type { A } from "./a.ts";\nexport type B = A[];`,
    });
    expect(tidy(tree)).toEqual([]);
  });
});

describe("other rules", () => {
  const long = (lines: number): string => "\n".repeat(lines - 1) + "export {};\n";
  const cases: readonly [why: string, path: string, text: string, finding: string][] = [
    ["a long file", "src/core/a.ts", long(501), ":501: 501 lines, at most 500 are allowed"],
    ["a long test file", "src/core/a.test.ts", long(501), ":501: 501 lines, at most 500 are allowed"],
    [
      "a long function",
      "src/core/a.ts",
      `\nexport function f() {${"\n".repeat(70)}}`,
      ":2: function f has 71 lines",
    ],
    [
      "a long closure",
      "src/core/a.ts",
      `export const f = () => {${"\n".repeat(70)}};`,
      ":1: a function has 71 lines",
    ],
    ["the clock in core", "src/core/a.ts", `export const a = () => Date.now();`, ":1: Date.now in core"],
    [
      "a date of now in core",
      "src/core/a.ts",
      `export const a = () => new Date();`,
      ":1: new Date() in core",
    ],
    ["chance in core", "src/core/a.ts", `export const a = () => Math.random();`, ":1: Math.random in core"],
    ["process in core", "src/core/a.ts", `export const a = () => process.pid;`, ":1: process in core"],
    ["console in core", "src/core/a.ts", `console.log(1);`, ":1: console in core"],
    ["console in the engine", "src/engine/a.ts", `\n\nconsole.log(1);`, ":3: console outside src/cli"],
    ["a barrel", "src/main.ts", `export * from "commander";`, ":1: export *;"],
    ["a default export", "src/main.ts", `export default 1;`, ":1: export default;"],
    ["an empty name", "src/core/string-utils.ts", ``, `:1: "string-utils" says nothing`],
    ["an empty folder name", "src/core/helpers/a.ts", ``, `:1: "helpers" says nothing`],
    ["camel case", "src/core/nextTask.ts", ``, ":1: the file name is not kebab-case"],
    ["another git", "src/engine/a.ts", `\nspawnSync("git", [])`, ":2: starts git by itself"],
    ["a left-over line", "src/core/a.ts", `export {}; // TODO: later`, `:1: left-over TODO`],
    ["a left-over block", "test/a.ts", `/*\n * FIXME\n */`, `:2: left-over FIXME`],
  ];
  test.each(cases)("%s", (_why, path, text, finding) => {
    expectOne(plant({ [path]: text }), `${path}${finding}`);
  });

  test("words in strings are not comments", () => {
    expect(tidy(plant({ "src/core/a.ts": `export const mark = "// TODO";` }))).toEqual([]);
  });
});

describe("the sizes of folders", () => {
  const tree = {
    "src/core/a.ts": "\n".repeat(100),
    "src/core/plan/b.ts": "\n".repeat(60),
    "src/core/plan/deep/c.ts": "\n".repeat(40),
    "src/core/plan/b.test.ts": "\n".repeat(200),
    "src/engine/effects/d.ts": "\n".repeat(100),
  };
  const fitting: Record<string, Size> = {
    "src/core": { lines: 100, files: 1 },
    "src/core/plan": { lines: 100, files: 2 },
    "src/engine": { lines: 102, files: 1 },
  };

  test("fit entries that are equal or at most 2 % larger, without tests", () => {
    expect(tidy(plant(tree), fitting)).toEqual([]);
  });

  const cases: readonly [why: string, entries: Record<string, Size>, finding: string][] = [
    [
      "more lines than the entry",
      { "src/core/plan": { lines: 99, files: 2 } },
      "src/core/plan: 100 lines, its entry in test/tidy/sizes.ts is 99; make the folder smaller",
    ],
    [
      "more files than the entry",
      { "src/core/plan": { lines: 100, files: 1 } },
      "src/core/plan: 2 files, its entry in test/tidy/sizes.ts is 1; make the folder smaller",
    ],
    [
      "an entry that is too high",
      { "src/engine": { lines: 103, files: 1 } },
      "src/engine: 100 lines, its entry in test/tidy/sizes.ts is 103; lower the entry to 100",
    ],
    [
      "an entry without a folder",
      { "src/web": { lines: 10, files: 0 } },
      "src/web: 0 lines, its entry in test/tidy/sizes.ts is 10; lower the entry to 0",
    ],
  ];
  test.each(cases)("%s", (_why, entries, finding) => {
    expect(tidy(plant(tree), { ...fitting, ...entries })).toEqual([finding]);
  });

  test("a folder without an entry", () => {
    const { "src/core": _core, ...others } = fitting;
    expect(tidy(plant(tree), others)).toEqual([
      "src/core: 100 lines, its entry in test/tidy/sizes.ts is 0; make the folder smaller",
      "src/core: 1 files, its entry in test/tidy/sizes.ts is 0; make the folder smaller",
    ]);
  });
});

function expectOne(tree: string, start: string): void {
  expect(tidy(tree).map((finding) => finding.slice(0, start.length))).toEqual([start]);
}

/** Writes a tree of files to a temporary folder. */
function plant(files: Record<string, string>): string {
  const tree = mkdtempSync(join(tmpdir(), "ralph-tidy-"));
  trees.push(tree);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  return tree;
}
