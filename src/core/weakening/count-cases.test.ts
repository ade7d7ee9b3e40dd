import { expect, test } from "vitest";
import { findWeakenedTests } from "./find-weakened-tests.ts";

type Row = readonly [why: string, path: string, before: string, after: string];

const body = `("adds %i", (a, b) => { expect(add(a)).toBe(b); });\n`;
const each = `test.each([[1, 2], [2, 3], [3, 4]])${body}`;
const other = `test("subtracts", () => { expect(sub(1)).toBe(0); });\n`;
const py = `@pytest.mark.parametrize("a, b", [\n    (1, 2),\n    (2, 3),\n])\ndef test_add(a, b):\n    assert add(a) == b\n`;
const java = `class CalcTest {\n  @ParameterizedTest\n  @ValueSource(ints = {1, 2, 3})\n  void adds(int a) {\n    assertTrue(add(a) > a);\n  }\n}\n`;
const csharp = `class A { [Theory] [InlineData(1, 2)] [InlineData(2, 3)] public void Adds(int a, int b) { Assert.Equal(b, Add(a)); } }`;
const go = `func TestAdd(t *testing.T) {\n\tcases := []struct{ a, b int }{\n\t\t{1, 2},\n\t\t{2, 3},\n\t}\n\tfor _, c := range cases {\n\t\tif Add(c.a) != c.b {\n\t\t\tt.Error(c)\n\t\t}\n\t}\n}\n`;
const rust = `#[rstest]\n#[case(1, 2)]\n#[case(2, 3)]\nfn adds(#[case] a: i32, #[case] b: i32) {\n    assert_eq!(add(a), b);\n}\n`;
const loop = `for (const [a, b] of [[1, 2], [2, 3]]) {\n  test("adds " + a, () => { expect(add(a)).toBe(b); });\n}\n`;

test.each<Row>([
  ["it.each", "a.test.ts", each, each.replace("[1, 2], [2, 3], ", "")],
  [
    "a table with a name",
    "a.test.ts",
    `const cases = [[1, 2], [2, 3]];\ntest.each(cases)${body}`,
    `const cases = [[1, 2]];\ntest.each(cases)${body}`,
  ],
  [
    "a typed table",
    "a.test.ts",
    each.replace("each(", "each<[number, number]>("),
    each.replace("each(", "each<[number, number]>(").replace("[2, 3], ", ""),
  ],
  ["a case is commented out", "a.test.ts", each, each.replace("[2, 3],", "/* [2, 3], */")],
  ["a loop", "a.test.ts", loop, loop.replace("[1, 2], ", "")],
  ["parametrize", "test_a.py", py, py.replace("    (2, 3),\n", "")],
  [
    "parametrize with a name",
    "test_a.py",
    py.replace(/\[\n[^]*?\]/, "CASES").replace("@", "CASES = [1, 2]\n@"),
    py.replace(/\[\n[^]*?\]/, "CASES").replace("@", "CASES = [1]\n@"),
  ],
  ["ValueSource", "src/test/java/CalcTest.java", java, java.replace("{1, 2, 3}", "{1}")],
  ["InlineData", "ATests.cs", csharp, csharp.replace("[InlineData(2, 3)] ", "")],
  ["a Go table", "a_test.go", go, go.replace("\t\t{2, 3},\n", "")],
  ["rstest", "tests/a.rs", rust, rust.replace("#[case(2, 3)]\n", "")],
])("found: %s", (_why, path, before, after) => {
  expect(findWeakenedTests([{ path, before, after }], []).map(({ kind }) => kind)).toEqual([
    "fewer-assertions",
  ]);
});

test.each<Row>([
  ["a case is added", "a.test.ts", each, each.replace("[1, 2], ", "[1, 2], [0, 1], ")],
  ["a trailing comma goes", "a.test.ts", each.replace("4]]", "4],]"), each],
  [
    "a case becomes a test",
    "a.test.ts",
    each,
    each.replace("[1, 2], ", "") + `test("adds one", () => { expect(add(1)).toBe(2); });\n`,
  ],
  [
    "cases move to another table",
    "a.test.ts",
    each,
    each.replace("[1, 2], [2, 3], ", "") + each.replace("adds", "adds more").replace(", [3, 4]", ""),
  ],
  [
    "the table moves to another file",
    "a.test.ts",
    each,
    `import { cases } from "./cases.js";\ntest.each(cases)${body}`,
  ],
  ["the table is spread", "a.test.ts", each, each.replace("[[1, 2], [2, 3], [3, 4]]", "[...cases, [3, 4]]")],
  [
    "other tests gain",
    "a.test.ts",
    each + other,
    each.replace("[1, 2], ", "") + other.replace("});", "expect(sub(2)).toBe(1); });"),
  ],
  [
    "each case is checked more",
    "a.test.ts",
    each,
    each.replace("[1, 2], ", "").replace("expect", "expect(sub(b)).toBe(a); expect"),
  ],
  ["a case changes", "test_a.py", py, py.replace("(2, 3)", "(2, 4)")],
  ["a Go table is reformatted", "a_test.go", go, go.replaceAll("\n\t\t{", " {")],
])("honest: %s", (_why, path, before, after) => {
  expect(findWeakenedTests([{ path, before, after }], [])).toEqual([]);
});

test("it says how many", () => {
  const after = each.replace("[1, 2], [2, 3], ", "");
  expect(findWeakenedTests([{ path: "a.test.ts", before: each, after }], []).map(({ what }) => what)).toEqual(
    ['3 cases became 1 in the test "adds %i"'],
  );
});
