import { describe, expect, test } from "vitest";
import { findWeakenedTests, type WeakeningKind } from "./find-weakened-tests.ts";

type Row = readonly [why: string, before: string, after: string, kind: WeakeningKind | null];

function check(path: string, rows: readonly Row[]): void {
  test.each(rows)("%s", (_why, before, after, kind) => {
    const found = findWeakenedTests([{ path, before, after }], []).map((one) => one.kind);
    expect([...new Set(found)]).toEqual(kind === null ? [] : [kind]);
  });
}

const js = `import test from "node:test";\nimport assert from "node:assert";\n\ntest("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n\ntest("subtracts", () => {\n  assert.equal(sub(3, 2), 1);\n  assert.ok(sub(1, 1) === 0);\n});\n`;
const adds = `test("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n`;
const inAdds = (body: string): string => js.replace("  assert.equal(add(1, 2), 3);", body);

describe("JavaScript: what looks like a test and checks nothing", () => {
  check("test/add.test.js", [
    ["the process ends", js, `${js}process.exit(0);\n`, "skipped"],
    ["the result is overwritten", js, `${js}process.exitCode = 0;\n`, "skipped"],
    ["the process ends in a hook", js, `${js}after(() => process.exit(0));\n`, "skipped"],
    [
      "in a hook of a suite",
      js,
      `${js}describe("x", () => {\n  after(() => process.exit(0));\n});\n`,
      "skipped",
    ],
    [
      "a stub that gives a constant",
      js,
      js.replace('import test from "node:test";', "const test = () => undefined;"),
      "emptied",
    ],
    [
      "the result is overwritten on exit",
      js,
      `${js}process.on("exit", () => { process.exitCode = 0; });\n`,
      "skipped",
    ],
    [
      "the process ends in a test",
      js,
      inAdds("  process.exit(0);\n  assert.equal(add(1, 2), 3);"),
      "skipped",
    ],
    ["an empty catch", js, inAdds("  try {\n    assert.equal(add(1, 2), 3);\n  } catch {}"), "emptied"],
    [
      "a catch with a comment",
      js,
      inAdds("  try { assert.equal(add(1, 2), 3); } catch (error) { /* later */ }"),
      "emptied",
    ],
    [
      "a catch that prints",
      js,
      inAdds("  try { assert.equal(add(1, 2), 3); } catch (error) { console.log(error); }"),
      "emptied",
    ],
    ["a condition on the environment", js, js.replace(adds, `if (process.env.RUN_ALL) ${adds}`), "skipped"],
    [
      "a condition with braces",
      js,
      js.replace(adds, `if (process.env.RUN_ALL === "1") {\n${adds}}\n`),
      "skipped",
    ],
    ["a function that nobody calls", js, js.replace(adds, `function later() {\n${adds}}\n`), "skipped"],
    ["an arrow that nobody calls", js, js.replace(adds, `const later = () => {\n${adds}};\n`), "skipped"],
    ["the environment and a test", js, js.replace(adds, `process.env.ALL && ${adds}`), "skipped"],
    [
      "a suite that leaves at once",
      `describe("x", () => {\n${adds}});\n`,
      `describe("x", () => {\n  if (!process.env.ALL) return;\n${adds}});\n`,
      "skipped",
    ],
    ["test is a stub", js, js.replace('import test from "node:test";', "const test = () => {};"), "emptied"],
    [
      "assert is a stub",
      js,
      js.replace('import assert from "node:assert";', "const assert = { equal() {}, ok: () => true };"),
      "emptied",
    ],
    [
      "expect is a stub",
      `test("x", () => { expect(f()).toBe(1); });`,
      `const expect = () => ({ toBe: () => {} });\ntest("x", () => { expect(f()).toBe(1); });`,
      "emptied",
    ],
    [
      "a function is the stub",
      js,
      js.replace('import test from "node:test";', "function test(name, run) {}"),
      "emptied",
    ],
    ["the same call twice", js, inAdds("  assert.equal(add(1, 2), add(1, 2));"), "trivial"],
    [
      "the same call twice by matchers",
      `test("x", () => { expect(f(1)).toBe(2); });`,
      `test("x", () => { expect(f(1)).toBe(f(1)); });`,
      "trivial",
    ],
    ["a skip from a variable", js, js.replace('"adds", ', '"adds", { skip }, '), "skipped"],
    ["runIf", js, js.replace('test("adds"', 'test.runIf(process.env.ALL)("adds"'), "skipped"],
    ["it leaves at once", js, inAdds("  if (!ready) return;\n  assert.equal(add(1, 2), 3);"), "skipped"],
    [
      "it leaves at once with braces",
      js,
      inAdds("  if (!globalThis.ready) {\n    return;\n  }\n  assert.equal(add(1, 2), 3);"),
      "skipped",
    ],
  ]);
});

describe("JavaScript: honest", () => {
  check("test/add.test.js", [
    ["a value by the name of expect", js, `const expect = { status: 200 };\n${js}`, null],
    ["a predicate by the name of test", js, `const test = (value) => value > 1;\n${js}`, null],
    [
      "an async default export",
      js,
      js.replace(adds, `export default async function shared() {\n${adds}}\n`),
      null,
    ],
    [
      "runIf becomes skipIf",
      js.replace('test("adds"', 'test.runIf(unix)("adds"'),
      js.replace('test("adds"', 'test.skipIf(windows)("adds"'),
      null,
    ],
    [
      "found: a conditional test is taken out",
      js.replace('test("adds"', 'test.runIf(unix)("adds"'),
      js.replace(adds, ""),
      "deleted",
    ],
    [
      "a conditional test is rewritten",
      js.replace('test("adds"', 'test.runIf(unix)("adds"'),
      js.replace(adds, 'test.runIf(unix)("sums", () => { assert.equal(sum(2), 2); });'),
      null,
    ],
    [
      "found: another long assertion is not the same",
      js.replace("assert.equal(add(1, 2), 3)", "assert.equal(\n    add(1, 2),\n    3,\n  )"),
      js
        .replace(adds, "")
        .replace(
          "assert.ok(sub(1, 1) === 0)",
          "assert.ok(sub(1, 1) === 0);\n  assert.equal(\n    sub(0, 0),\n    0,\n  )",
        ),
      "deleted",
    ],
    [
      "a child process in the test file",
      js,
      `${js}if (process.argv[2] === "child") {\n  work();\n  process.exit(0);\n}\n`,
      null,
    ],
    ["a script in a string", js, `${js}const script = "process.exit(0)";\n`, null],
    ["a result that is computed", js, `${js}process.exitCode = failed ? 1 : 0;\n`, null],
    [
      "a catch that checks",
      js,
      inAdds(
        "  try {\n    assert.equal(add(1, 2), 3);\n  } catch (error) {\n    report(error);\n    throw error;\n  }",
      ),
      null,
    ],
    [
      "an empty catch around cleaning up",
      js,
      inAdds("  assert.equal(add(1, 2), 3);\n  try { rmSync(folder); } catch {}"),
      null,
    ],
    [
      "a new test that leaves",
      js,
      `${js}test("windows", () => {\n  if (!windows) return;\n  assert.ok(f());\n});\n`,
      null,
    ],
    ["a function that is called", js, js.replace(adds, `function all() {\n${adds}}\nall();\n`), null],
    ["a named function", js, js.replace('"adds", () => {', '"adds", function adds() {'), null],
    [
      "a named function on its own line",
      js,
      js.replace('"adds", () => {', '"adds",\n  function adds() {'),
      null,
    ],
    ["a function that is exported", js, js.replace(adds, `export function shared() {\n${adds}}\n`), null],
    [
      "the runner's own",
      js,
      js.replace(
        'import test from "node:test";',
        `const test = base.extend({ page: async ({}, use) => {} });`,
      ),
      null,
    ],
    [
      "an assert that throws",
      js,
      js.replace(
        'import assert from "node:assert";',
        "const assert = (ok) => { if (!ok) throw new Error(); };\nassert.equal = (a, b) => assert(a === b);",
      ),
      null,
    ],
    [
      "a little runner",
      js,
      js.replace('import test from "node:test";', "const test = (name, run) => { run(); };"),
      null,
    ],
    [
      "test is required",
      js,
      js.replace('import test from "node:test";', 'const { test } = require("node:test");'),
      null,
    ],
    [
      "a condition on the environment inside",
      js,
      inAdds("  assert.equal(add(1, 2), 3);\n  if (process.env.DEBUG) console.log(1);"),
      null,
    ],
    [
      "a braceless loop",
      js,
      `for (const [a, b, c] of [[1, 2, 3], [0, 0, 0]]) test(a + "+" + b, () => { assert.equal(add(a, b), c); });\n`,
      null,
    ],
    [
      "a braceless loop on two lines",
      js,
      `for (const [a, b, c] of [[1, 2, 3], [0, 0, 0]])\n  test(\`\${a}+\${b}\`, () => {\n    assert.equal(add(a, b), c);\n  });\n`,
      null,
    ],
    [
      "forEach",
      js,
      `const cases = [[1, 2, 3], [0, 0, 0]];\ncases.forEach(([a, b, c]) => test(a + "+" + b, () => { assert.equal(add(a, b), c); }));\n`,
      null,
    ],
    [
      "two tests become one",
      js,
      `test("calculates", () => {\n  assert.equal(add(1, 2), 3);\n  assert.equal(sub(3, 2), 1);\n  assert.ok(sub(1, 1) === 0);\n});\n`,
      null,
    ],
    [
      "one test takes the other's assertions",
      js,
      `test("subtracts", () => {\n  assert.equal(sub(3, 2), 1);\n  assert.ok(sub(1, 1) === 0);\n  assert.equal(add(1, 2), 3);\n});\n`,
      null,
    ],
    [
      "found: an assertion of another kind stands for none",
      js,
      `test("subtracts", () => {\n  assert.equal(sub(3, 2), 1);\n  assert.ok(sub(1, 1) === 0);\n  assert.ok(sub);\n});\n`,
      "deleted",
    ],
    [
      "a renamed assertion by require",
      js,
      js
        .replace(
          'import assert from "node:assert";',
          'const { strictEqual: eq, ok } = require("node:assert");',
        )
        .replaceAll("assert.equal", "eq")
        .replace("assert.ok", "ok"),
      null,
    ],
    [
      "a renamed assertion by import",
      `import { expect } from "vitest";\ntest("x", () => { expect(f()).toBe(1); });`,
      `import { expect as e } from "vitest";\ntest("x", () => { e(f()).toBe(1); });`,
      null,
    ],
    [
      "a renamed namespace",
      js,
      js.replace("import assert from", "import * as a from").replaceAll("assert.", "a."),
      null,
    ],
    [
      "a renamed default",
      js,
      js.replace("import assert from", "import check from").replaceAll("assert.", "check."),
      null,
    ],
    [
      "a renamed function",
      js,
      js.replace("\n\n", "\nconst eq = assert.equal;\n\n").replaceAll("  assert.equal(", "  eq("),
      null,
    ],
    [
      "found: the renamed one compares constants",
      js,
      js
        .replace("import assert from", "import a from")
        .replaceAll("assert.", "a.")
        .replace("a.equal(add(1, 2), 3)", "a.equal(1, 1)"),
      "trivial",
    ],
  ]);
});

const py = `import pytest\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n\n\ndef test_sub():\n    assert sub(1, 1) == 0\n`;

describe("Python", () => {
  check("tests/test_calc.py", [
    [
      "found: the class is overwritten",
      "class TestA:\n    def test_a(self):\n        assert f() == 1\n",
      "class TestA:\n    def test_a(self):\n        assert f() == 1\n\n\nclass TestA:\n    pass\n",
      "deleted",
    ],
    ["honest: a script that may end", py, `${py}\n\nif len(sys.argv) > 9:\n    sys.exit(0)\n`, null],
    [
      "found: a tuple is always true",
      py,
      py.replace("add(1, 2) == 3", '(add(1, 2) == 3, "adds")'),
      "trivial",
    ],
    ["found: the test is deleted at the end", py, `${py}\n\ndel test_add\n`, "deleted"],
    ["found: the test is overwritten", py, `${py}\n\ndef test_add():\n    pass\n`, "emptied"],
    ["found: the test is set to nothing", py, `${py}\n\ntest_add = None\n`, "deleted"],
    ["found: the process ends", py, py.replace("pytest\n", "pytest\nimport os\nos._exit(0)\n"), "skipped"],
    [
      "found: the process ends in a test",
      py,
      py.replace("    assert sub", "    sys.exit(0)\n    assert sub"),
      "skipped",
    ],
    ["found: quit", py, `${py}quit()\n`, "skipped"],
    [
      "found: except and pass",
      py,
      py.replace(
        "    assert sub(1, 1) == 0",
        "    try:\n        assert sub(1, 1) == 0\n    except:\n        pass",
      ),
      "emptied",
    ],
    [
      "found: except AssertionError",
      py,
      py.replace(
        "    assert sub(1, 1) == 0",
        "    try:\n        assert sub(1, 1) == 0\n    except AssertionError as error:\n        print(error)",
      ),
      "emptied",
    ],
    [
      "found: suppress",
      py,
      py.replace("    assert sub", "    with contextlib.suppress(AssertionError):\n        assert sub"),
      "emptied",
    ],
    [
      "found: a condition on the environment",
      py,
      py.replace(
        "def test_sub():\n    assert",
        'if os.environ.get("ALL"):\n    def test_sub():\n        assert',
      ),
      "skipped",
    ],
    [
      "found: it leaves at once",
      py,
      py.replace("    assert sub", "    if not ready:\n        return\n    assert sub"),
      "skipped",
    ],
    ["honest: a tuple on one side", py, py.replace("add(1, 2) == 3", "(add(1, 2), 1) == (3, 1)"), null],
    ["honest: a condition in brackets", py, py.replace("add(1, 2) == 3", "(add(1, 2) == 3)"), null],
    ["honest: run as a program", py, `${py}\n\nif __name__ == "__main__":\n    sys.exit(0)\n`, null],
    [
      "honest: a test of leaving",
      py,
      `${py}\n\ndef test_exit():\n    with pytest.raises(SystemExit):\n        sys.exit(0)\n`,
      null,
    ],
    ["honest: a helper that leaves", py, `${py}\n\ndef child():\n    sys.exit(0)\n`, null],
    [
      "honest: another exception",
      py,
      py.replace(
        "    assert sub(1, 1) == 0",
        "    try:\n        assert sub(1, 1) == 0\n    except KeyError:\n        pass",
      ),
      null,
    ],
    [
      "honest: a local name is deleted",
      py,
      py.replace("    assert sub", "    del cache\n    assert sub"),
      null,
    ],
    [
      "honest: two methods with one name",
      py,
      `${py}\n\nclass TestA:\n    def test_add(self):\n        assert f()\n`,
      null,
    ],
    [
      "honest: a renamed base class",
      "from unittest import TestCase\n\n\nclass Calc(TestCase):\n    def test_add(self):\n        self.assertEqual(add(1), 1)\n",
      "from unittest import TestCase as TC\n\n\nclass Calc(TC):\n    def test_add(self):\n        self.assertEqual(add(1), 1)\n",
      null,
    ],
    [
      "honest: a renamed assertion",
      "from numpy.testing import assert_equal\n\n\ndef test_add():\n    assert_equal(add(1), 1)\n",
      "from numpy.testing import assert_equal as eq\n\n\ndef test_add():\n    eq(add(1), 1)\n",
      null,
    ],
  ]);
});
