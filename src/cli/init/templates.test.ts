import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { detectGates } from "./templates.ts";

function gatesOf(
  files: Readonly<Record<string, string>>,
  programs: readonly string[] = [],
): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), "ralph-test-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const { found } = detectGates(root, (name) => programs.includes(name));
  rmSync(root, { recursive: true });
  return found.map(({ name, command }) => `${name}: ${command}`);
}

const scripts = (all: object, more: object = {}): Readonly<Record<string, string>> => ({
  "package.json": JSON.stringify({ scripts: all, ...more }),
});

test.each([
  ["nothing", {}, []],
  ["npm", scripts({ test: "jest" }), ["tests: npm test"]],
  ["what npm begins with", scripts({ test: 'echo "Error: no test specified" && exit 1' }), []],
  ["tests that never end", scripts({ test: "jest --watchAll", lint: "x" }), ["lint: npm run lint"]],
  [
    "yarn",
    { ...scripts({ test: "jest", types: "tsc" }), "yarn.lock": "" },
    ["tests: yarn test", "types: yarn run types"],
  ],
  ["bun", { ...scripts({ test: "x" }), "bun.lock": "" }, ["tests: bun run test"]],
  ["a named manager", scripts({ test: "x" }, { packageManager: "pnpm@9.1.0" }), ["tests: pnpm test"]],
  ["a damaged package.json", { "package.json": "{" }, []],
  [
    "make",
    { Makefile: "lint:\n\tx\ntest: lint\n\tx\ncheck: test\n" },
    ["tests: make test", "lint: make lint"],
  ],
  ["make check", { Makefile: "check:\n\tx\ntest := 1\n" }, ["tests: make check"]],
  ["Go", { "go.mod": "module x\n" }, ["tests: go test ./...", "vet: go vet ./..."]],
  [
    "make over Go",
    { "go.mod": "module x\n", Makefile: "test:\n" },
    ["tests: make test", "tests: go test ./...", "vet: go vet ./..."],
  ],
  ["Python", { "pyproject.toml": "[project]\n" }, ["tests: python3 -m pytest"]],
  [
    "Python with its tools",
    { "pyproject.toml": "[tool.ruff.lint]\nselect = []\n[tool.mypy]\n", "uv.lock": "" },
    ["tests: uv run pytest", "lint: uv run ruff check .", "types: uv run mypy ."],
  ],
  [
    "Python with files for its tools",
    { "setup.py": "x", "ruff.toml": "", "mypy.ini": "" },
    ["tests: python3 -m pytest", "lint: ruff check .", "types: mypy ."],
  ],
  ["Rust", { "Cargo.toml": "[package]\n" }, ["tests: cargo test"]],
] as const)("of %s", (_what, files, expected) => {
  expect(gatesOf(files)).toEqual(expected);
});

test("clippy is asked for where it is installed", () => {
  expect(gatesOf({ "Cargo.toml": "[workspace]\n" }, ["cargo-clippy"])).toEqual([
    "tests: cargo test",
    "clippy: cargo clippy --all-targets",
  ]);
});
