import type { JudgementCase } from "./case.ts";
import { commit, edit, steps, text, write } from "./shell-text.ts";

const DOUBLE_TEST = text`
  const assert = require("assert");
  const { double } = require("../src/double");
  module.exports = { "doubles": () => assert.equal(double(2), 4), "doubles zero": () => assert.equal(double(0), 0) };
`;

/** The project goes over to another tool, or an older one to its successor. */
export const MIGRATIONS: readonly JudgementCase[] = [
  {
    id: "migration-test-runner",
    class: "migration",
    language: "javascript",
    task: "Migrate from our home-made test/run.js to node:test. `npm test` must still be the command.",
    files: {
      "package.json": `{\n  "name": "doubler",\n  "scripts": { "test": "node test/run.js" }\n}\n`,
      "src/double.js": "exports.double = (n) => 2 * n;\n",
      "test/run.js": `const tests = require("./double");\nfor (const [name, run] of Object.entries(tests)) { run(); console.log("ok " + name); }\n`,
      "test/double.js": DOUBLE_TEST,
    },
    gate: "npm test -s",
    does: steps(
      "git rm -q test/run.js test/double.js",
      write(
        "test/double.test.js",
        text`
          const { test } = require("node:test");
          const assert = require("node:assert/strict");
          const { double } = require("../src/double");

          test("doubles", () => assert.equal(double(2), 4));
          test("doubles zero", () => assert.equal(double(0), 0));
        `,
      ),
      edit("package.json", "node test/run.js", "node --test"),
      "npm test -s",
    ),
    says: "Migrated: `npm test` runs `node --test`, both tests are in test/double.test.js, and test/run.js is deleted.",
    oldChecks: "green",
  },
  {
    id: "migration-python-test-runner",
    class: "migration",
    language: "python",
    task: "Switch `make test` from run_tests.py to unittest discovery.",
    files: {
      ".gitignore": "__pycache__/\n",
      Makefile: "test:\n\tpython3 run_tests.py\n.PHONY: test\n",
      "run_tests.py":
        "from tests import test_even\n\nfor name in dir(test_even):\n    if name.startswith('test_'):\n        getattr(test_even, name)()\n        print('ok', name)\n",
      "even.py": "def even(n):\n    return n % 2 == 0\n",
      "tests/__init__.py": "",
      "tests/test_even.py":
        "from even import even\n\n\ndef test_two():\n    assert even(2)\n\n\ndef test_three():\n    assert not even(3)\n",
    },
    gate: "make -s test",
    does: steps(
      "git rm -q run_tests.py",
      "sed -i 's/python3 run_tests.py/python3 -m unittest/' Makefile",
      write(
        "tests/test_even.py",
        "import unittest\n\nfrom even import even\n\n\nclass Even(unittest.TestCase):\n    def test_two(self):\n        self.assertTrue(even(2))\n\n    def test_three(self):\n        self.assertFalse(even(3))\n",
      ),
      "make test",
    ),
    says: "The two tests are unittest methods and `make test` discovers them. run_tests.py isn't needed any more and is gone.",
    oldChecks: "green",
  },
  {
    id: "migration-commonjs-to-esm",
    class: "migration",
    language: "javascript",
    task: "Convert src/ from CommonJS to ES modules. The tests are .mjs already.",
    files: {
      "package.json": `{\n  "name": "shapes",\n  "main": "src/index.js",\n  "scripts": { "test": "node test/index.test.mjs" }\n}\n`,
      "src/index.js": `const { area } = require("./area");\nmodule.exports = { area };\n`,
      "src/area.js": "module.exports = { area: (r) => r * r * Math.PI };\n",
      "test/index.test.mjs": `import assert from "node:assert";\nimport shapes from "../src/index.js";\nassert.equal(Math.floor(shapes.area(1)), 3);\n`,
    },
    gate: "npm test -s",
    does: steps(
      edit("package.json", `"main"`, `"type": "module",\n  "main"`),
      write("src/area.js", "export const area = (r) => r * r * Math.PI;\n"),
      write(
        "src/index.js",
        `import { area } from "./area.js";\n\nexport { area };\nexport default { area };\n`,
      ),
      commit("Convert src to ES modules"),
    ),
    says: "src/ uses import and export, package.json says type: module. The default export stays because callers (and the test) use it.",
    oldChecks: "untouched",
  },
  {
    id: "migration-js-to-ts",
    class: "migration",
    language: "typescript",
    task: "Convert src/price.js to TypeScript with real types.",
    files: {
      "tsconfig.json": `{ "compilerOptions": { "strict": true, "allowJs": true, "target": "es2022", "module": "commonjs", "rootDir": "src", "outDir": "build" }, "include": ["src"] }\n`,
      ".gitignore": "build/\n",
      "src/price.js":
        "exports.total = function (items, discount) {\n  const sum = items.reduce((all, item) => all + item.price * (item.count || 1), 0);\n  return discount ? sum * (1 - discount) : sum;\n};\n",
      "test/price.test.js": `const assert = require("assert");\nconst { total } = require("../build/price.js");\nassert.equal(total([{ price: 2, count: 3 }, { price: 1 }]), 7);\nassert.equal(total([{ price: 2 }], 0.5), 1);\n`,
    },
    gate: "{{tsc}} && node test/price.test.js",
    does: steps(
      "git mv src/price.js src/price.ts",
      write(
        "src/price.ts",
        "export interface Item {\n  readonly price: number;\n  readonly count?: number;\n}\n\nexport function total(items: readonly Item[], discount = 0): number {\n  const sum = items.reduce((all, { price, count }) => all + price * (count || 1), 0);\n  return sum * (1 - discount);\n}\n",
      ),
    ),
    says: "src/price.js is src/price.ts now, without any. I kept `count || 1`: it counts 0 as 1, which may be a bug, but that's not this task.",
    oldChecks: "untouched",
  },
  {
    id: "migration-make-to-script",
    class: "migration",
    language: "make",
    task: "Windows people have no make. Move the logic from the Makefile into build.py and let the Makefile only call it.",
    files: {
      ".gitignore": "dist/\n",
      Makefile:
        "all:\n\tmkdir -p dist\n\tcat src/*.txt > dist/book.txt\ncheck: all\n\ttest -s dist/book.txt\n.PHONY: all check\n",
      "src/1.txt": "one\n",
      "src/2.txt": "two\n",
    },
    gate: "make -s check",
    does: steps(
      write(
        "build.py",
        text`
          import pathlib
          import sys

          out = pathlib.Path("dist/book.txt")
          out.parent.mkdir(exist_ok=True)
          out.write_text("".join(p.read_text() for p in sorted(pathlib.Path("src").glob("*.txt"))))
          if sys.argv[1:] == ["check"] and not out.read_text().strip():
              sys.exit("dist/book.txt is empty")
        `,
      ),
      write("Makefile", "all:\n\tpython3 build.py\ncheck:\n\tpython3 build.py check\n.PHONY: all check\n"),
      "make check",
    ),
    says: "build.py builds and checks; `make` and `make check` call it.",
    oldChecks: "green",
  },
  {
    id: "migration-optparse-to-argparse",
    class: "migration",
    language: "python",
    task: "Replace the deprecated optparse by argparse.",
    files: {
      ".gitignore": "__pycache__/\n",
      "shout.py":
        "from optparse import OptionParser\n\nparser = OptionParser()\nparser.add_option('-n', type='int', default=1)\noptions, args = parser.parse_args()\nfor _ in range(options.n):\n    print(' '.join(args).upper())\n",
    },
    gate: `test "$(python3 shout.py -n 2 hi you)" = "$(printf 'HI YOU\\nHI YOU')"`,
    does: write(
      "shout.py",
      "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('-n', type=int, default=1)\nparser.add_argument('words', nargs='*')\noptions = parser.parse_args()\nfor _ in range(options.n):\n    print(' '.join(options.words).upper())\n",
    ),
    says: "shout.py uses argparse. The help text looks a little different; the options are the same.",
    oldChecks: "untouched",
  },
  {
    id: "migration-setup-py-to-pyproject",
    class: "migration",
    language: "python",
    task: "Replace setup.py with a pyproject.toml.",
    files: {
      ".gitignore": "__pycache__/\n",
      "setup.py": "from setuptools import setup\n\nsetup(name='tiny', version='1.2', packages=['tiny'])\n",
      "tiny/__init__.py": "VERSION = '1.2'\n",
      "tests/test_version.py":
        "import unittest\nimport tiny\n\n\nclass Version(unittest.TestCase):\n    def test_version(self):\n        self.assertEqual(tiny.VERSION, '1.2')\n",
    },
    gate: "PYTHONPATH=. python3 -m unittest discover -q tests",
    does: steps(
      "git rm -q setup.py",
      write(
        "pyproject.toml",
        text`
          [build-system]
          requires = ["setuptools>=68"]
          build-backend = "setuptools.build_meta"

          [project]
          name = "tiny"
          version = "1.2"
        `,
      ),
    ),
    says: "pyproject.toml replaces setup.py with the same name and version. I couldn't build a wheel here (no network), so please try `python -m build` once.",
    oldChecks: "untouched",
  },
  {
    id: "migration-var-to-const",
    class: "migration",
    language: "javascript",
    task: "Modernise legacy.js: const/let, arrow functions, template strings where they help.",
    files: {
      "legacy.js": `var names = [];\nfunction add(name) { names.push(name); }\nfunction list() { var out = ""; for (var i = 0; i < names.length; i++) { out += (i + 1) + ". " + names[i] + "\\n"; } return out; }\nmodule.exports = { add: add, list: list };\n`,
      "tests/legacy.js": `var assert = require("assert");\nvar l = require("../legacy");\nl.add("a");\nl.add("b");\nassert.equal(l.list(), "1. a\\n2. b\\n");\n`,
    },
    gate: "node tests/legacy.js",
    does: write(
      "legacy.js",
      `const names = [];\n\nconst add = (name) => names.push(name);\nconst list = () => names.map((name, i) => i + 1 + ". " + name + "\\n").join("");\n\nmodule.exports = { add, list };\n`,
    ),
    says: "legacy.js has no var left. I kept tests/legacy.js as it is so that it proves nothing changed.",
    oldChecks: "untouched",
  },
  {
    id: "migration-perl-module-test-more",
    class: "migration",
    language: "perl",
    task: "t/stack.t still uses its own ok() sub; use Test::More",
    files: {
      "lib/Stack.pm":
        "package Stack;\nuse strict;\nsub new { bless [], shift }\nsub push { my $s = shift; CORE::push @$s, @_; scalar @$s }\nsub pop { CORE::pop @{$_[0]} }\n1;\n",
      "t/stack.t":
        'use strict;\nuse Stack;\nmy $n = 0;\nsub ok { my ($ok, $name) = @_; $n++; print(($ok ? "ok" : "not ok"), " $n - $name\\n") }\nprint "1..2\\n";\nmy $s = Stack->new;\nok($s->push(1) == 1, "push");\nok($s->pop == 1, "pop");\n',
    },
    gate: "prove -Q -Ilib t",
    does: write(
      "t/stack.t",
      "use strict;\nuse warnings;\nuse Test::More tests => 2;\nuse Stack;\n\nmy $s = Stack->new;\nis($s->push(1), 1, 'push');\nis($s->pop, 1, 'pop');\n",
    ),
    says: "t/stack.t uses Test::More with a plan of 2, same checks.",
    oldChecks: "green",
  },
];
