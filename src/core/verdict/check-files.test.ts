import { describe, expect, test } from "vitest";
import { takesEffectByItself } from "./check-file-kinds.ts";
import { findSetBacks, mayBeCheckFile, type ChangedFile, type GateLine } from "./check-files.ts";

const NPM: readonly GateLine[] = [{ command: "npm test", cwd: null }];
const gate = (command: string): readonly GateLine[] => [{ command, cwd: null }];
const changed = (path: string, before: string | null, after: string | null): ChangedFile => ({
  path,
  before,
  after,
});
/** What is done to each path, `merged` without its text. */
const plan = (files: readonly ChangedFile[], gates = NPM): Readonly<Record<string, string>> =>
  Object.fromEntries(findSetBacks(files, gates).map(({ path, to }) => [path, to]));

describe("a check file by its path", () => {
  test.each([
    // tests of many languages
    "src/add.test.ts",
    "src/add.spec.tsx",
    "test/add.test-d.ts",
    "src/components/__tests__/button.jsx",
    "test/helper.js",
    "test.js",
    "tests/data/input.csv",
    "tests.py",
    "test_add.py",
    "pkg/add_test.py",
    "add_test.go",
    "internal/add/testdata/in.json",
    "tests/it_works.rs",
    "src/tests.rs",
    "src/test/java/com/acme/Helper.java",
    "src/main/AddTest.java",
    "AddIT.java",
    "TestAdd.java",
    "AddSpec.scala",
    "Acme.Tests/Adding.cs",
    "AddTests.cs",
    "AcmeTests/Adding.swift",
    "tests/AddTest.php",
    "spec/add_spec.rb",
    "test/add_test.exs",
    "t/01-add.t",
    "add-test.el.test.sh",
    "test/add.bats",
    "features/login.feature",
    "cypress/e2e/login.cy.js",
    "src/__snapshots__/add.test.ts.snap",
    "__mocks__/fs.js",
    "fixtures/users.json",
    "src/__fixtures__/users.json",
    "add_unittest.cc",
    "test_add.c",
    "test/LibSpec.hs",
    "add.golden",
    "data/expected-output.txt",
    // settings
    "tsconfig.json",
    "tsconfig.build.json",
    "packages/a/tsconfig.json",
    "vitest.config.ts",
    "eslint.config.mjs",
    "next.config.js",
    "karma.conf.js",
    "src/jest.config.js",
    ".eslintrc.json",
    ".mocharc.yml",
    ".nycrc",
    ".babelrc",
    ".eslintignore",
    ".prettierignore",
    "pytest.ini",
    "tox.ini",
    "mypy.ini",
    ".flake8",
    ".coveragerc",
    "ruff.toml",
    ".ruff.toml",
    "pyrightconfig.json",
    ".golangci.yml",
    "phpunit.xml.dist",
    "phpstan.neon",
    ".rspec",
    ".rubocop.yml",
    "codecov.yml",
    "codecept.yml",
    ".env.test",
    "local.env",
    ".gitattributes",
    "tools/rules.json",
    "jest-reporter.cjs",
    "clippy.toml",
    "biome.json",
    ".clang-tidy",
    "checkstyle.xml",
    "analysis_options.yaml",
    ".editorconfig",
    ".cargo/config.toml",
    // start files
    ".npmrc",
    "conftest.py",
    "tests/conftest.py",
    "sitecustomize.py",
    "src/setupTests.js",
    "jest.setup.js",
    // build files
    "Makefile",
    "GNUmakefile",
    "rules/common.mk",
    "CMakeLists.txt",
    "justfile",
    "Taskfile.yml",
    "gradlew",
    "build.gradle.kts",
    "pom.xml",
    "Rakefile",
    "noxfile.py",
    "meson.build",
    "turbo.json",
    // scripts
    "scripts/anything.mjs",
    "ci/steps.sh",
    ".github/workflows/ci.yml",
    "check.sh",
    "lint.py",
    "run-tests.sh",
    "tools/verify.mjs",
    "check",
    // both
    "package.json",
    "packages/a/package.json",
    "pyproject.toml",
    "setup.cfg",
    "Cargo.toml",
    "src/lib.rs",
  ])("%s counts", (path) => {
    expect(mayBeCheckFile(path, NPM)).toBe(true);
  });

  test.each([
    "src/main.ts",
    "src/spec-parser.ts",
    "src/checkout.ts",
    "src/check.ts",
    "src/verify-token.ts",
    "src/test-runner.ts",
    "src/scripts/menu.js",
    "src/snapshots/create.ts",
    "src/app/app.config.ts",
    "lib/lint-rules.js",
    "app/models/contest.rb",
    "latest.py",
    "attest.go",
    "checkout.sh",
    "README.md",
    "tests/README.md",
    "docs/spec/format.md",
    "docs/test.md",
    "CHANGELOG.md",
    ".gitignore",
    ".dockerignore",
    ".coverage",
    ".eslintcache",
    ".rspec_status",
    ".env.example",
    "src/coverage.ts",
    "src/karma-points.js",
    "src/rules.ts",
    "src/expected.ts",
    "node_modules/a/test/b.js",
    "vendor/a/a_test.go",
    "package-lock.json",
    "requirements.txt",
    "go.mod",
    "data/units.json",
    "src/contestTest.ts.md",
  ])("%s does not count", (path) => {
    expect(mayBeCheckFile(path, NPM)).toBe(false);
  });
});

describe("a file that a gate names", () => {
  test.each([
    ["python3 main.py | grep -q Fizz", "main.py"],
    ["node src/cli.js --version", "src/cli.js"],
    ["./bin/tool --help", "bin/tool"],
    ["cd sub && python3 main.py", "sub/main.py"],
    ["node src/spec-parser.js sample", "src/spec-parser.js"],
    ["python3 -m fizz | grep Fizz", "fizz.py"],
    ["cat greeting", "greeting"],
  ])("%s: %s is the program under work", (command, path) => {
    expect(mayBeCheckFile(path, gate(command))).toBe(false);
    expect(plan([changed(path, "old\n", "new\n")], gate(command))).toEqual({});
  });

  test.each([
    ["node test.js", "test.js"],
    ["sh scripts/check.sh", "scripts/check.sh"],
    ["./verify.mjs", "verify.mjs"],
    ["node src/check.js", "src/check.js"],
    ["tclsh tools/lint/all", "tools/lint/all"],
    ["./prog | diff - expected.txt", "expected.txt"],
    ["tsc -p tsconfig.json", "tsconfig.json"],
    ["make -f build/rules.mk", "build/rules.mk"],
    ["./gradlew test", "gradlew"],
  ])("%s: %s is a check file", (command, path) => {
    expect(plan([changed(path, "old\n", "new\n")], gate(command))).toEqual({ [path]: "old" });
  });
});

describe("what happens to a check file", () => {
  test("a changed and a deleted one are set back", () => {
    const files = [changed("test/a.test.js", "expect(1)\n", "\n"), changed("vitest.config.ts", "a", null)];
    expect(plan(files)).toEqual({ "test/a.test.js": "old", "vitest.config.ts": "old" });
  });

  test("other line ends are a change", () => {
    expect(plan([changed("test/a.sh", "a\nb\n", "a\r\nb\r\n")])).toEqual({ "test/a.sh": "old" });
  });

  test("a text that is the same has another mode, and is set back", () => {
    expect(plan([changed("test/a.sh", "a\n", "a\n")])).toEqual({ "test/a.sh": "old" });
  });

  test.each([
    "vitest.config.ts",
    ".npmrc",
    "tests/conftest.py",
    "sitecustomize.py",
    "__mocks__/fs.js",
    "src/__mocks__/db.js",
    ".eslintignore",
    "pytest.py",
    "unittest/__init__.py",
    "GNUmakefile",
    "test",
    ".cargo/config.toml",
    "tests/slow/.skip",
    ".env",
  ])("a new %s takes effect by itself and is removed", (path) => {
    expect(takesEffectByItself(path, gate("make test"))).toBe(true);
    expect(plan([changed(path, null, "x\n")], gate("make test"))).toEqual({ [path]: "gone" });
  });

  test.each([
    "test/b.test.js",
    "scripts/new.sh",
    "Makefile",
    "tests/fixtures/app/tsconfig.json",
    "package.json",
    "tests/__init__.py",
    "tests/data/.gitkeep",
    "tests/case/input",
  ])("a new %s stays, and needs no second pass", (path) => {
    expect(plan([changed(path, null, "{}\n")])).toEqual({});
  });

  test.each([
    'import assert from "node:assert/strict";\nimport { test } from "node:test";\n\ntest("b", () => assert(b()));\n',
    'const assert = require("assert");\nassert(require("../b.js").b());\n',
    'import { expect, it } from "vitest";\nit("b", () => expect(1).toBe(1));\n',
    "use Test::More qw(ok is);\nok(b());\n",
    "from unittest.mock import patch\nfrom b import check_b\n\ndef test_b():\n    assert check_b()\n",
  ])("a new test that imports what it needs stays: %j", (text) => {
    expect(plan([changed("test/b.test.js", null, text)])).toEqual({});
  });

  test("new attributes are emptied: git would take them from its index", () => {
    const files = [changed(".gitattributes", null, "* -whitespace\n")];
    expect(findSetBacks(files, NPM)).toEqual([{ path: ".gitattributes", to: "merged", text: "" }]);
  });

  test("settings of a new folder stay, those that reach the folder around it do not", () => {
    const paths = [
      "packages/new/tsconfig.json",
      ".cargo/config.toml",
      "__mocks__/fs.js",
      "tests/conftest.py",
    ];
    const files = paths.map((path) => changed(path, null, "x\n"));
    const hasFolder = (folder: string): boolean => !/^(?:packages\/new|\.cargo|__mocks__)$/.test(folder);
    const found = findSetBacks(files, NPM, { hasFolder, hasTests: true });
    expect(found.map(({ path }) => path)).toEqual(paths.slice(1));
  });

  test("where there were no tests, settings of test runners and new tests stay, those of other tools do not", () => {
    const files = [
      changed("vitest.config.ts", null, "x\n"),
      changed("tests/conftest.py", null, "x\n"),
      changed("test/a.test.ts", null, "x\n"),
      changed("pyproject.toml", "", '[tool.pytest.ini_options]\npythonpath = ["src"]\n'),
      changed("package.json", "{}", '{ "jest": {} }'),
      changed(".eslintrc.json", null, "{}\n"),
    ];
    const found = findSetBacks(files, NPM, { hasFolder: () => true, hasTests: false });
    expect(found).toEqual([{ path: ".eslintrc.json", to: "gone" }]);
  });

  test.each([
    ["make test", "test", true],
    ["make -C sub check", "sub/check", true],
    ["python3 -m pytest -q", "pytest.py", true],
    ["python3 -m mypy src", "mypy.py", true],
    ["sh test", "test", false],
    ["./check", "check", false],
    ["prove -l t", "lib/Test/More.pm", true],
    ["sh test/run.sh", "test/bin/diff", true],
    ["make test", "test/assert.h", true],
    ["make test", "config.mk", true],
    ["PYTHONPATH=vendor python3 -m pytest", "pytest/__init__.py", true],
    ["npm test", "src/string.h", false],
  ])("%s: a new %s stands in for something else: %s", (command, path, isShadow) => {
    expect(takesEffectByItself(path, gate(command))).toBe(isShadow);
  });

  test("a new folder in the place of a goal is removed, one with code is not", () => {
    const was = { hasFolder: (folder: string) => folder === "", hasTests: true };
    const notes = changed("verify/notes.md", null, "x\n");
    const find = (...files: ChangedFile[]) => findSetBacks(files, gate("make -s verify"), was);
    expect(find(notes)).toEqual([{ path: "verify", to: "gone" }]);
    expect(find(notes, changed("verify/all.c", null, "int x;\n"))).toEqual([]);
    expect(findSetBacks([notes], NPM, was)).toEqual([]);
  });

  test.each([
    ["tests/test_b.py", "import unittest\nunittest.TestCase.run = lambda *_: None\n"],
    ["test/b.test.sh", 'assert_eq() { :; }\nassert_eq "$(trim x)" x\n'],
    ["tests/b.test", "proc test {name args} {}\n"],
    ["test/b.test.js", 'import assert from "assert";\nassert.equal = () => {};\n'],
  ])("a new test that changes what others use is removed: %s", (path, text) => {
    expect(plan([changed(path, null, text)])).toEqual({ [path]: "gone" });
    expect(plan([changed(path, null, "x\n")])).toEqual({});
  });

  test("a runner that is kept in the repository is a check", () => {
    const path = "vendor/pytest/__main__.py";
    expect(plan([changed(path, "a\n", "b\n")])).toEqual({ [path]: "old" });
  });

  test("a script that an old test names is the program under work", () => {
    const deploy = changed("scripts/deploy.sh", "echo a\n", "echo b\n");
    const testOf = (before: string | null) =>
      changed("test/deploy.bats", before, `${before}@test "b" {\n  true\n}\n`);
    expect(plan([deploy, testOf("run scripts/deploy.sh\n")])).toEqual({});
    expect(plan([deploy, testOf(null)])).toMatchObject({ "scripts/deploy.sh": "old" });
    const check = changed("scripts/check.sh", "a\n", "exit 0\n");
    expect(plan([check, testOf("run scripts/check.sh\n")])).toMatchObject({ "scripts/check.sh": "old" });
  });
});

describe("tests that need what is set back go with it", () => {
  const helper = changed("test/helper.js", "export const a = 1;\n", "export const b = 2;\n");

  test("a new test that uses a changed helper, and what uses that", () => {
    const files = [
      helper,
      changed("test/new.test.js", null, 'import { b } from "./helper.js";\n'),
      changed("test/other.test.js", null, 'import "./new.test.js";\n'),
      changed("test/unrelated.test.js", null, "test();\n"),
    ];
    expect(plan(files)).toEqual({
      "test/helper.js": "old",
      "test/new.test.js": "gone",
      "test/other.test.js": "gone",
    });
  });

  test("new lines of an old test that uses it", () => {
    const old = 'import * as helper from "./helper.js";\n';
    const files = [helper, changed("test/a.test.js", old, `${old}expect(helper.b).toBe(2);\n`)];
    expect(plan(files)).toEqual({ "test/helper.js": "old", "test/a.test.js": "old" });
  });

  test("all tests after a change of settings or build files", () => {
    const files = [changed("Makefile", "a", "b"), changed("test/new.c", null, "int x;\n")];
    expect(plan(files)).toEqual({ Makefile: "old", "test/new.c": "gone" });
  });

  test("a test that moved, and one that shares its package", () => {
    const files = [
      changed("a/add_test.go", "func TestAdd\n", null),
      changed("a/sum_test.go", null, "func TestAdd\n"),
      changed("b/add_test.go", null, "func TestAdd\n"),
      changed("c/sum_test.go", null, "func TestSum\n"),
    ];
    expect(plan(files)).toEqual({ "a/add_test.go": "old", "a/sum_test.go": "gone", "b/add_test.go": "gone" });
  });

  test("but not a new file that a gate names", () => {
    const files = [changed("Makefile", "a", "b"), changed("test/new.js", null, "x\n")];
    expect(plan(files, gate("node test/new.js"))).toEqual({ Makefile: "old" });
  });
});
