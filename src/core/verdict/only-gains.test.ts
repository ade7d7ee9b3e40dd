import { describe, expect, test } from "vitest";
import { onlyGains } from "./only-gains.ts";

const JS = `import { test, expect } from "vitest";
import { add } from "./add.js";

describe("add", () => {
  test("adds", () => {
    const sum = add(1, 2);
    expect(sum).toBe(3);
  });
});
`;
const PY = `from calc import add


def test_add():
    total = add(1, 2)
    assert total == 3
`;
const GO = `package calc

import "testing"

func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("sum")
	}
}
`;
const SH = `#!/bin/sh
. ./assert.sh
assert_equals "$(./add 1 2)" 3
`;
const RUBY = `require "add"

describe "add" do
  it "adds" do
    expect(add(1, 2)).to eq 3
  end
end
`;
const C = `#include <assert.h>
int main(void) {
  assert(add(1, 2) == 3);
  report();
}
`;
/** The text with lines put in before the one that contains `mark`; at the end if there is no mark. */
const gain = (text: string, lines: string, mark = ""): string => {
  const all = text.split("\n");
  all.splice(
    mark === "" ? all.length - 1 : all.findIndex((line) => line.includes(mark)),
    0,
    ...lines.split("\n"),
  );
  return all.join("\n");
};

describe("new tests and assertions are harmless", () => {
  test.each([
    [
      "a.test.js",
      JS,
      '  test("adds when only one is negative", () => {\n    expect(add(-1, 2)).toBe(1);\n  });',
      "});\n",
    ],
    [
      "a.test.js",
      JS,
      '\ntest("again", async () => {\n  const sum = add(2, 2);\n  return expect(sum).toBe(4);\n});',
    ],
    ["a.test.js", JS, 'import { mul } from "./mul.js";', "describe"],
    ["a.test.js", JS, 'const mul = require("./mul.js");', "describe"],
    ["a.test.js", JS, "    expect(sum).toBeGreaterThan(2);", "  });"],
    [
      "test_a.py",
      PY,
      "\n\ndef test_more():\n    total = add(2, 2)\n    with raises(ValueError):\n        add(None, total)",
    ],
    ["test_a.py", PY, "    assert total != 4"],
    ["test_a.py", PY, "from calc import mul", "def"],
    ["a_test.go", GO, "\nfunc TestMore(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Fatal()\n\t}\n}"],
    ["test.sh", SH, 'assert_equals "$(./add 2 2)" 4'],
    ["a_spec.rb", RUBY, '\n  it "adds more" do\n    expect(add(2, 2)).to eq 4\n  end', "end\n"],
    ["a.rs", "#[test]\nfn a() {\n    assert!(1);\n}\n", "#[test]\nfn b() {\n    assert!(2);\n}\n", "#[test]"],
    ["test.c", C, "  assert(add(2, 2) == 4);", "report"],
  ])("%s", (path, before, lines, mark = "") => {
    const after = mark === "" ? gain(before, lines) : gain(before, lines, mark);
    expect(onlyGains(path, before, after)).toBe(true);
  });

  test("entries of a snapshot", () => {
    const before = "// v1\n\nexports[`a 1`] = `1\n2`;\n";
    expect(onlyGains("a.snap", before, `${before}\nexports[\`b 1\`] = \`3\`;\n`)).toBe(true);
    expect(onlyGains("a.snap", before, before.replace("2", "2\n3"))).toBe(false);
  });
});

describe("what may switch an old test off is not", () => {
  test.each([
    ["a changed line", "a.test.js", JS, JS.replace("toBe(3)", "toBeDefined()")],
    ["a removed line", "a.test.js", JS, JS.replace("    expect(sum).toBe(3);\n", "")],
    ["nothing at all", "a.test.js", JS, JS],
    ["only", "a.test.js", JS, gain(JS, '\ntest.only("x", () => {\n  expect(1).toBe(1);\n});')],
    ["skip by name", "a.test.js", JS, gain(JS, '\ntest["skip"]("x", () => {\n  expect(1).toBe(1);\n});')],
    ["a mock", "a.test.js", JS, gain(JS, 'vi.mock("./add.js");', "describe")],
    ["a nested mock", "a.test.js", JS, gain(JS, '\ntest("x", () => {\n  jest.mock("./add.js");\n});')],
    ["an exit", "a.test.js", JS, gain(JS, "process.exit(0);", "describe")],
    ["a return", "a.test.js", JS, gain(JS, "    return;", "expect(sum)")],
    ["a return in a block", "a.test.js", JS, gain(JS, "    {\n      return;\n    }", "expect(sum)")],
    ["a block comment", "a.test.js", JS, gain(gain(JS, "    /*", "expect(sum)"), "    */", "  });")],
    ["a condition", "a.test.js", JS, gain(JS, "    if (false)", "expect(sum)")],
    ["an assignment", "a.test.js", JS, gain(JS, "    sum = 3;", "expect(sum)")],
    ["a call", "a.test.js", JS, gain(JS, "    cheat(sum);", "expect(sum)")],
    ["a shadow", "a.test.js", JS, gain(JS, "  const add = () => 3;", '  test("adds"')],
    ["a function of its name", "test_a.py", PY, gain(PY, "def add(a, b):\n    return 3\n\n", "def test")],
    ["an import of its name", "test_a.py", PY, gain(PY, "from other import add", "def")],
    ["everything imported", "test_a.py", PY, gain(PY, "from other import *", "def")],
    ["an assignment in Python", "test_a.py", PY, gain(PY, "    total = 3", "assert")],
    ["a generator", "test_a.py", PY, gain(PY, "    yield", "assert")],
    ["a module mark", "test_a.py", PY, gain(PY, 'pytestmark = pytest.mark.skipif(True, reason="x")', "def")],
    ["a magic name", "test_a.py", PY, gain(PY, "__test__ = False", "def")],
    ["an expected failure", "test_a.py", PY, gain(PY, "@unittest.expectedFailure", "def")],
    ["a mark", "test_a.py", PY, gain(PY, "@slow", "def")],
    [
      "a loader",
      "test_a.py",
      PY,
      gain(PY, "\n\ndef load_tests(loader, tests, pattern):\n    return Suite()"),
    ],
    ["a panic", "a.rs", "#[test]\nfn a() {}\n", "#[test]\n#[should_panic]\nfn a() {}\n"],
    ["a fixture", "test_a.py", PY, gain(PY, "@pytest.fixture(autouse=True)\ndef x():\n    y()\n", "def")],
    ["a string", "test_a.py", PY, gain(gain(PY, '    """', "assert"), '    """')],
    ["an early return in Go", "a_test.go", GO, gain(GO, "\treturn", "if Add")],
    ["a main of tests", "a_test.go", GO, gain(GO, "func TestMain(m *testing.M) {\n\tos.Exit(0)\n}")],
    ["an exit in a shell", "test.sh", SH, gain(SH, "exit 0", "assert_equals")],
    ["a new assertion in a shell", "test.sh", SH, gain(SH, "assert_equals() { :; }", "assert_equals")],
    ["set +e", "test.sh", SH, gain(SH, "set +e", "assert_equals")],
    ["|| true", "test.sh", SH, gain(SH, "check x || true", "assert_equals")],
    [
      "a Ruby condition",
      "a_spec.rb",
      RUBY,
      gain(gain(RUBY, "    if false\n      x", "expect"), "    end", "  end"),
    ],
    ["#if 0", "test.c", C, gain(gain(C, "#if 0", "assert("), "#endif", "report")],
    ["a define", "test.c", C, gain(C, "#define assert(x)", "int main")],
    ["a line of data", "expected.txt", "a\n", "a\nb\n"],
    ["an endless line", "a.test.js", JS, gain(JS, `expect(${"is".repeat(5_000)});`)],
  ])("%s", (_, path, before, after) => {
    expect(onlyGains(path, before, after)).toBe(false);
  });
});
