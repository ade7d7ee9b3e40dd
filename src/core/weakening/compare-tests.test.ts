import { describe, expect, test } from "vitest";
import { findWeakenedTests, type WeakeningKind } from "./find-weakened-tests.ts";

type Row = readonly [why: string, before: string, after: string, kind: WeakeningKind | null];

function kindsOf(path: string, before: string, after: string): readonly string[] {
  return [...new Set(findWeakenedTests([{ path, before, after }], []).map(({ kind }) => kind))];
}

function check(path: string, rows: readonly Row[]): void {
  test.each(rows)("%s", (_why, before, after, kind) => {
    expect(kindsOf(path, before, after)).toEqual(kind === null ? [] : [kind]);
  });
}

const one = `test("adds", () => { expect(add(1, 2)).toBe(3); expect(add(0, 0)).toBe(0); });\n`;
const two = `it("refuses an expired token", async () => {\n  await expect(login(old)).rejects.toThrow("expired");\n});\n`;
const js = one + two;

describe("JavaScript: found", () => {
  check("src/add.test.ts", [
    ["a test is taken out", js, one, "deleted"],
    ["a test is commented out by lines", js, one + two.replaceAll(/^/gm, "// "), "deleted"],
    ["a test is commented out as a block", js, `${one}/*\n${two}*/`, "deleted"],
    ["all tests are taken out", js, "export {};\n", "deleted"],
    ["test.skip", js, js.replace("test(", "test.skip("), "skipped"],
    ["it.todo without a body", js, `${one}it.todo("refuses an expired token");\n`, "skipped"],
    ["xit", js, js.replace("it(", "xit("), "skipped"],
    ["it.fails", js, js.replace("it(", "it.fails("), "skipped"],
    ["test.failing", js, js.replace("test(", "test.failing("), "skipped"],
    ["test.fixme", js, js.replace("test(", "test.fixme("), "skipped"],
    ["skipIf", js, js.replace("it(", "it.skipIf(process.env.CI)("), "skipped"],
    ["t.skip in the body", js, js.replace("() => {", "(t) => { t.skip();"), "skipped"],
    ["this.skip in the body", js, js.replace("() => {", "function () { this.skip();"), "skipped"],
    ["Playwright's test.skip in the body", js, js.replace("{ ", "{ test.skip(true, 'later'); "), "skipped"],
    ["a skip option", js, js.replace('"adds", ', '"adds", { skip: true }, '), "skipped"],
    ["a todo option with a reason", js, js.replace('"adds", ', '"adds", { todo: "later" }, '), "skipped"],
    [
      "describe.skip around",
      `describe("x", () => {${js}});`,
      `describe.skip("x", () => {${js}});`,
      "skipped",
    ],
    ["xdescribe", `describe("x", () => {${one}});`, `xdescribe("x", () => {${one}});`, "skipped"],
    ["if (false) around", one, `if (false) {\n${one}}`, "skipped"],
    ["only", js, js.replace("test(", "test.only("), "skipped"],
    ["fit", js, js.replace("it(", "fit("), "skipped"],
    ["describe.only", `describe("x", () => {${js}});`, `describe.only("x", () => {${js}});`, "skipped"],
    ["no body", js, `${one}it("refuses an expired token", async () => {});`, "emptied"],
    ["only a comment is left", js, `${one}it("refuses an expired token", () => { /* later */ });`, "emptied"],
    ["an early return", js, js.replace("async () => {\n", "async () => {\n  return;\n"), "emptied"],
    ["no assertion is left", js, js.replace(/await expect.*\n/, "await login(old);\n"), "emptied"],
    [
      "an assertion is commented out",
      js,
      js.replace(" expect(add(0", " // expect(add(0").replace("0);", "0);\n"),
      "fewer-assertions",
    ],
    ["an assertion is taken out", js, js.replace(" expect(add(0, 0)).toBe(0);", ""), "fewer-assertions"],
    [
      "true is true",
      js,
      js.replace('await expect(login(old)).rejects.toThrow("expired")', "expect(true).toBe(true)"),
      "trivial",
    ],
    ["one is one", one, one.replace("expect(add(1, 2)).toBe(3)", "expect(1).toEqual(1)"), "trivial"],
    ["assert.ok(true)", one, one.replace("expect(add(1, 2)).toBe(3)", "assert.ok(true)"), "trivial"],
    ["chai's true", one, one.replace("expect(add(1, 2)).toBe(3)", "expect(true).to.be.true"), "trivial"],
    [
      "a value is compared with itself",
      one,
      one.replace("expect(add(1, 2)).toBe(3)", "expect(sum).toBe(sum)"),
      "trivial",
    ],
    ["no matcher", one, one.replace(".toBe(3)", ""), "trivial"],
    [
      "replaced by a skipped one",
      js,
      `${one}it.skip("refuses", () => { expect(1).toBe(login()); });`,
      "deleted",
    ],
    [
      "a test in a template title",
      "test(`a ${b(`c`)}`, () => { expect(f()).toBe(1); });" + one,
      one,
      "deleted",
    ],
    [
      "node:test's assertions",
      `test("x", (t) => { t.assert.equal(f(), 1); assert.equal(f(), 2); });`,
      `test("x", (t) => { t.assert.equal(f(), 1); });`,
      "fewer-assertions",
    ],
    [
      "AVA's assertions",
      `test("x", t => { t.is(f(), 1); t.true(g()); });`,
      `test("x", t => { t.is(f(), 1); });`,
      "fewer-assertions",
    ],
    [
      "a helper's assertions",
      `function same(a) { expect(a).toBe(f()); expect(g(a)).toBe(2); }\ntest("x", () => { same(1); });`,
      `function same(a) { expect(a).toBe(f()); }\ntest("x", () => { same(1); });`,
      "fewer-assertions",
    ],
  ]);
});

describe("JavaScript: honest", () => {
  check("src/add.test.ts", [
    ["a test is added", one, js, null],
    ["an order is changed", js, two + one, null],
    ["expected values change", js, js.replace("toBe(3)", "toBe(4)").replace('"expired"', "/expired/"), null],
    ["everything is reformatted", js, js.replaceAll("; ", ";\n    ").replaceAll("(", "(\n"), null],
    ["imports change", `import { add } from "./a";\n${js}`, `import { add } from "./b";\n${js}`, null],
    ["a test is renamed", js, js.replace("refuses an expired token", "rejects old tokens"), null],
    [
      "a test is renamed and rewritten",
      js,
      `${one}it("rejects", () => { expect(login(old)).toBe(null); });`,
      null,
    ],
    [
      "tests become a table",
      js,
      `test.each([[1, 2, 3], [0, 0, 0]])("adds %i", (a, b, c) => { expect(add(a, b)).toBe(c); });${two}`,
      null,
    ],
    [
      "tests become a tagged table",
      js,
      'test.each`a | b\n${1} | ${2}`("adds $a", ({ a }) => { expect(add(a)).toBe(3); });' + two,
      null,
    ],
    [
      "a typed table",
      js,
      `test.each<[number, Map<string, () => void>]>([[1, m]])("adds %i", (a) => { expect(add(a)).toBe(3); });${two}`,
      null,
    ],
    [
      "assertions become a loop",
      js,
      `test("adds", () => { for (const [a, b] of cases) { expect(add(a)).toBe(b); } });\n${two}`,
      null,
    ],
    [
      "assertions become one of a whole",
      `test("x", () => { expect(a.x).toBe(1); expect(a.y).toBe(2); expect(a.z).toBe(3); });`,
      `test("x", () => { expect(a).toEqual({ x: 1, y: 2, z: 3 }); });`,
      null,
    ],
    [
      "assertions move to a helper",
      one,
      `function same(a, b) { expect(add(a)).toBe(b); }\ntest("adds", () => { same(1, 2); same(0, 0); });`,
      null,
    ],
    [
      "fewer here and more there",
      js,
      js
        .replace(" expect(add(0, 0)).toBe(0);", "")
        .replace("\n});", "\n  expect(a).toBe(b);\n  expect(c).toBe(d);\n});"),
      null,
    ],
    ["a skip was there before", one + two.replace("it(", "it.skip("), js.replace("it(", "it.skip("), null],
    ["a skipped test is taken out", one + two.replace("it(", "it.skip("), one, null],
    ["a skip is taken away", js.replace("it(", "it.skip("), js, null],
    ["a new test is a todo", js, `${js}test.todo("subtracts");`, null],
    ["a suite is put around", js, `describe("all", () => {\n${js}});`, null],
    [
      "skip only in a comment and a string",
      js,
      `// test.skip("x")\nconst a = 'it.only("x", () => {})';\n${js}`,
      null,
    ],
    ["a regex with quotes", js, `const a = /["'\`]/;\nconst b = x / 2;\n${js}`, null],
    ["JSX with an apostrophe", js, `const a = <p>Don't</p>;\n${js}`, null],
    ["a test is made concurrent", js, js.replace("test(", "test.concurrent("), null],
    ["a skip option that is false", js, js.replace('"adds", ', '"adds", { skip: false }, '), null],
    ["expect.assertions is taken out", js.replace("{ expect", "{ expect.assertions(2); expect"), js, null],
    ["a timeout is added", js, js.replace("\n});", "\n}, 10_000);"), null],
    ["return of a promise", js, js.replace("async () => {\n  await", "() => {\n  return"), null],
    [
      "an arrow without braces",
      js,
      `${one}it("refuses an expired token", () => expect(login(old)).rejects.toThrow("expired"));`,
      null,
    ],
    ["a RegExp's test method", `${js}re.test("abc");`, js, null],
    ["a fail that cannot be reached", one, one.replace("{ ", "{ expect(true).toBe(false); "), null],
  ]);
});

const py = `import pytest\n\ndef test_adds():\n    """Adds."""\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n\nclass TestToken:\n    def test_expired(self):\n        with pytest.raises(Expired):\n            login(old)\n`;

describe("Python: found", () => {
  check("tests/test_add.py", [
    ["a test is taken out", py, py.slice(0, py.indexOf("class")), "deleted"],
    ["a test is renamed so that it does not run", py, py.replace("test_adds", "_test_adds"), "deleted"],
    ["a class is renamed so that it does not run", py, py.replace("TestToken", "Token"), "deleted"],
    [
      "a test becomes a string",
      py,
      py.replace("def test_adds", '"""\ndef test_adds').replace("class", '"""\nclass'),
      "deleted",
    ],
    ["pytest.mark.skip", py, py.replace("def test_adds", "@pytest.mark.skip\ndef test_adds"), "skipped"],
    [
      "skipif over several lines",
      py,
      py.replace("def test_adds", '@pytest.mark.skipif(\n    True,\n    reason="x",\n)\ndef test_adds'),
      "skipped",
    ],
    ["xfail", py, py.replace("def test_adds", '@pytest.mark.xfail(reason="x")\ndef test_adds'), "skipped"],
    ["unittest.skip on a class", py, py.replace("class", '@unittest.skip("later")\nclass'), "skipped"],
    ["pytest.skip in the body", py, py.replace('"""\n', '"""\n    pytest.skip("later")\n'), "skipped"],
    ["self.skipTest", py, py.replace("        with", '        self.skipTest("x")\n        with'), "skipped"],
    [
      "pytestmark",
      py,
      py.replace("pytest\n", 'pytest\npytestmark = pytest.mark.skip(reason="x")\n'),
      "skipped",
    ],
    ["__test__", py, py.replace("TestToken:", "TestToken:\n    __test__ = False"), "skipped"],
    ["only pass", py, py.replace(/ {4}assert add\(1[^]*0\) == 0/, "    pass"), "emptied"],
    ["an early return", py, py.replace('"""\n', '"""\n    return\n'), "emptied"],
    [
      "an assertion is commented out",
      py,
      py.replace("    assert add(0", "    # assert add(0"),
      "fewer-assertions",
    ],
    ["assert True", py, py.replace("assert add(1, 2) == 3", "assert True"), "trivial"],
    ["assert 1 == 1", py, py.replace("assert add(1, 2) == 3", "assert 1 == 1"), "trivial"],
    ["or True", py, py.replace("add(1, 2) == 3", "add(1, 2) == 3 or True"), "trivial"],
    ["assertTrue(True)", py, py.replace("assert add(1, 2) == 3", "self.assertTrue(True)"), "trivial"],
  ]);
});

describe("Python: honest", () => {
  check("tests/test_add.py", [
    ["a test is added", py, `${py}\ndef test_more():\n    assert add(2, 2) == 4\n`, null],
    [
      "parametrize",
      py,
      py.replace(
        /def test_adds[^]*0\) == 0/,
        '@pytest.mark.parametrize("a,b", [\n    (1, 2),\n    (0, 0),\n])\ndef test_adds(a, b):\n    assert add(a) == b',
      ),
      null,
    ],
    [
      "subTest",
      py,
      py.replace(
        / {4}assert add\(1[^]*0\) == 0/,
        "    for a in cases:\n        with self.subTest(a):\n            assert add(a) == 3",
      ),
      null,
    ],
    [
      "a function moves into a class",
      py,
      py.replace("def test_adds():", "class TestAdd:\n  def test_adds(self):"),
      null,
    ],
    [
      "the text at the margin belongs to a string",
      py,
      py.replace("    assert add(0, 0) == 0", '    x = """\ntext\n"""\n    assert add(0, 0) == 0'),
      null,
    ],
    [
      "one line for a function",
      "def test_x(): assert f() == 1\n",
      "def test_x():\n    assert f() == 1\n",
      null,
    ],
    ["a helper that skips", py, `${py}\ndef helper():\n    pytest.skip("x")\n`, null],
    ["expected values change", py, py.replace("== 3", "== 4"), null],
    [
      "several become one comparison",
      "def test_x():\n    assert a.x == 1\n    assert a.y == 2\n",
      'def test_x():\n    assert a == {"x": 1, "y": 2}\n',
      null,
    ],
  ]);
});

const go = `package add\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Errorf("wrong %d", 1)\n\t}\n\tassert.Equal(t, 0, Add(0, 0))\n\tt.Run("zero", func(t *testing.T) {\n\t\trequire.NoError(t, f())\n\t})\n}\n\nfunc TestOld(t *testing.T) {\n\tt.Fatal(g())\n}\n`;

describe("Go", () => {
  check("add_test.go", [
    ["found: a test is taken out", go, go.slice(0, go.indexOf("func TestOld")), "deleted"],
    ["found: a subtest is taken out", go, go.replace(/\tt\.Run[^]*?\n\t\}\)\n/, ""), "deleted"],
    ["found: a name that does not run", go, go.replace("TestOld", "testOld"), "deleted"],
    ["found: t.Skip", go, go.replace("{\n\tt.Fatal", '{\n\tt.Skip("later")\n\tt.Fatal'), "skipped"],
    ["found: t.SkipNow", go, go.replace("{\n\tt.Fatal", "{\n\tt.SkipNow()\n\tt.Fatal"), "skipped"],
    ["found: a build tag", go, `//go:build ignore\n\n${go}`, "skipped"],
    ["found: an early return", go, go.replace("{\n\tt.Fatal", "{\n\treturn\n\tt.Fatal"), "emptied"],
    ["found: an empty body", go, go.replace("\tt.Fatal(g())\n", ""), "emptied"],
    [
      "found: an assertion is taken out",
      go,
      go.replace("\tassert.Equal(t, 0, Add(0, 0))\n", ""),
      "fewer-assertions",
    ],
    [
      "found: testify's true",
      go,
      go.replace("assert.Equal(t, 0, Add(0, 0))", "assert.True(t, true)"),
      "trivial",
    ],
    ["honest: a test is added", go, `${go}\nfunc TestMore(t *testing.T) {\n\tt.Fatal(h())\n}\n`, null],
    [
      "honest: a table",
      go,
      go.replace(
        /\tif Add[^]*?\n\t\}\n\tassert[^\n]*\n/,
        "\tfor _, tt := range cases {\n\t\tif Add(tt.a) != tt.b {\n\t\t\tt.Error(tt)\n\t\t}\n\t}\n",
      ),
      null,
    ],
    ["honest: a tag for a platform", go, `//go:build linux && amd64\n\n${go}`, null],
    [
      "honest: short mode",
      go,
      go.replace("{\n\tt.Fatal", "{\n\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tt.Fatal"),
      null,
    ],
    [
      "honest: a raw string with a test",
      go,
      `${go}\nvar x = \`func TestX(t *testing.T) { t.Skip() }\`\n`,
      null,
    ],
  ]);
});

const rust = `pub fn add(a: i32) -> i32 { assert!(a > 0); a }\nfn first<'a>(x: &'a str) -> char { '"' }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1), 3);\n        assert!(matches!(add(2), 4));\n    }\n\n    #[tokio::test(flavor = "current_thread")]\n    #[should_panic(expected = "x")]\n    async fn refuses() {\n        login(r#"a "quoted" one"#).await.unwrap();\n    }\n}\n`;

describe("Rust", () => {
  check("src/add.rs", [
    ["found: a test is taken out", rust, rust.replace(/ {4}#\[test\][^]*?\n {4}\}\n/, ""), "deleted"],
    ["found: the attribute is taken out", rust, rust.replace("    #[test]\n", ""), "deleted"],
    ["found: the module is taken out", rust, rust.slice(0, rust.indexOf("#[cfg(test)]")), "deleted"],
    ["found: ignore", rust, rust.replace("#[test]", '#[test]\n    #[ignore = "later"]'), "skipped"],
    [
      "found: a configuration that is never on",
      rust,
      rust.replace("#[test]", "#[cfg(any())]\n    #[test]"),
      "skipped",
    ],
    ["found: an early return", rust, rust.replace("adds() {", "adds() {\n        return;"), "emptied"],
    [
      "found: an assertion is commented out",
      rust,
      rust.replace("        assert!(m", "        // assert!(m"),
      "fewer-assertions",
    ],
    ["found: assert!(true)", rust, rust.replace("assert_eq!(add(1), 3)", "assert!(true)"), "trivial"],
    ["found: assert_eq!(1, 1)", rust, rust.replace("assert_eq!(add(1), 3)", "assert_eq!(1, 1)"), "trivial"],
    ["honest: an assertion of the program", rust, rust.replace("assert!(a > 0); ", ""), null],
    [
      "honest: a test is added",
      rust,
      rust.replace(
        "    use super::*;",
        "    use super::*;\n    #[test]\n    fn more() { assert!(add(3) == 1); }",
      ),
      null,
    ],
    [
      "honest: cases",
      rust,
      rust.replace(
        /#\[test\][^]*?\n {4}\}\n/,
        "#[rstest]\n    #[case(1, 3)]\n    #[case(2, 4)]\n    fn adds(#[case] a: i32, #[case] b: i32) {\n        assert_eq!(add(a), b);\n    }\n",
      ),
      null,
    ],
    ["honest: nested comments", rust, `/* a /* b */ #[ignore] */\n${rust}`, null],
  ]);
});

const java = `class AddTest {\n  @Test\n  void adds() throws Exception {\n    assertEquals(3, add(1, 2));\n    assertThat(add(0, 0)).isEqualTo(0);\n  }\n\n  @Test(expected = Expired.class)\n  public void refuses() {\n    login(old);\n    verify(log).warn("x");\n  }\n}\n`;
const kotlin =
  "class AddTest {\n  @Test\n  fun `adds two numbers`() {\n    assertEquals(3, add(1, 2))\n  }\n\n  @Test\n  fun other() = runTest { assertTrue(f()) }\n}\n";

describe("Java", () => {
  check("src/test/java/AddTest.java", [
    ["found: a test is taken out", java, java.replace(/ {2}@Test\n[^]*?\n {2}\}\n/, ""), "deleted"],
    ["found: the annotation is taken out", java, java.replace("  @Test\n", ""), "deleted"],
    ["found: @Disabled", java, java.replace("@Test\n", '@Disabled("later")\n  @Test\n'), "skipped"],
    ["found: @Ignore behind", java, java.replace("class)\n", "class)\n  @Ignore\n"), "skipped"],
    ["found: @Disabled on the class", java, `@Disabled\n${java}`, "skipped"],
    [
      "found: an assumption",
      java,
      java.replace("Exception {", "Exception {\n    Assumptions.assumeTrue(false);"),
      "skipped",
    ],
    ["found: an empty body", java, java.replace(/ {4}assertEq[^]*?\(0\);\n/, ""), "emptied"],
    [
      "found: an assertion is taken out",
      java,
      java.replace("    assertEquals(3, add(1, 2));\n", ""),
      "fewer-assertions",
    ],
    [
      "found: assertTrue(true)",
      java,
      java.replace("assertEquals(3, add(1, 2))", "assertTrue(true)"),
      "trivial",
    ],
    [
      "honest: a parametrised test",
      java,
      java.replace(
        /@Test\n[^]*?\n {2}\}\n/,
        '@ParameterizedTest\n  @CsvSource({"1,2,3", "0,0,0"})\n  void adds(int a, int b, int c) {\n    assertEquals(c, add(a, b));\n  }\n',
      ),
      null,
    ],
    ["honest: a display name", java, java.replace("@Test\n", '@Test\n  @DisplayName("adds")\n'), null],
    [
      "honest: a test is added",
      java,
      java.replace("class AddTest {", "class AddTest {\n  @Test void more() { assertTrue(add(1, 1) == 2); }"),
      null,
    ],
  ]);
});

describe("Kotlin", () => {
  check("src/test/kotlin/AddTest.kt", [
    [
      "found: a test with a sentence is taken out",
      kotlin,
      kotlin.replace(/ {2}@Test\n[^]*?\n {2}\}\n/, ""),
      "deleted",
    ],
    ["found: @Ignore", kotlin, kotlin.replace("@Test\n  fun o", "@Test @Ignore\n  fun o"), "skipped"],
    [
      "honest: a body becomes an expression",
      kotlin,
      kotlin.replace(/ \{\n {4}(assertEq.*)\n {2}\}/, " = $1"),
      null,
    ],
  ]);
});

test.each<[string, string, string, string, WeakeningKind]>([
  [
    "Ruby",
    "spec/a_spec.rb",
    `describe "a" do\n  it "adds" do\n    expect(f).to eq(1)\n  end\nend\n`,
    `describe "a" do\n  xit "adds" do\n    expect(f).to eq(1)\n  end\nend\n`,
    "skipped",
  ],
  [
    "PHP",
    "tests/ATest.php",
    `<?php class ATest { public function testAdds() { $this->assertSame(3, add()); } }`,
    `<?php class ATest { }`,
    "deleted",
  ],
  [
    "C#",
    "ATests.cs",
    `class A { [Fact] public void Adds() { Assert.Equal(3, Add()); } }`,
    `class A { [Fact(Skip = "later")] public void Adds() { Assert.Equal(3, Add()); } }`,
    "skipped",
  ],
])("%s is read too", (_language, path, before, after, kind) => {
  expect(kindsOf(path, before, after)).toEqual([kind]);
});

test("what a deleted test called is said", () => {
  const found = findWeakenedTests([{ path: "src/add.test.ts", before: js, after: one }], []);
  expect(found.map(({ calls }) => calls)).toEqual([["login"]]);
});
