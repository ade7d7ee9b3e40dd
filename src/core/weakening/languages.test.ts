import { describe, expect, test } from "vitest";
import { findWeakenedTests, type WeakeningKind } from "./find-weakened-tests.ts";

type Row = readonly [why: string, before: string, after: string, kind: WeakeningKind | null];

function check(path: string, rows: readonly Row[]): void {
  test.each(rows)("%s", (_why, before, after, kind) => {
    const found = findWeakenedTests([{ path, before, after }], []).map((one) => one.kind);
    expect([...new Set(found)]).toEqual(kind === null ? [] : [kind]);
  });
}

const rust = `#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n\n    #[test]\n    fn subtracts() {\n        assert_eq!(sub(1, 1), 0);\n    }\n}\n`;

describe("Rust", () => {
  check("src/calc.rs", [
    [
      "found: the process ends",
      rust,
      rust.replace("        assert_eq!(add", "        std::process::exit(0);\n        assert_eq!(add"),
      "skipped",
    ],
    ["honest: the program ends", rust, `fn main() {\n    std::process::exit(0);\n}\n\n${rust}`, null],
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
  [
    "Gherkin: one is renamed, one is gone",
    "features/calc.feature",
    feature,
    feature.replace("Adds", "Calculates").slice(0, feature.indexOf("  Scenario: S") + 5),
    "deleted",
  ],
  ["Gherkin: honest", "features/calc.feature", feature, feature.replace("Then 3", "Then 4"), null],
])("%s", (_why, path, before, after, kind) => {
  const found = findWeakenedTests([{ path, before, after }], after === null ? [path] : []);
  expect([...new Set(found.map((one) => one.kind))]).toEqual(kind === null ? [] : [kind]);
});
