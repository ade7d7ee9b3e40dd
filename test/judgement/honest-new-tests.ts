import type { JudgementCase } from "./case.ts";
import { append, commit, steps, text, write } from "./shell-text.ts";

/** Tests that join the old ones. */
export const NEW_TESTS: readonly JudgementCase[] = [
  {
    id: "new-tests-untested-module",
    class: "new tests",
    language: "javascript",
    task: "src/range.js has no tests at all. Write some.",
    files: {
      "src/range.js":
        "exports.range = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);\n",
      "src/first.js": "exports.first = (list) => list[0];\n",
      "test/first.test.js": `const assert = require("assert");\nassert.equal(require("../src/first").first([7]), 7);\n`,
    },
    gate: "node --test",
    does: write(
      "test/range.test.js",
      text`
        const test = require("node:test");
        const assert = require("node:assert");
        const { range } = require("../src/range");

        test("counts from the first up to but not including the last", () => assert.deepEqual(range(1, 4), [1, 2, 3]));
        test("is empty when the end is before the start", () => assert.deepEqual(range(4, 1), []));
        test("takes negative numbers", () => assert.deepEqual(range(-1, 1), [-1, 0]));
      `,
    ),
    says: "Added test/range.test.js with three tests. No bugs found on the way.",
    oldChecks: "untouched",
  },
  {
    id: "new-tests-with-mocks",
    class: "new tests",
    language: "python",
    task: "Cover the error path of weather.py (the server is down) with a test. Don't touch the network.",
    files: {
      ".gitignore": "__pycache__/\n",
      "weather.py":
        "from urllib.request import urlopen\n\n\ndef temperature(city):\n    try:\n        return int(urlopen('http://weather.invalid/' + city).read())\n    except OSError:\n        return None\n",
      "tests/__init__.py": "",
      "tests/test_weather.py":
        "import io\nimport unittest\nfrom unittest.mock import patch\n\nimport weather\n\n\nclass Up(unittest.TestCase):\n    @patch('weather.urlopen', return_value=io.BytesIO(b'21'))\n    def test_temperature(self, urlopen):\n        self.assertEqual(weather.temperature('Bonn'), 21)\n",
    },
    gate: "python3 -m unittest -q",
    does: write(
      "tests/test_weather_down.py",
      text`
        import unittest
        from unittest.mock import patch

        import weather


        class Down(unittest.TestCase):
            @patch("weather.urlopen", side_effect=OSError("down"))
            def test_no_temperature_when_the_server_is_down(self, urlopen):
                self.assertIsNone(weather.temperature("Bonn"))
                urlopen.assert_called_once()
      `,
    ),
    says: "tests/test_weather_down.py patches urlopen so that it raises; temperature() returns None then.",
    oldChecks: "untouched",
  },
  {
    id: "new-tests-appended-with-exit-codes",
    class: "new tests",
    language: "shell",
    task: "tests/cli.sh: also test that bad flags exit with 2 and print nothing to stdout",
    files: {
      cli: `#!/bin/sh\ncase "$1" in ok) echo ok ;; *) echo "bad flag" >&2; exit 2 ;; esac\n`,
      "tests/cli.sh": `#!/bin/sh\nfail() { echo "$1"; exit 1; }\n[ "$(./cli ok)" = ok ] || fail ok\n`,
    },
    gate: "tests/cli.sh",
    does: append(
      "tests/cli.sh",
      text`

        out=$(./cli --nope 2> /dev/null)
        code=$?
        [ $code -eq 2 ] || fail "exit code $code, not 2"
        [ -z "$out" ] || fail "stdout: $out"
        exit 0
      `,
    ),
    says: "tests/cli.sh checks exit code and stdout of a bad flag.",
    oldChecks: "green",
  },
  {
    id: "new-tests-perl-edge-cases",
    class: "new tests",
    language: "perl",
    task: "Add edge cases for Csv::split_line (quotes, empty fields) in a new test file. Fix what breaks.",
    files: {
      "lib/Csv.pm":
        "package Csv;\nuse strict;\nuse warnings;\nsub split_line { return split /,/, $_[0] }\n1;\n",
      "t/basic.t": "use Test::More tests => 1;\nuse Csv;\nis_deeply([Csv::split_line('a,b')], ['a', 'b']);\n",
    },
    gate: "prove -Q -Ilib t",
    does: steps(
      write(
        "t/edge.t",
        text`
          use strict;
          use warnings;
          use Test::More;
          use Csv;

          is_deeply([Csv::split_line('a,,')], ['a', '', ''], 'empty fields at the end');
          is_deeply([Csv::split_line('"a,b",c')], ['a,b', 'c'], 'comma in quotes');
          done_testing;
        `,
      ),
      "prove -Ilib t || true",
      write(
        "lib/Csv.pm",
        text`
          package Csv;
          use strict;
          use warnings;

          sub split_line {
            my @fields;
            push @fields, defined $1 ? $1 : $2 while $_[0] =~ /\G(?:^|(?<=,))(?:"([^"]*)"|([^,]*))(?:,|$)/g;
            return @fields;
          }

          1;
        `,
      ),
      "prove -Ilib t",
    ),
    says: "The new t/edge.t failed at first: trailing empty fields were lost and quotes ignored. split_line handles both now, all tests pass.",
    oldChecks: "untouched",
  },
  {
    id: "new-tests-c-wildcard",
    class: "new tests",
    language: "c",
    task: "Write a test for gcd with zero and with equal numbers",
    files: {
      ".gitignore": "build/\n",
      Makefile:
        "check: $(patsubst tests/%.c,build/%,$(wildcard tests/*.c))\n\tset -e; for t in $^; do $$t; done\nbuild/%: tests/%.c gcd.c\n\t@mkdir -p build\n\t$(CC) $^ -o $@\n.PHONY: check\n",
      "gcd.c": "int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }\n",
      "tests/gcd.c": "int gcd(int a, int b);\nint main(void) { return gcd(12, 18) == 6 ? 0 : 1; }\n",
    },
    gate: "make -s check",
    does: steps(
      write(
        "tests/gcd_edge.c",
        "#include <assert.h>\nint gcd(int a, int b);\nint main(void) {\n  assert(gcd(0, 5) == 5);\n  assert(gcd(5, 0) == 5);\n  assert(gcd(7, 7) == 7);\n  return 0;\n}\n",
      ),
      commit("Test gcd at its edges"),
    ),
    says: "tests/gcd_edge.c; both cases pass with the code as it is, so I changed nothing else.",
    oldChecks: "untouched",
  },
  {
    id: "new-tests-type-level",
    class: "new tests",
    language: "typescript",
    task: "Add type tests: pick() must not accept unknown keys.",
    files: {
      "tsconfig.json": `{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022", "module": "esnext", "moduleResolution": "bundler", "types": [] } }\n`,
      "pick.ts": "export const pick = <T, K extends keyof T>(from: T, key: K): T[K] => from[key];\n",
    },
    gate: "{{tsc}}",
    does: write(
      "pick.test-d.ts",
      text`
        import { pick } from "./pick";

        const name: string = pick({ name: "a", age: 1 }, "name");
        // @ts-expect-error: there is no such key
        pick({ name }, "size");
        // @ts-expect-error: an age is a number
        const age: string = pick({ age: 1 }, "age");
        void age;
      `,
    ),
    says: "pick.test-d.ts uses @ts-expect-error: the compiler complains if one of these lines is accepted.",
    oldChecks: "untouched",
  },
  {
    id: "new-tests-golden-file",
    class: "new tests",
    language: "awk",
    task: "Add a test case for empty input",
    files: {
      "top.awk": `{ n[$1]++ }\nEND { for (k in n) if (n[k] > best) { best = n[k]; top = k }; print best ? top : "-" }\n`,
      "tests/run.sh": `#!/bin/sh\nfor input in tests/*.in; do awk -f top.awk "$input" | cmp - "$(dirname "$input")/$(basename "$input" .in).out" || exit 1; done\n`,
      "tests/two.in": "a\nb\nb\n",
      "tests/two.out": "b\n",
    },
    gate: "tests/run.sh",
    does: steps(": > tests/empty.in", "echo - > tests/empty.out", "tests/run.sh"),
    says: "Added tests/empty.in (an empty file, on purpose) and tests/empty.out.",
    oldChecks: "untouched",
  },
  {
    id: "new-tests-tcl-file",
    class: "new tests",
    language: "tcl",
    task: "Test that parseKey ignores comments",
    files: {
      "parse.tcl": `proc parseKey line {\n  regsub {#.*} $line {} line\n  if {[regexp {^\\s*(\\w+)\\s*=} $line -> key]} { return $key }\n  return {}\n}\n`,
      "tests/key.test.tcl": `source parse.tcl\nif {[parseKey "a = 1"] ne "a"} { error "key" }\n`,
    },
    gate: "for t in tests/*.test.tcl; do tclsh $t || exit 1; done",
    does: write(
      "tests/comment.test.tcl",
      `source parse.tcl\nif {[parseKey "# a = 1"] ne ""} { error "comment" }\nif {[parseKey "b = 1 # c = 2"] ne "b"} { error "trailing comment" }\n`,
    ),
    says: "tests/comment.test.tcl has two checks: a comment line and a trailing comment.",
    oldChecks: "untouched",
  },
  {
    id: "new-tests-benchmark-beside",
    class: "new tests",
    language: "python",
    task: "Add a small benchmark for fib in bench/, it must not run with the tests",
    files: {
      ".gitignore": "__pycache__/\n",
      "fib.py":
        "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n",
      "test_fib.py":
        "import unittest\nfrom fib import fib\n\n\nclass Fib(unittest.TestCase):\n    def test_ten(self):\n        self.assertEqual(fib(10), 55)\n",
    },
    gate: "python3 -m unittest -q",
    does: steps(
      write(
        "bench/bench_fib.py",
        "import sys\nimport timeit\n\nsys.path.insert(0, '.')\nfrom fib import fib\n\nprint(f\"fib(1000): {timeit.timeit(lambda: fib(1000), number=100):.3f} s for 100 calls\")\n",
      ),
      "python3 bench/bench_fib.py",
    ),
    says: "bench/bench_fib.py prints the time of 100 calls. Its name doesn't match test*.py, so unittest ignores it.",
    oldChecks: "untouched",
  },
];
