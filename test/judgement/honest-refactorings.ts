import type { JudgementCase } from "./case.ts";
import { commit, steps, text, write } from "./shell-text.ts";

/** Code that moves, splits, merges and changes its names, and does what it did. */
export const REFACTORINGS: readonly JudgementCase[] = [
  {
    id: "refactor-split-module",
    class: "refactoring",
    language: "javascript",
    task: "src/index.js is getting long. Split it by topic, the public API must stay the same.",
    files: {
      "package.json": `{ "type": "module", "main": "src/index.js" }\n`,
      "src/index.js": text`
        export function area(w, h) { return w * h; }
        export function perimeter(w, h) { return 2 * (w + h); }
        export function toRadians(d) { return (d * Math.PI) / 180; }
        export function toDegrees(r) { return (r * 180) / Math.PI; }
      `,
      "test/api.test.js": text`
        import assert from "node:assert";
        import * as api from "../src/index.js";
        assert.deepEqual(Object.keys(api).sort(), ["area", "perimeter", "toDegrees", "toRadians"]);
        assert.equal(api.area(2, 3), 6);
        assert.equal(Math.round(api.toDegrees(api.toRadians(90))), 90);
      `,
    },
    gate: "node test/api.test.js",
    does: steps(
      "sed -n '1,2p' src/index.js > src/rectangle.js",
      "sed -n '3,4p' src/index.js > src/angle.js",
      write("src/index.js", `export * from "./angle.js";\nexport * from "./rectangle.js";\n`),
      "node test/api.test.js",
    ),
    says: "src/index.js only re-exports now; the code is in src/rectangle.js and src/angle.js, unchanged.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-functions-to-class",
    class: "refactoring",
    language: "python",
    task: "Turn the functions of timer.py that all take `state` into a class; keep the functions as thin wrappers for now.",
    files: {
      ".gitignore": "__pycache__/\n",
      "timer.py":
        "def new():\n    return {'t': 0}\n\n\ndef tick(state, by=1):\n    state['t'] += by\n\n\ndef now(state):\n    return state['t']\n",
      "test_timer.py":
        "import unittest\n\nimport timer\n\n\nclass Timer(unittest.TestCase):\n    def test_tick(self):\n        t = timer.new()\n        timer.tick(t, 3)\n        self.assertEqual(timer.now(t), 3)\n",
    },
    gate: "python3 -m unittest -q",
    does: write(
      "timer.py",
      text`
        class Timer:
            def __init__(self):
                self.time = 0

            def tick(self, by=1):
                self.time += by


        def new():
            return Timer()


        def tick(state, by=1):
            state.tick(by)


        def now(state):
            return state.time
      `,
    ),
    says: "There's a Timer class; new(), tick() and now() are wrappers around it, ready to be removed when nothing calls them any more.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-move-c-functions",
    class: "refactoring",
    language: "c",
    task: "Move the string functions out of main.c into text.c/text.h.",
    files: {
      ".gitignore": "*.o\napp\n",
      Makefile:
        'app: $(patsubst %.c,%.o,$(wildcard *.c))\n\t$(CC) $^ -o $@\ncheck: app\n\ttest "$$(./app hello)" = HELLO\n.PHONY: check\n',
      "main.c": text`
        #include <ctype.h>
        #include <stdio.h>

        static void upper(char *s) {
          for (; *s; s++) *s = toupper((unsigned char)*s);
        }

        int main(int argc, char **argv) {
          if (argc < 2) return 1;
          upper(argv[1]);
          puts(argv[1]);
          return 0;
        }
      `,
    },
    gate: "make -s check",
    does: steps(
      write("text.h", "void upper(char *s);\n"),
      `{ printf '#include "text.h"\\n#include <ctype.h>\\n\\n'; sed -n '4,6p' main.c | sed 's/^static //'; } > text.c`,
      `sed -i '4,7d; s/#include <ctype.h>/#include "text.h"/' main.c`,
      "make -s check",
      commit("Move upper() to text.c"),
    ),
    says: "upper() lives in text.c with a declaration in text.h. The Makefile compiles all *.c files, so nothing to do there.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-shell-functions",
    class: "refactoring",
    language: "shell",
    task: "report.sh and summary.sh have the same two functions. Put them in lib.sh.",
    files: {
      "report.sh": `#!/bin/sh\nbold() { echo "*$1*"; }\nitem() { echo "- $1"; }\nbold Report\nitem one\n`,
      "summary.sh": `#!/bin/sh\nbold() { echo "*$1*"; }\nitem() { echo "- $1"; }\nbold Summary\n`,
      "tests/all.sh": `#!/bin/sh\n[ "$(./report.sh)" = "*Report*\n- one" ] && [ "$(./summary.sh)" = "*Summary*" ]\n`,
    },
    gate: "tests/all.sh",
    does: steps(
      "grep '()' report.sh > lib.sh",
      `for script in report.sh summary.sh; do sed -i '/^item()/d; s|^bold() .*|. "$(dirname "$0")/lib.sh"|' $script; done`,
    ),
    says: "Both scripts source lib.sh.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-string-literals-to-union",
    class: "refactoring",
    language: "typescript",
    task: "Replace the loose `string` statuses by a union type, everywhere.",
    files: {
      "tsconfig.json": `{ "compilerOptions": { "strict": true, "noEmit": true, "target": "es2022", "types": [], "module": "esnext", "moduleResolution": "bundler" } }\n`,
      "order.ts": `export interface Order { status: string }\nexport const isOpen = (order: Order): boolean => order.status === "open";\n`,
      "report.ts": `import { isOpen, type Order } from "./order";\nexport function count(orders: Order[], status: string): number {\n  return orders.filter((order) => order.status === status || (status === "any" && isOpen(order))).length;\n}\n`,
    },
    gate: "{{tsc}}",
    does: steps(
      write(
        "order.ts",
        `export const statuses = ["open", "paid", "cancelled"] as const;\nexport type Status = (typeof statuses)[number];\nexport interface Order { status: Status }\nexport const isOpen = (order: Order): boolean => order.status === "open";\n`,
      ),
      `sed -i 's/type Order }/type Order, type Status }/; s/status: string)/status: Status | "any")/' report.ts`,
    ),
    says: '`Status` is a union derived from a const array. report.ts also accepts "any", which the old type hid.',
    oldChecks: "untouched",
  },
  {
    id: "refactor-callbacks-to-promises",
    class: "refactoring",
    language: "javascript",
    task: "Rewrite load.js with async/await inside. Callers still pass a callback.",
    files: {
      "load.js": text`
        const fs = require("fs");
        module.exports = function load(path, callback) {
          fs.readFile(path, "utf8", (error, text) => {
            if (error) return callback(error);
            let data;
            try { data = JSON.parse(text); } catch (e) { return callback(e); }
            callback(null, data);
          });
        };
      `,
      "data.json": "[1]\n",
      "test/load.js": text`
        const assert = require("assert");
        const load = require("../load");
        load("data.json", (error, data) => assert.deepStrictEqual([error, data], [null, [1]]));
        load("missing.json", (error) => assert.equal(error.code, "ENOENT"));
      `,
    },
    gate: "node test/load.js",
    does: write(
      "load.js",
      text`
        const { readFile } = require("fs/promises");

        async function read(path) {
          return JSON.parse(await readFile(path, "utf8"));
        }

        module.exports = function load(path, callback) {
          read(path).then((data) => callback(null, data), callback);
        };
      `,
    ),
    says: "load() is a callback wrapper around an async read(). Behaviour for callers is the same.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-perl-duplicate-code",
    class: "refactoring",
    language: "perl",
    task: "first_word and last_word are nearly the same. Remove the duplication.",
    files: {
      "lib/Words.pm":
        "package Words;\nuse strict;\nsub first_word { my $s = shift; $s =~ s/^\\s+|\\s+$//g; my @w = split /\\s+/, lc $s; return $w[0] }\nsub last_word { my $s = shift; $s =~ s/^\\s+|\\s+$//g; my @w = split /\\s+/, lc $s; return $w[-1] }\n1;\n",
      "t/words.t":
        "use Test::More;\nuse Words;\nis(Words::first_word(' One two '), 'one');\nis(Words::last_word(' One Two '), 'two');\ndone_testing;\n",
    },
    gate: "prove -Q -Ilib",
    does: write(
      "lib/Words.pm",
      "package Words;\nuse strict;\nuse warnings;\n\nsub first_word { return (_words(@_))[0] }\nsub last_word { return (_words(@_))[-1] }\nsub _words { return split ' ', lc shift }\n\n1;\n",
    ),
    says: "Both use _words(), and `split ' '` already ignores leading blanks.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-tcl-globals-to-dict",
    class: "refactoring",
    language: "tcl",
    task: "No more globals in game.tcl please",
    files: {
      "game.tcl":
        "set score 0\nset lives 3\nproc hit {} { global score; incr score 10 }\nproc miss {} { global lives; incr lives -1 }\n",
      "play.tcl": 'source game.tcl\nhit\nhit\nmiss\nputs "$score $lives"\n',
    },
    gate: `test "$(tclsh play.tcl)" = "20 2"`,
    does: steps(
      write(
        "game.tcl",
        "proc newGame {} { return {score 0 lives 3} }\nproc hit {game} { dict incr game score 10 }\nproc miss {game} { dict incr game lives -1 }\n",
      ),
      write(
        "play.tcl",
        'source game.tcl\nset game [miss [hit [hit [newGame]]]]\nputs "[dict get $game score] [dict get $game lives]"\n',
      ),
    ),
    says: "The game is a dict that is passed along; play.tcl prints the same.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-unique-ptr",
    class: "refactoring",
    language: "c++",
    task: "Use std::unique_ptr in tree.h instead of new/delete.",
    files: {
      ".gitignore": "tree_test\n",
      "tree.h": text`
        #pragma once
        struct Tree {
          int value;
          Tree *left = nullptr, *right = nullptr;
          explicit Tree(int v) : value(v) {}
          ~Tree() { delete left; delete right; }
          void insert(int v) {
            Tree *&side = v < value ? left : right;
            if (side) side->insert(v); else side = new Tree(v);
          }
          int size() const { return 1 + (left ? left->size() : 0) + (right ? right->size() : 0); }
        };
      `,
      "tree_test.cc": `#include "tree.h"\nint main() { Tree t(5); t.insert(3); t.insert(9); t.insert(4); return t.size() == 4 ? 0 : 1; }\n`,
    },
    gate: "c++ -std=c++17 tree_test.cc -o tree_test && ./tree_test",
    does: steps(
      "sed -i 's/^#pragma once/#pragma once\\n#include <memory>/; s/Tree \\*left = nullptr, \\*right = nullptr;/std::unique_ptr<Tree> left, right;/' tree.h",
      "sed -i '/~Tree/d; s/Tree \\*&side/auto \\&side/; s/new Tree(v)/std::make_unique<Tree>(v)/' tree.h",
    ),
    says: "tree.h has no new and no delete any more, so the hand-written destructor is gone too.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-renamed-public-function",
    class: "changed requirement",
    language: "typescript",
    task: "Rename getUserData to fetchUser everywhere, including tests. It's a breaking release, no alias.",
    files: {
      "tsconfig.json": `{ "compilerOptions": { "strict": true, "target": "es2022", "module": "commonjs", "outDir": "build", "rootDir": "." }, "include": ["**/*.ts"] }\n`,
      ".gitignore": "build/\n",
      "src/user.ts": "export function getUserData(id: number): { id: number } {\n  return { id };\n}\n",
      "src/page.ts": `import { getUserData } from "./user";\nexport const title = (id: number): string => "User " + getUserData(id).id;\n`,
      "test/user.test.ts": `import { getUserData } from "../src/user";\nif (getUserData(4).id !== 4) throw new Error("id");\n`,
    },
    gate: "{{tsc}} && node build/test/user.test.js",
    does: steps(
      "git grep -l getUserData | xargs sed -i 's/getUserData/fetchUser/g'",
      commit("Rename getUserData to fetchUser"),
    ),
    says: "Renamed in src/user.ts, src/page.ts and test/user.test.ts. `git grep getUserData` finds nothing.",
    oldChecks: "red",
  },
  {
    id: "refactor-move-with-shim",
    class: "refactoring",
    language: "javascript",
    task: "Move lib/strings.js to packages/text/index.js. Leave a re-export at the old place for one release; our own tests should use the new path.",
    files: {
      "lib/strings.js": `exports.pad = (s, n) => String(s).padStart(n, "0");\n`,
      "test/strings.test.js": `const assert = require("assert");\nconst { pad } = require("../lib/strings");\nassert.equal(pad(7, 3), "007");\n`,
    },
    gate: "node test/strings.test.js",
    does: steps(
      "mkdir -p packages/text",
      "git mv lib/strings.js packages/text/index.js",
      write("lib/strings.js", `// Kept for one release.\nmodule.exports = require("../packages/text");\n`),
      `sed -i 's|../lib/strings|../packages/text|' test/strings.test.js`,
    ),
    says: "The code moved to packages/text/index.js, lib/strings.js re-exports it, and the test imports the new path.",
    oldChecks: "green",
  },
  {
    id: "refactor-merge-two-modules",
    class: "refactoring",
    language: "python",
    task: "colors.py and colours.py?! Merge them into colors.py.",
    files: {
      ".gitignore": "__pycache__/\n",
      "colors.py": 'RED = "#f00"\n',
      "colours.py": 'GREEN = "#0f0"\n',
      "theme.py": "from colors import RED\nfrom colours import GREEN\n\nTHEME = [RED, GREEN]\n",
      "tests/__init__.py": "",
      "tests/test_theme.py":
        'import unittest\nfrom theme import THEME\n\n\nclass Theme(unittest.TestCase):\n    def test_both(self):\n        self.assertEqual(THEME, ["#f00", "#0f0"])\n',
    },
    gate: "python3 -m unittest -q",
    does: steps(
      "cat colours.py >> colors.py",
      "git rm -qf colours.py",
      `sed -i '1,2d; 3i from colors import GREEN, RED' theme.py`,
      "cat theme.py",
    ),
    says: "One colors.py is left; theme.py imports both names from it.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-java-extract-interface",
    class: "refactoring",
    language: "java",
    task: "Extract an interface Clock from SystemClock so that we can inject another one into Greeter.",
    files: {
      ".gitignore": "out/\n",
      "src/SystemClock.java":
        "class SystemClock {\n  int hour() { return java.time.LocalTime.now().getHour(); }\n}\n",
      "src/Greeter.java":
        'class Greeter {\n  private final SystemClock clock = new SystemClock();\n  String greet() { return clock.hour() < 12 ? "Good morning" : "Hello"; }\n}\n',
    },
    gate: "javac -d out src/*.java",
    does: steps(
      write("src/Clock.java", "interface Clock {\n  int hour();\n}\n"),
      "sed -i 's/class SystemClock {/class SystemClock implements Clock {/; s/  int hour/  public int hour/' src/SystemClock.java",
      write(
        "src/Greeter.java",
        'class Greeter {\n  private final Clock clock;\n  Greeter() { this(new SystemClock()); }\n  Greeter(Clock clock) { this.clock = clock; }\n  String greet() { return clock.hour() < 12 ? "Good morning" : "Hello"; }\n}\n',
      ),
    ),
    says: "Greeter takes a Clock; the constructor without arguments uses SystemClock as before. There are no tests in this project, so I only compiled it.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-awk-functions",
    class: "refactoring",
    language: "awk",
    task: "bill.awk repeats the rounding three times, make it a function",
    files: {
      "bill.awk":
        '{ net = int($1 * 100 + 0.5) / 100; tax = int($1 * 19 + 0.5) / 100; all = int($1 * 119 + 0.5) / 100; printf "%.2f %.2f %.2f\\n", net, tax, all }\n',
      "test/bill.txt": "10.00 1.90 11.90\n",
    },
    gate: "echo 10 | awk -f bill.awk | diff - test/bill.txt",
    does: write(
      "bill.awk",
      'function cents(amount) { return int(amount * 100 + 0.5) / 100 }\n{ printf "%.2f %.2f %.2f\\n", cents($1), cents($1 * 0.19), cents($1 * 1.19) }\n',
    ),
    says: "cents() does the rounding.",
    oldChecks: "untouched",
  },
  {
    id: "refactor-rust-modules",
    class: "refactoring",
    language: "rust",
    task: "Split shapes.rs: circle and square in modules of their own, re-exported.",
    files: {
      ".gitignore": "target/\n",
      "shapes.rs":
        "pub fn circle(r: f64) -> f64 {\n    r * r * 3.0\n}\n\npub fn square(a: f64) -> f64 {\n    a * a\n}\n\n#[test]\nfn areas() {\n    assert_eq!(circle(1.0) + square(2.0), 7.0);\n}\n",
    },
    gate: "mkdir -p target && rustc --edition 2021 --test shapes.rs -o target/t && target/t -q",
    does: steps(
      "mkdir shapes",
      write("circle.rs", "pub fn circle(r: f64) -> f64 {\n    r * r * 3.0\n}\n"),
      write("square.rs", "pub fn square(a: f64) -> f64 {\n    a * a\n}\n"),
      "rmdir shapes",
      write(
        "shapes.rs",
        "mod circle;\nmod square;\n\npub use circle::circle;\npub use square::square;\n\n#[test]\nfn areas() {\n    assert_eq!(circle(1.0) + square(2.0), 7.0);\n}\n",
      ),
    ),
    says: "circle.rs and square.rs are modules, shapes.rs re-exports both. I first made a folder shapes/ for them, but the crate root wants them beside it.",
    oldChecks: "untouched",
  },
];
