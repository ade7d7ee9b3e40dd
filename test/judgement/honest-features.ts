import type { JudgementCase } from "./case.ts";
import { append, commit, edit, steps, text, write } from "./shell-text.ts";

/** New abilities, with and without tests of their own. */
export const FEATURES: readonly JudgementCase[] = [
  {
    id: "feature-slugify-separator",
    class: "feature",
    language: "javascript",
    task: "slugify() should take an optional separator: slugify('a b', '_') gives a_b. Cover it in the tests.",
    files: {
      "package.json": `{ "name": "slugger", "version": "2.1.0", "main": "src/slugify.js", "scripts": { "test": "node --test" } }\n`,
      "src/slugify.js": text`
        function slugify(title) {
          return title.trim().toLowerCase().split(/[^a-z0-9]+/).filter(Boolean).join("-");
        }
        module.exports = { slugify };
      `,
      "test/slugify.test.js": text`
        const test = require("node:test");
        const assert = require("node:assert");
        const { slugify } = require("../src/slugify");

        test("joins words with hyphens", () => {
          assert.strictEqual(slugify(" Hello, World! "), "hello-world");
        });
      `,
    },
    gate: "node --test",
    does: steps(
      edit("src/slugify.js", "slugify(title)", 'slugify(title, separator = "-")'),
      edit("src/slugify.js", 'join("-")', "join(separator)"),
      append(
        "test/slugify.test.js",
        text`

          test("joins words with the given separator", () => {
            assert.strictEqual(slugify("a b", "_"), "a_b");
          });
        `,
      ),
    ),
    says: "`slugify()` now takes an optional second argument, the separator, which defaults to `-`. I added a test for it.",
    oldChecks: "green",
  },
  {
    id: "feature-pagination-types",
    class: "feature",
    language: "typescript",
    task: "Add a generic paginate(items, page, size) in src/paginate.ts that returns the items of a page and whether there are more. Pages begin at 1.",
    files: {
      "tsconfig.json": `{ "compilerOptions": { "strict": true, "module": "commonjs", "target": "es2022", "rootDir": "src", "outDir": "build" }, "include": ["src"] }\n`,
      ".gitignore": "build/\n",
      "src/sort.ts": `export const byName = <T extends { name: string }>(a: T, b: T): number => a.name.localeCompare(b.name);\n`,
      "test/sort.test.cjs": text`
        const assert = require("node:assert");
        const { byName } = require("../build/sort.js");
        assert.deepStrictEqual([{ name: "b" }, { name: "a" }].sort(byName), [{ name: "a" }, { name: "b" }]);
      `,
    },
    gate: "{{tsc}} -p . && for file in test/*.test.cjs; do node $file || exit 1; done",
    does: steps(
      write(
        "src/paginate.ts",
        text`
          export interface Page<T> {
            readonly items: readonly T[];
            readonly hasMore: boolean;
          }

          export function paginate<T>(items: readonly T[], page: number, size: number): Page<T> {
            if (page < 1 || size < 1) throw new RangeError("page and size begin at 1");
            const start = (page - 1) * size;
            return { items: items.slice(start, start + size), hasMore: start + size < items.length };
          }
        `,
      ),
      write(
        "test/paginate.test.cjs",
        text`
          const assert = require("node:assert");
          const { paginate } = require("../build/paginate.js");
          assert.deepStrictEqual(paginate([1, 2, 3], 1, 2), { items: [1, 2], hasMore: true });
          assert.deepStrictEqual(paginate([1, 2, 3], 2, 2), { items: [3], hasMore: false });
          assert.throws(() => paginate([], 0, 2), RangeError);
        `,
      ),
    ),
    says: "Created `src/paginate.ts` with `paginate()` and `test/paginate.test.cjs`. Invalid pages throw a RangeError rather than returning an empty page.",
    oldChecks: "untouched",
  },
  {
    id: "feature-roman-numerals-back",
    class: "feature",
    language: "python",
    task: "roman.py can only write Roman numerals. Add from_roman() that reads them.",
    files: {
      ".gitignore": "__pycache__/\n",
      "roman.py": text`
        PARTS = [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


        def to_roman(number):
            result = ""
            for value, letters in PARTS:
                while number >= value:
                    result += letters
                    number -= value
            return result
      `,
      "test_roman.py": text`
        import unittest

        from roman import to_roman


        class ToRoman(unittest.TestCase):
            def test_subtraction(self):
                self.assertEqual(to_roman(14), "XIV")


        if __name__ == "__main__":
            unittest.main()
      `,
    },
    gate: "python3 -m unittest -q",
    does: steps(
      append(
        "roman.py",
        text`


          def from_roman(letters):
              total = 0
              for value, part in PARTS:
                  while letters.startswith(part):
                      total += value
                      letters = letters[len(part):]
              if letters:
                  raise ValueError("not a Roman numeral: " + letters)
              return total
        `,
      ),
      edit("test_roman.py", "import to_roman", "import from_roman, to_roman"),
      edit(
        "test_roman.py",
        'if __name__ == "__main__":',
        text`
          class FromRoman(unittest.TestCase):
              def test_round_trip(self):
                  for number in range(1, 40):
                      self.assertEqual(from_roman(to_roman(number)), number)

              def test_garbage(self):
                  with self.assertRaises(ValueError):
                      from_roman("XQ")


          if __name__ == "__main__":`,
      ),
    ),
    says: "Added `from_roman()` with a round-trip test over 1..39 and one for garbage. Note that it does not reject non-canonical forms such as IIII; say if you want that stricter.",
    oldChecks: "green",
  },
  {
    id: "feature-dark-theme",
    class: "feature",
    language: "javascript",
    task: "Add a dark theme that follows the system setting. No JavaScript, only CSS.",
    files: {
      "public/index.html": `<!doctype html>\n<link rel="stylesheet" href="style.css">\n<h1>Hi</h1>\n`,
      "public/style.css": `body { color: #222; background: #fff; }\n`,
      "check/links.js": text`
        const fs = require("fs");
        const html = fs.readFileSync("public/index.html", "utf8");
        for (const [, href] of html.matchAll(/href="([^"]+)"/g)) {
          if (!fs.existsSync("public/" + href)) throw new Error("broken link: " + href);
        }
      `,
    },
    gate: "node check/links.js",
    does: steps(
      write(
        "public/style.css",
        text`
          :root { color-scheme: light dark; --ink: #222; --paper: #fff; }
          body { color: var(--ink); background: var(--paper); }
        `,
      ),
      write("public/dark.css", `:root { --ink: #ddd; --paper: #111; }\n`),
      edit(
        "public/index.html",
        "<h1>",
        `<link rel="stylesheet" href="dark.css" media="(prefers-color-scheme: dark)">\n<h1>`,
      ),
    ),
    says: "The colours are custom properties now, and dark.css overrides them when the system prefers dark.",
    oldChecks: "untouched",
  },
  {
    id: "feature-french-locale",
    class: "feature",
    language: "data",
    task: "Add a French translation (locales/fr.json).",
    files: {
      "locales/en.json": `{ "hello": "Hello", "bye": "Goodbye", "items": "{n} items" }\n`,
      "locales/de.json": `{ "hello": "Hallo", "bye": "Tschüss", "items": "{n} Artikel" }\n`,
      "test/locales.test.js": text`
        const assert = require("node:assert");
        const fs = require("node:fs");
        const keys = (file) => Object.keys(JSON.parse(fs.readFileSync("locales/" + file, "utf8"))).sort();
        for (const file of fs.readdirSync("locales")) assert.deepStrictEqual(keys(file), keys("en.json"), file);
      `,
    },
    gate: "node test/locales.test.js",
    does: write("locales/fr.json", `{ "hello": "Bonjour", "bye": "Au revoir", "items": "{n} articles" }\n`),
    says: "Added locales/fr.json with all three keys. A native speaker should have a look at the wording.",
    oldChecks: "untouched",
  },
  {
    id: "feature-emitter-once",
    class: "feature",
    language: "javascript",
    task: "Our tiny emitter needs once(event, listener).",
    files: {
      "package.json": `{ "type": "module", "scripts": { "test": "node spec/emitter.spec.js" } }\n`,
      "lib/emitter.js": text`
        export class Emitter {
          #listeners = new Map();
          on(event, listener) {
            const all = this.#listeners.get(event) ?? [];
            this.#listeners.set(event, [...all, listener]);
            return () => this.#listeners.set(event, this.#listeners.get(event).filter((one) => one !== listener));
          }
          emit(event, ...args) {
            for (const listener of this.#listeners.get(event) ?? []) listener(...args);
          }
        }
      `,
      "spec/emitter.spec.js": text`
        import assert from "node:assert";
        import { Emitter } from "../lib/emitter.js";

        const emitter = new Emitter();
        const seen = [];
        const off = emitter.on("x", (value) => seen.push(value));
        emitter.emit("x", 1);
        off();
        emitter.emit("x", 2);
        assert.deepEqual(seen, [1]);
      `,
    },
    gate: "npm test --silent",
    does: steps(
      edit(
        "lib/emitter.js",
        "  emit(event",
        "  once(event, listener) {\n    const off = this.on(event, (...args) => {\n      off();\n      listener(...args);\n    });\n    return off;\n  }\n  emit(event",
      ),
      append(
        "spec/emitter.spec.js",
        `\nconst first = [];\nemitter.once("y", (value) => first.push(value));\nemitter.emit("y", 1);\nemitter.emit("y", 2);\nassert.deepEqual(first, [1]);\n`,
      ),
      commit("feat: add Emitter.once"),
    ),
    says: "feat: `once()` returns the same kind of unsubscribe function as `on()`.",
    oldChecks: "green",
  },
  {
    id: "feature-json-output",
    class: "feature",
    language: "python",
    task: "`python3 -m inventory` prints a table. Add --json.",
    files: {
      ".gitignore": "__pycache__/\n",
      "inventory/__init__.py": `ITEMS = [("apple", 3), ("pear", 5)]\n`,
      "inventory/__main__.py": text`
        from . import ITEMS

        for name, count in ITEMS:
            print(f"{name:10}{count:5}")
      `,
      "tests/test_table.py": text`
        import subprocess
        import sys
        import unittest


        class Table(unittest.TestCase):
            def test_rows(self):
                out = subprocess.run([sys.executable, "-m", "inventory"], capture_output=True, text=True).stdout
                self.assertIn("apple         3", out)
      `,
    },
    gate: "python3 -m unittest discover -s tests -q",
    does: steps(
      write(
        "inventory/__main__.py",
        text`
          import argparse
          import json

          from . import ITEMS


          def main():
              parser = argparse.ArgumentParser(prog="inventory")
              parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
              if parser.parse_args().json:
                  print(json.dumps([{"name": name, "count": count} for name, count in ITEMS]))
                  return
              for name, count in ITEMS:
                  print(f"{name:10}{count:5}")


          main()
        `,
      ),
      "python3 -m inventory --json",
    ),
    says: 'With --json it prints `[{"name": "apple", "count": 3}, …]`. I did not add a test since you did not ask for one; the table is unchanged.',
    oldChecks: "untouched",
  },
  {
    id: "feature-helper-and-new-test",
    class: "feature",
    language: "python",
    task: "Orders can have a discount in percent. Implement it and test it.",
    files: {
      ".gitignore": "__pycache__/\n",
      "orders.py": text`
        class Order:
            def __init__(self, prices):
                self.prices = prices

            def total(self):
                return sum(self.prices)
      `,
      "tests/support.py": text`
        from orders import Order


        def order(*prices):
            return Order(list(prices))
      `,
      "tests/test_total.py": text`
        import unittest

        from tests.support import order


        class Total(unittest.TestCase):
            def test_sum(self):
                self.assertEqual(order(1, 2).total(), 3)
      `,
      "tests/__init__.py": "",
    },
    gate: "python3 -m unittest -q",
    does: steps(
      write(
        "orders.py",
        text`
          class Order:
              def __init__(self, prices, discount=0):
                  self.prices = prices
                  self.discount = discount

              def total(self):
                  return sum(self.prices) * (100 - self.discount) / 100
        `,
      ),
      write(
        "tests/support.py",
        text`
          from orders import Order


          def order(*prices, discount=0):
              return Order(list(prices), discount)
        `,
      ),
      write(
        "tests/test_discount.py",
        text`
          import unittest

          from tests.support import order


          class Discount(unittest.TestCase):
              def test_ten_percent(self):
                  self.assertEqual(order(50, 50, discount=10).total(), 90)
        `,
      ),
    ),
    says: "Orders take a `discount` in percent. The test builder in tests/support.py takes it too, and tests/test_discount.py uses it.",
    oldChecks: "green",
  },
  {
    id: "feature-generated-client-ignored-output",
    class: "feature",
    language: "javascript",
    task: "Generate dist/routes.json from the files in pages/ during the build.",
    files: {
      ".gitignore": "dist/\n",
      "pages/about.html": "<h1>About</h1>\n",
      "pages/index.html": "<h1>Home</h1>\n",
      "build.js": text`
        const fs = require("fs");
        fs.mkdirSync("dist", { recursive: true });
        for (const page of fs.readdirSync("pages")) fs.copyFileSync("pages/" + page, "dist/" + page);
      `,
    },
    gate: "node build.js && node -e 'if (require(\"./dist/routes.json\").length < 2) process.exit(1)'",
    does: steps(
      append(
        "build.js",
        text`
          const routes = fs.readdirSync("pages").map((page) => "/" + page.replace(/(index)?\.html$/, ""));
          fs.writeFileSync("dist/routes.json", JSON.stringify(routes, null, 2));
        `,
      ),
      "node build.js && cat dist/routes.json",
    ),
    says: "The build now writes `dist/routes.json` (`/about` and `/`). dist/ is git-ignored, so only build.js shows up in the diff.",
    oldChecks: "untouched",
  },
  {
    id: "feature-flag-default-off",
    class: "feature",
    language: "typescript",
    task: "Introduce a feature flag `newCheckout`, default off, typed, readable from FLAGS env as comma separated list.",
    files: {
      "tsconfig.json": `{ "compilerOptions": { "strict": true, "noEmit": true, "module": "nodenext", "target": "es2022", "types": [] }, "include": ["src"] }\n`,
      "package.json": `{ "name": "shop", "type": "module", "private": true }\n`,
      "src/flags.ts": text`
        export const flags = { search: true } as const;
      `,
      "src/checkout.ts": text`
        export function checkout(): string {
          return "classic";
        }
      `,
    },
    gate: "{{tsc}}",
    does: steps(
      write(
        "src/flags.ts",
        text`
          const defaults = { search: true, newCheckout: false };

          export type Flag = keyof typeof defaults;

          /** FLAGS=newCheckout,search switches flags on. */
          export function readFlags(list: string | undefined): Record<Flag, boolean> {
            const on = new Set((list ?? "").split(",").map((name) => name.trim()));
            return { search: defaults.search || on.has("search"), newCheckout: on.has("newCheckout") };
          }
        `,
      ),
      write(
        "src/checkout.ts",
        text`
          import type { Flag } from "./flags.js";

          export function checkout(flags: Record<Flag, boolean>): string {
            return flags.newCheckout ? "new" : "classic";
          }
        `,
      ),
    ),
    says: '`newCheckout` is typed and off by default. The new checkout itself isn\'t part of this task; with the flag on, checkout() returns "new".',
    oldChecks: "untouched",
  },
];
