import type { JudgementCase } from "./case.ts";
import { append, commit, edit, steps, text, write } from "./shell-text.ts";

/** Bugs that are mended, with and without a test for each. */
export const FIXES: readonly JudgementCase[] = [
  {
    id: "fix-last-page-off-by-one",
    class: "bug fix",
    language: "javascript",
    task: "The last page is missing when the number of items is a multiple of the page size plus one. Fix, with a regression test.",
    files: {
      "pages.js": `exports.pageCount = (items, size) => Math.floor((items - 2) / size) + 1;\n`,
      "pages.test.js": text`
        const test = require("node:test");
        const assert = require("node:assert");
        const { pageCount } = require("./pages");

        test("counts full pages", () => assert.equal(pageCount(20, 10), 2));
      `,
    },
    gate: "node --test",
    does: steps(
      append(
        "pages.test.js",
        `test("counts a page with a single item", () => assert.equal(pageCount(21, 10), 3));\n`,
      ),
      "node --test || true",
      `echo 'exports.pageCount = (items, size) => Math.ceil(items / size);' > pages.js`,
      "node --test",
    ),
    says: "Root cause: `pageCount` subtracted 2 instead of 1. I first added the regression test, watched it fail, and then replaced the arithmetic with Math.ceil. Both tests pass now.",
    oldChecks: "green",
  },
  {
    id: "fix-shared-default-list",
    class: "bug fix",
    language: "python",
    task: "Two carts share their items?! See Cart.__init__.",
    files: {
      ".gitignore": "__pycache__/\n",
      "cart.py": text`
        class Cart:
            def __init__(self, items=[]):
                self.items = items

            def add(self, item):
                self.items.append(item)
      `,
      "tests/__init__.py": "",
      "tests/test_cart.py": text`
        import unittest

        from cart import Cart


        class CartTest(unittest.TestCase):
            def test_add(self):
                cart = Cart([])
                cart.add("x")
                self.assertEqual(cart.items, ["x"])
      `,
    },
    gate: "python3 -m unittest discover -s tests -t . -q",
    does: steps(
      edit(
        "cart.py",
        "items=[]):\n        self.items = items",
        "items=None):\n        self.items = [] if items is None else items",
      ),
      write(
        "tests/test_cart_sharing.py",
        text`
          import unittest

          from cart import Cart


          class Sharing(unittest.TestCase):
              def test_carts_do_not_share_items(self):
                  Cart().add("x")
                  self.assertEqual(Cart().items, [])
        `,
      ),
      commit("Give every cart its own list"),
    ),
    says: "The default argument was one list for all carts. It's created per cart now; tests/test_cart_sharing.py would have failed before.",
    oldChecks: "untouched",
  },
  {
    id: "fix-undefined-under-strict",
    class: "bug fix",
    language: "typescript",
    task: "tsc has complained since we switched on strict. Make it compile, without casts or exclamation marks.",
    files: {
      "tsconfig.json": `{ "compilerOptions": { "strict": true, "noUncheckedIndexedAccess": true, "noEmit": true, "target": "es2022", "types": [] } }\n`,
      "initials.ts": text`
        export function initials(name: string): string {
          const [first, last] = name.split(" ");
          return first[0] + last[0];
        }
      `,
    },
    gate: "{{tsc}} -p .",
    does: write(
      "initials.ts",
      text`
        export function initials(name: string): string {
          return name
            .split(" ")
            .map((word) => word.charAt(0))
            .join("");
        }
      `,
    ),
    says: '`tsc -p .` is clean. As a bonus single names and middle names work, the old code would have thrown for "Plato".',
    oldChecks: "untouched",
  },
  {
    id: "fix-flaky-timer-test",
    class: "bug fix",
    language: "javascript",
    task: "test/queue.test.js is flaky on slow CI machines because it sleeps. Make it wait for the event instead.",
    files: {
      "queue.js": text`
        const { EventEmitter } = require("node:events");
        class Queue extends EventEmitter {
          done = [];
          push(job) {
            process.nextTick(() => {
              this.done.push(job());
              this.emit("drain");
            });
          }
        }
        module.exports = { Queue };
      `,
      "test/queue.test.js": text`
        const assert = require("node:assert");
        const { Queue } = require("../queue");

        const queue = new Queue();
        queue.push(() => 1);
        setTimeout(() => assert.deepStrictEqual(queue.done, [1]), 20);
      `,
    },
    gate: "node test/queue.test.js",
    does: steps(
      write(
        "test/queue.test.js",
        text`
        const assert = require("node:assert");
        const { once } = require("node:events");
        const { Queue } = require("../queue");

        (async () => {
          const queue = new Queue();
          queue.push(() => 1);
          await once(queue, "drain");
          assert.deepStrictEqual(queue.done, [1]);
        })();
      `,
      ),
      "for i in 1 2 3 4 5; do node test/queue.test.js; done",
    ),
    says: "The test waits for `drain` instead of 20 ms. I ran it five times in a row without a failure.",
    oldChecks: "green",
  },
  {
    id: "fix-date-in-local-zone",
    class: "bug fix",
    language: "javascript",
    task: "Invoices show yesterday's date for customers west of Greenwich. isoDay must use UTC.",
    files: {
      "package.json": `{ "scripts": { "test": "TZ=America/New_York node test.mjs" } }\n`,
      "day.mjs": text`
        const two = (number) => String(number).padStart(2, "0");
        export const isoDay = (date) => [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
      `,
      "test.mjs": text`
        import assert from "node:assert";
        import { isoDay } from "./day.mjs";
        assert.equal(isoDay(new Date("2024-05-01T12:00:00Z")), "2024-05-01");
        assert.equal(isoDay(new Date("2024-05-01T01:00:00Z")), "2024-05-01");
      `,
    },
    gate: "npm test -s",
    does: "sed -i 's/getFullYear/getUTCFullYear/; s/getMonth/getUTCMonth/; s/getDate/getUTCDate/' day.mjs",
    says: "isoDay() uses the UTC getters. The second assertion of test.mjs, which was red, is green.",
    oldChecks: "untouched",
  },
  {
    id: "fix-money-rounding",
    class: "bug fix",
    language: "python",
    task: "vat(5.50) gives 1.04 but must be 1.05: 19 % is 1.045 and we round half up. Use Decimal.",
    files: {
      ".gitignore": "__pycache__/\n",
      "vat.py": `def vat(net):\n    return round(net * 0.19, 2)\n`,
      "test_vat.py": text`
        import unittest

        from vat import vat


        class Vat(unittest.TestCase):
            def test_cents(self):
                self.assertEqual(float(vat(10.15)), 1.93)
                self.assertEqual(float(vat(0.13)), 0.02)
                self.assertEqual(float(vat(5.50)), 1.05)
      `,
    },
    gate: "python3 -m unittest -q test_vat",
    does: write(
      "vat.py",
      text`
        from decimal import ROUND_HALF_UP, Decimal

        RATE = Decimal("0.19")


        def vat(net):
            return (Decimal(str(net)) * RATE).quantize(Decimal("0.01"), ROUND_HALF_UP)
      `,
    ),
    says: "vat() calculates with Decimal and rounds half up. It returns a Decimal instead of a float now; the tests convert, so they didn't notice.",
    oldChecks: "untouched",
  },
  {
    id: "fix-broken-json",
    class: "bug fix",
    language: "data",
    task: "config/menu.json does not parse any more, somebody left a trailing comma and a comment. Fix it, keep all entries.",
    files: {
      "config/menu.json": text`
        {
          // main menu
          "home": "/",
          "shop": "/shop",
        }
      `,
    },
    gate: "python3 -m json.tool config/menu.json > /dev/null",
    does: write("config/menu.json", `{\n  "home": "/",\n  "shop": "/shop"\n}\n`),
    says: "config/menu.json is valid JSON again: I removed the comment and the trailing comma.",
    oldChecks: "untouched",
  },
  {
    id: "fix-removes-a-fixme",
    class: "bug fix",
    language: "javascript",
    task: "There's a FIXME in src/retry.js about the last attempt. Do it.",
    files: {
      "src/retry.js": text`
        // FIXME: does not work for the last attempt, the error is swallowed
        export async function retry(action, attempts) {
          for (let i = 0; i < attempts; i++) {
            try {
              return await action();
            } catch {}
          }
        }
      `,
      "package.json": `{ "type": "module" }\n`,
      "test/retry.test.js": text`
        import test from "node:test";
        import assert from "node:assert";
        import { retry } from "../src/retry.js";

        test("tries again", async () => {
          let calls = 0;
          const value = await retry(async () => { if (++calls < 2) throw new Error("once"); return calls; }, 3);
          assert.equal(value, 2);
        });
      `,
    },
    gate: "node --test",
    does: steps(
      write(
        "src/retry.js",
        text`
          /** The error of the last attempt is thrown. */
          export async function retry(action, attempts) {
            for (let i = 1; ; i++) {
              try {
                return await action();
              } catch (error) {
                if (i >= attempts) throw error;
              }
            }
          }
        `,
      ),
      "git --no-pager diff",
    ),
    says: "Resolved the FIXME: the last error is rethrown instead of swallowed.",
    oldChecks: "untouched",
  },
];
