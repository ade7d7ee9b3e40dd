import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../../../test/fixtures/growth.ts";
import { type FileVersions, findWeakenedTests } from "./find-weakened-tests.ts";

const file = (path: string, before: string | null, after: string | null): FileVersions => ({
  path,
  before,
  after,
});
const jsTest = (name: string): string =>
  `test("${name}", () => {\n  expect(${name}()).toBe("${name}");\n});\n`;
const whatOf = (files: readonly FileVersions[], deleted: readonly string[] = []): readonly string[] =>
  findWeakenedTests(files, deleted).map(({ path, what }) => `${path}: ${what}`);

const user = jsTest("create") + jsTest("remove");

describe("over several files", () => {
  test("a test that moved to another file is not gone", () => {
    const files = [file("a.test.ts", user, jsTest("create")), file("b.test.ts", null, jsTest("remove"))];
    expect(whatOf(files)).toEqual([]);
  });

  test("a file may be renamed", () => {
    expect(whatOf([file("a.test.ts", user, null), file("b.test.ts", null, user)], ["a.test.ts"])).toEqual([]);
  });

  test("a file may be split, and its tests renamed", () => {
    const renamed = jsTest("remove").replace('"remove"', '"takes away what is there"');
    const files = [
      file("a.test.ts", user, null),
      file("b.test.ts", null, jsTest("create")),
      file("c.test.ts", null, renamed),
    ];
    expect(whatOf(files, ["a.test.ts"])).toEqual([]);
  });

  test("a test that moved and is skipped there is skipped", () => {
    const files = [
      file("a.test.ts", user, null),
      file("b.test.ts", null, user.replace("test(", "test.skip(")),
    ];
    expect(whatOf(files)).toEqual(['b.test.ts: the test "create" is skipped now']);
  });

  test("a deleted file is one finding", () => {
    expect(whatOf([file("test/a.test.ts", user, null)], ["test/a.test.ts"])).toEqual([
      "test/a.test.ts: the file with 2 tests is gone",
    ]);
  });

  test("many new tests elsewhere do not stand for a deleted one", () => {
    const files = [
      file("a.test.ts", user, jsTest("create")),
      file("b.test.ts", null, jsTest("x") + jsTest("y")),
    ];
    expect(whatOf(files)).toEqual(['a.test.ts: the test "remove" is gone']);
  });

  test("many of one kind in a file are one finding", () => {
    const before = ["a", "b", "c", "d", "e"].map(jsTest).join("");
    expect(whatOf([file("a.test.ts", before, before.replaceAll("test(", "test.skip("))])).toEqual([
      'a.test.ts: 5 tests are skipped now, the first is "a"',
    ]);
  });

  test("there are at most 20, ordered by path", () => {
    const files = Array.from({ length: 30 }, (_, index) =>
      file(`${99 - index}.test.ts`, jsTest(`t${index}`), ""),
    );
    const paths = findWeakenedTests(files, []).map(({ path }) => path);
    expect(paths).toHaveLength(20);
    expect(paths).toEqual(paths.toSorted());
  });
});

describe("what is tested is gone too", () => {
  const rows: readonly (readonly [test: string, program: string, before: string])[] = [
    ["src/user.test.ts", "src/user.ts", user],
    ["test/unit/user-service.spec.js", "lib/UserService.js", user],
    ["tests/test_user.py", "app/user.py", "def test_a():\n    assert f() == 1\n"],
    ["pkg/user_test.go", "pkg/user.go", "func TestA(t *testing.T) {\n\tt.Fatal(f())\n}\n"],
    [
      "src/test/java/UserTest.java",
      "src/main/java/User.java",
      "class UserTest { @Test void a() { assertTrue(f()); } }",
    ],
    ["src/user/__tests__/index.test.ts", "src/user/index.ts", user],
  ];
  test.each(rows)("%s", (path, program, before) => {
    expect(whatOf([file(path, before, null)], [path, program])).toEqual([]);
    expect(whatOf([file(path, before, null)], [path])).toHaveLength(1);
  });

  test("a test that imported a deleted file may go", () => {
    const before = `import { old } from "./legacy-login.js";\n${user}`;
    expect(whatOf([file("a.test.ts", before, jsTest("create"))], ["src/legacy-login.ts"])).toEqual([]);
  });

  test("a Rust source takes its tests along", () => {
    const before = "#[cfg(test)]\nmod tests {\n  #[test]\n  fn a() { assert!(f()); }\n}\n";
    expect(whatOf([file("src/old.rs", before, null)], ["src/old.rs"])).toEqual([]);
  });

  test("a fixture that is gone excuses nothing", () => {
    expect(whatOf([file("user.test.ts", user, null)], ["user.test.ts", "fixtures/user.json"])).toHaveLength(
      1,
    );
  });
});

describe("files that are no tests", () => {
  test("helpers without tests may lose anything", () => {
    expect(
      whatOf([file("test/helpers.ts", "export const f = () => { expect(1).toBe(g()); };", null)]),
    ).toEqual([]);
  });

  test("what is no text is only looked at for deletion", () => {
    expect(whatOf([file("a.test.ts", `${user}\0`, jsTest("create"))])).toEqual([]);
    expect(whatOf([file("a.test.ts", `${user}\0`, null)])).toEqual([
      "a.test.ts: the file with 2 tests is gone",
    ]);
  });

  test("a NUL that is new hides nothing", () => {
    expect(whatOf([file("a.test.ts", user, `${jsTest("create")}\0`)])).toHaveLength(1);
  });
});

const SAMPLES: readonly (readonly [path: string, text: string, more: (index: number) => string])[] = [
  ["a.test.ts", user, (index) => jsTest(`more${index}`)],
  ["a.spec.js", `describe("a", () => {\n${user}});\n`, (index) => `it.skip("n${index}", () => {});\n`],
  [
    "test_a.py",
    "class TestA:\n    def test_a(self):\n        assert f() == 1\n",
    (index) => `def test_n${index}():\n    assert f(${index})\n`,
  ],
  [
    "a_test.go",
    "package a\nfunc TestA(t *testing.T) {\n\tt.Fatal(f())\n}\n",
    (index) => `func TestN${index}(t *testing.T) {\n\tt.Skip()\n}\n`,
  ],
  [
    "src/a.rs",
    "#[test]\nfn a() { assert!(f()); }\n",
    (index) => `#[test]\nfn n${index}() { assert!(g()); }\n`,
  ],
  [
    "ATest.java",
    "class ATest { @Test void a() { assertTrue(f()); } }\n",
    (index) => `class N${index} { @Test void n${index}() { assertTrue(g()); } }\n`,
  ],
];

test.each(SAMPLES)("tests appended to %s are never a finding", (path, text, more) => {
  fc.assert(
    fc.property(fc.nat(9), fc.stringMatching(/^[\w \t(){}"'`/*#;.-]{0,60}$/), (count, noise) => {
      const before = `${text}// ${noise}\n`.replace(
        /^\/\/ (?=[^\n]*\n$)/m,
        path.endsWith(".py") ? "# " : "// ",
      );
      const after = before + Array.from({ length: count }, (_, index) => more(index)).join("");
      expect(whatOf([file(path, before, after)])).toEqual([]);
    }),
    { numRuns: 40, seed: 20_261_115 },
  );
});

test("any text can be read", () => {
  const piece = fc.constantFrom(
    "it(",
    '"',
    "`",
    "${",
    "}",
    "{",
    "(",
    ")",
    "/*",
    "*/",
    "//",
    "\n",
    "=/[",
    "test.each",
    "<",
    "expect(",
    "\\",
    "@Test ",
    "#[test]",
    "fn a",
    "def test_",
    ":",
    "    ",
    "'",
    ",",
    "=>",
    "[",
    "]",
    "assert",
  );
  const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
  const path = fc.constantFrom(
    "a.test.ts",
    "test_a.py",
    "a_test.go",
    "a.rs",
    "ATest.java",
    "a_spec.rb",
    "a_test.cc",
    "a_test.dart",
    "a_test.exs",
    "a.feature",
    "a.bats",
    "conftest.py",
    "jest.config.js",
    "pyproject.toml",
    "codecov.yml",
    "pom.xml",
    "tox.ini",
  );
  fc.assert(
    fc.property(path, text, text, (name, before, after) => {
      expect(findWeakenedTests([file(name, before, before)], [])).toEqual([]);
      expect(findWeakenedTests([file(name, before, after)], []).length).toBeLessThanOrEqual(20);
    }),
    { numRuns: 800, seed: 20_261_115 },
  );
});

const HOSTILE: readonly string[] = [
  "((((",
  "/*/*",
  "`",
  "`${",
  'it("',
  'it("\n',
  'it("x", () => {',
  "it. ",
  "it<",
  "=/[",
  "' \\'",
  "expect(",
  "assert ",
  "@Test ",
  "#[test] ",
  "def test_a(",
  "for in ",
  "describe.skip(() => {",
  "[[",
  "a: {",
  "<plugin>",
  "try {",
  "try { } catch (",
  "try:\n ",
  "if (process.env",
  "if (process.env.A) test(",
  "function a() {",
  "const a = (",
  "const test = (",
  "const test = () => {",
  "test.each([",
  "test.each(a)\n",
  "a = [\n",
  "[]struct{",
  "func TestMain(m *testing.M) {",
  "import { expect as ",
  "const { ok: ",
  "from a import assert_a as b\n",
  "for (a) ",
  "def test_a():\n",
  "del test_a,",
  "import {e as e} from 'chai';e(",
  "pytest.skip(",
  "\ndef pytest_a(): pytest.skip(",
  '@test "',
  "TEST(A, B) ",
  "test('a', () { ",
  "Scenario: a\n ",
  'parametrize("',
  "@ValueSource({",
  "*/*",
];
const PATHS = [
  "a.test.ts",
  "test_a.py",
  "a_test.go",
  "a.rs",
  "ATest.java",
  "jest.config.js",
  "pyproject.toml",
  "codecov.yml",
  "pom.xml",
  "conftest.py",
  "pytest.ini",
  "a_test.cc",
  "ATests.swift",
  "a_test.exs",
  "a_test.dart",
  "a.bats",
  "a.feature",
  "a_spec.rb",
  "ATests.cs",
];

function readingOf(piece: string, paths: readonly string[]): (size: number) => void {
  return (size) => {
    const text = piece.repeat(size / piece.length);
    for (const path of paths) {
      findWeakenedTests([file(path, text, `${text}\nx`)], []);
      findWeakenedTests([file(path, text, null)], []);
    }
  };
}

test.each(["((((", "/*/*", "`", 'it("'])(
  "1 MB of %j take a time that grows with their length only",
  (piece) => {
    expect(growthOfFour(readingOf(piece, ["a.test.ts"]), 250_000)).toBeLessThan(LINEAR_GROWTH_MAX);
  },
);

test.each(HOSTILE)("%j takes linear time in every language", (piece) => {
  expect(growthOfFour(readingOf(piece, PATHS), 12_000)).toBeLessThan(LINEAR_GROWTH_MAX);
});
