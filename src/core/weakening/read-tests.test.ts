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

const rust = `#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n\n    #[test]\n    fn subtracts() {\n        assert_eq!(sub(1, 1), 0);\n    }\n}\n`;

describe("Rust", () => {
  check("src/calc.rs", [
    ["found: it is to fail", rust, rust.replace("#[test]", "#[test]\n    #[should_panic]"), "skipped"],
    [
      "found: a feature for a test",
      rust,
      rust.replace("#[test]", '#[cfg(feature = "all")]\n    #[test]'),
      "skipped",
    ],
    [
      "found: a feature for the module",
      rust,
      rust.replace("#[cfg(test)]", '#[cfg(all(test, feature = "all"))]'),
      "skipped",
    ],
    [
      "found: a macro of the same name",
      rust,
      `macro_rules! assert_eq { ($($t:tt)*) => {}; }\n${rust}`,
      "emptied",
    ],
    [
      "found: a panic is caught",
      rust,
      rust.replace(
        "assert_eq!(add(1, 2), 3);",
        "let _ = std::panic::catch_unwind(|| { assert_eq!(add(1, 2), 3); });",
      ),
      "emptied",
    ],
    [
      "honest: it panics now, and the test says so",
      rust,
      rust.replace(
        "#[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);",
        "#[test]\n    #[should_panic]\n    fn adds() {\n        add(1, 2);",
      ),
      null,
    ],
    [
      "honest: what a panic leaves is checked",
      rust,
      rust.replace(
        "assert_eq!(add(1, 2), 3);",
        "let caught = std::panic::catch_unwind(|| add(1, 2));\n        assert!(caught.is_err());",
      ),
      null,
    ],
    [
      "honest: another macro",
      rust,
      `macro_rules! assert_close { ($a:expr) => { assert!($a > 0) }; }\n${rust}`,
      null,
    ],
  ]);
});

const go = `package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error("wrong")\n\t}\n}\n`;
const main = (body: string): string => `${go}\nfunc TestMain(m *testing.M) {\n${body}}\n`;

describe("Go", () => {
  check("calc_test.go", [
    ["found: the result is always 0", go, main("\tm.Run()\n\tos.Exit(0)\n"), "skipped"],
    ["found: nothing is run", go, main("\tprintln()\n"), "skipped"],
    ["honest: the result is passed on", go, main("\tcode := m.Run()\n\tclean()\n\tos.Exit(code)\n"), null],
    ["honest: the runner passes it on", go, main("\tm.Run()\n"), null],
    [
      "honest: a process that helps",
      go,
      `${go}\nfunc TestHelperProcess(t *testing.T) {\n\tif os.Getenv("HELPER") != "1" {\n\t\treturn\n\t}\n\tos.Exit(0)\n}\n`,
      null,
    ],
  ]);
  const renamed = (path: string): readonly string[] =>
    findWeakenedTests(
      [
        { path: "calc/calc_test.go", before: go, after: null },
        { path, before: null, after: go },
      ],
      ["calc/calc_test.go"],
    ).map(({ kind }) => kind);
  test.each(["calc/_calc_test.go", "calc/calc_windows_test.go", "calc/calc_plan9_amd64_test.go"])(
    "found: renamed to %s",
    (path) => {
      expect(renamed(path)).toEqual(["skipped"]);
    },
  );
  test.each(["calc/sum_test.go", "calc/calc_linux_test.go", "calc/calc_unit_test.go"])(
    "honest: renamed to %s",
    (path) => {
      expect(renamed(path)).toEqual([]);
    },
  );
});

const java = `class CalcTest {\n  @Test\n  void adds() {\n    assertEquals(3, add(1, 2));\n  }\n}\n`;

describe("Java", () => {
  check("src/test/java/CalcTest.java", [
    ["found: one system only", java, java.replace("@Test", "@Test\n  @EnabledOnOs(OS.WINDOWS)"), "skipped"],
    ["found: not on one system", java, java.replace("@Test", "@Test\n  @DisabledOnOs(OS.LINUX)"), "skipped"],
    ["found: a condition", java, java.replace("@Test", '@Test\n  @EnabledIf("never")'), "skipped"],
    [
      "found: a variable",
      java,
      `@EnabledIfEnvironmentVariable(named = "ALL", matches = "1")\n${java}`,
      "skipped",
    ],
    [
      "found: an Error is caught",
      java,
      java.replace(
        "assertEquals(3, add(1, 2));",
        "try { assertEquals(3, add(1, 2)); } catch (Throwable error) { }",
      ),
      "emptied",
    ],
    [
      "found: the process ends",
      java,
      java.replace("    assertEquals", "    System.exit(0);\n    assertEquals"),
      "skipped",
    ],
    [
      "honest: an exception is expected",
      java,
      java.replace("assertEquals(3, add(1, 2));", "try { add(1, 2); fail(); } catch (Overflow expected) { }"),
      null,
    ],
  ]);
  const renamed = (path: string, after: string): readonly string[] =>
    findWeakenedTests(
      [
        { path: "src/test/java/CalcTest.java", before: java, after: null },
        { path, before: null, after },
      ],
      ["src/test/java/CalcTest.java"],
    ).map(({ kind }) => kind);
  test("found: a name that Maven does not collect", () => {
    expect(renamed("src/test/java/CalcCheck.java", java.replace("CalcTest", "CalcCheck"))).toEqual([
      "skipped",
    ]);
  });
  test.each([
    ["SumTest", java.replace("CalcTest", "SumTest")],
    ["SumIT", java.replace("CalcTest", "SumIT")],
    ["CalcContract", java.replace("class CalcTest", "abstract class CalcContract")],
  ])("honest: renamed to %s", (name, after) => {
    expect(renamed(`src/test/java/${name}.java`, after)).toEqual([]);
  });
});

const gtest = `TEST(Calc, Adds) {\n  EXPECT_EQ(add(1, 2), 3);\n}\n\nTEST_F(CalcTest, Subtracts) {\n  ASSERT_TRUE(sub(1, 1) == 0);\n}\n`;
const swift = `class CalcTests: XCTestCase {\n  func testAdds() throws {\n    XCTAssertEqual(add(1, 2), 3)\n  }\n}\n`;
const elixir = `defmodule CalcTest do\n  test "adds" do\n    assert add(1, 2) == 3\n  end\nend\n`;
const dart = `void main() {\n  test('adds', () {\n    expect(add(1, 2), 3);\n  });\n}\n`;
const rspec = `describe "calc" do\n  it "adds" do\n    expect(add(1, 2)).to eq(3)\n  end\nend\n`;
const bats = `@test "adds" {\n  run add 1 2\n  [ "$output" = 3 ]\n}\n`;
const feature = `Feature: Calculator\n  Scenario: Adds\n    Given 1 and 2\n    Then 3\n  Scenario: Subtracts\n    Then 0\n`;

test.each<[string, string, string, string | null, WeakeningKind | null]>([
  ["gtest: disabled", "calc_test.cc", gtest, gtest.replace("Adds", "DISABLED_Adds"), "skipped"],
  [
    "gtest: skipped",
    "calc_test.cc",
    gtest,
    gtest.replace("  EXPECT", "  GTEST_SKIP();\n  EXPECT"),
    "skipped",
  ],
  ["gtest: gone", "calc_test.cc", gtest, gtest.slice(0, gtest.indexOf("TEST_F")), "deleted"],
  ["gtest: honest", "calc_test.cc", gtest, gtest.replace("3", "4"), null],
  [
    "Swift: skipped",
    "Tests/CalcTests.swift",
    swift,
    swift.replace("    XCT", '    throw XCTSkip("later")\n    XCT'),
    "skipped",
  ],
  ["Swift: gone", "Tests/CalcTests.swift", swift, null, "deleted"],
  ["Swift: honest", "Tests/CalcTests.swift", swift, swift.replace("3", "4"), null],
  [
    "ExUnit: skipped",
    "test/calc_test.exs",
    elixir,
    elixir.replace("  test", "  @tag :skip\n  test"),
    "skipped",
  ],
  [
    "ExUnit: emptied",
    "test/calc_test.exs",
    elixir,
    elixir.replace("assert add(1, 2) == 3", "add(1, 2)"),
    "emptied",
  ],
  [
    "ExUnit: honest",
    "test/calc_test.exs",
    elixir,
    elixir.replace("  test", "  @tag timeout: 10\n  test"),
    null,
  ],
  ["Dart: skipped", "test/calc_test.dart", dart, dart.replace("});", "}, skip: true);"), "skipped"],
  ["Dart: gone", "test/calc_test.dart", dart, "void main() {}\n", "deleted"],
  ["Dart: honest", "test/calc_test.dart", dart, dart.replace("});", "}, skip: false);"), null],
  [
    "RSpec: pending in the body",
    "spec/calc_spec.rb",
    rspec,
    rspec.replace("    expect", '    pending "later"\n    expect'),
    "skipped",
  ],
  ["RSpec: pending as the head", "spec/calc_spec.rb", rspec, rspec.replace("  it", "  pending"), "skipped"],
  ["RSpec: a tag", "spec/calc_spec.rb", rspec, rspec.replace('"adds" do', '"adds", :skip do'), "skipped"],
  ["Bats: gone", "test/calc.bats", bats, null, "deleted"],
  ["Bats: skipped", "test/calc.bats", bats, bats.replace("  run", "  skip\n  run"), "skipped"],
  ["Bats: honest", "test/calc.bats", bats, bats.replace("3", "4"), null],
  ["Gherkin: gone", "features/calc.feature", feature, null, "deleted"],
  [
    "Gherkin: a scenario is gone",
    "features/calc.feature",
    feature,
    feature.slice(0, feature.indexOf("  Scenario: S")),
    "deleted",
  ],
  ["Gherkin: honest", "features/calc.feature", feature, feature.replace("Then 3", "Then 4"), null],
])("%s", (_why, path, before, after, kind) => {
  const found = findWeakenedTests([{ path, before, after }], after === null ? [path] : []);
  expect(found.map((one) => one.kind)).toEqual(kind === null ? [] : [kind]);
});
