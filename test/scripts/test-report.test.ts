import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endOf, listFailures, tellFailures, type TestReport } from "../../scripts/test-report.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const FILES = {
  "one.test.ts": `
    import { beforeAll, describe, expect, test } from "vitest";
    test("is fine", () => {});
    test.skip("is not run", () => {});
    describe("a sum", () => {
      test("adds up", () => expect({ sum: 5 }).toEqual({ sum: 4 }));
    });
    describe("a suite", () => {
      beforeAll(() => { throw new Error("no set-up today"); });
      test("never runs", () => {});
    });
    test("lets an error escape", () => { setTimeout(() => { throw new Error("escaped"); }); });
    test("waits for it", () => new Promise((resolve) => setTimeout(resolve, 50)));
  `,
  "two.test.ts": `throw new Error("does not load");`,
};

describe("the report of a run of the tests", () => {
  let folder: string;
  let report: TestReport;

  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-report-")));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
    const path = join(folder, "report.json");
    const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
    const reporter = join(ROOT, "scripts", "test-reporter.ts");
    const { status } = spawnSync(
      process.execPath,
      [vitest, "run", "--root", folder, "--reporter", reporter],
      { cwd: folder, env: { ...process.env, CHECK_REPORT: path, FORCE_COLOR: "1" } },
    );
    expect(status).toBe(1);
    report = JSON.parse(readFileSync(path, "utf8")) as TestReport;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("counts", () => {
    expect(report).toMatchObject({ passed: 3, failed: 1, skipped: 2 });
  });

  test("names what failed in a test, a hook, a file and outside of all", () => {
    expect(listFailures(report.failures).split("\n").toSorted()).toEqual([
      "FAILED  one.test.ts > a suite",
      "FAILED  one.test.ts > a sum > adds up",
      "FAILED  outside the tests",
      "FAILED  two.test.ts",
    ]);
  });

  test("says why", () => {
    const told = tellFailures(report.failures);
    for (const reason of ["no set-up today", "escaped", "does not load", '-   "sum": 4,', '+   "sum": 5,'])
      expect(told).toContain(reason);
    expect(told).toContain(`${join(folder, "one.test.ts")}:`);
    expect(told).not.toContain("\u001B");
  });
});

test("a long message is cut, and says so", () => {
  const message = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join("\n");
  const told = tellFailures([{ file: "a.test.ts", name: "is long", message }]);
  expect(told).toContain("    line 15\n    (25 more lines)");
  expect(told).not.toContain("line 16");
});

test("of a long output the end is kept", () => {
  const output = Array.from({ length: 1000 }, (_, index) => `\u001B[31mline ${index + 1}\u001B[0m`).join(
    "\n",
  );
  const kept = endOf(output).split("\n");
  expect([kept[0], kept[1], kept.at(-1)]).toEqual(["(800 lines left out)", "line 801", "line 1000"]);
});
