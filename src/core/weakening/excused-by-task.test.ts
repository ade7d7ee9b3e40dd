import { expect, test } from "vitest";
import { isExcusedByTask } from "./excused-by-task.ts";
import type { Weakening, WeakeningKind } from "./find-weakened-tests.ts";

const about = (kind: WeakeningKind, what = 'the test "refuses an expired token" is gone'): Weakening => ({
  path: "test/session.test.ts",
  kind,
  what,
});

test.each<[string, WeakeningKind]>([
  ["Remove the obsolete tests of the parser.", "deleted"],
  ["Delete old, duplicated tests", "deleted"],
  ["The slow tests should be removed.", "deleted"],
  ["Rewrite the tests in Vitest", "deleted"],
  ["Drop the legacy token check", "deleted"],
  ["Remove the Session class and everything around it", "deleted"],
  ["Remove the payment page and its tests", "deleted"],
  ["Skip the flaky tests on CI", "skipped"],
  ["Flaky tests should be skipped for now", "skipped"],
  ["Simplify the assertions in the parser tests", "fewer-assertions"],
  ["Lower the coverage threshold to 80 %", "configuration"],
  ["Exclude the e2e tests from the unit run", "configuration"],
  ["Migrate the suite: replace jest by vitest", "configuration"],
])("%s", (task, kind) => {
  expect(isExcusedByTask(about(kind), task)).toBe(true);
});

test.each<[string, WeakeningKind]>([
  ["Fix the failing tests", "deleted"],
  ["Do not delete any tests", "deleted"],
  ["Make it pass without removing tests", "deleted"],
  ["Tests must never be skipped", "skipped"],
  ["Delete the cookie on logout and add tests", "deleted"],
  ["Remove the cache, the tests must pass", "deleted"],
  ["Remove the retry loop", "deleted"],
  ["Remove the Session class", "skipped"],
  ["Add a --skip-tests option", "skipped"],
  ["Make the skipped tests pass", "skipped"],
  ["Remove the tests of the parser", "trivial"],
  ["Improve coverage", "configuration"],
  ["", "deleted"],
])("no excuse: %s", (task, kind) => {
  expect(isExcusedByTask(about(kind), task)).toBe(false);
});

test.each<[task: string, finding: Weakening]>([
  [
    "Drop the deprecated sub function",
    { path: "test/calc.test.js", kind: "deleted", what: 'the test "sub" is gone' },
  ],
  [
    "Remove `sub` from the calculator",
    { path: "calc.test.js", kind: "deleted", what: 'the test "sub gives the difference" is gone' },
  ],
  [
    "Delete `mul` from calc.py",
    { path: "tests/test_mul.py", kind: "deleted", what: "the file with 2 tests is gone" },
  ],
  ["Remove add() and its callers", { path: "a.test.js", kind: "deleted", what: 'the test "add" is gone' }],
  ["Remove parseDate from the helpers", { ...about("deleted"), calls: ["parseDate", "format"] }],
  ["Drop `sub`", { path: "a.test.js", kind: "deleted", what: 'the test "works" is gone', calls: ["sub"] }],
  ["Clean up dead code in lib", about("deleted")],
  ["Get rid of unused helpers", about("deleted")],
  ["Remove legacy code", about("deleted")],
  ["Delete all obsolete and deprecated functions", about("deleted")],
  ["Cleanup: remove unused exports", about("deleted")],
])("excused: %s", (task, finding) => {
  expect(isExcusedByTask(finding, task)).toBe(true);
});

test.each<[task: string, finding: Weakening]>([
  [
    "Drop the deprecated sub function",
    { path: "test/calc.test.js", kind: "deleted", what: 'the test "add" is gone' },
  ],
  [
    "Drop it in the end",
    { path: "test/calc.test.js", kind: "deleted", what: 'the test "it is in order" is gone' },
  ],
  [
    "Remove the a from the title",
    { path: "calc.test.js", kind: "deleted", what: 'the test "a user" is gone' },
  ],
  [
    "Drop `sub`",
    { path: "a.test.js", kind: "deleted", what: 'the test "works" is gone', calls: ["subtotal"] },
  ],
  ["Clean up dead code in lib", about("skipped")],
  ["Clean up dead code in lib", about("emptied")],
  ["Do not remove unused code", about("deleted")],
  ["Clean up the code", about("deleted")],
  ["Fix the legacy code", about("deleted")],
])("not excused: %s", (task, finding) => {
  expect(isExcusedByTask(finding, task)).toBe(false);
});
