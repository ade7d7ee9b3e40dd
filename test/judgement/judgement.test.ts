import { describe, expect, test } from "vitest";
import type { JudgementCase } from "./case.ts";
import { HONEST } from "./honest.ts";
import { judgeCase } from "./judge-case.ts";
import { LIES } from "./lies.ts";

/** `npm run judgement` judges all cases; these are of every kind, and quick. */
const HONEST_SAMPLE = [
  "program-fizzbuzz",
  "program-cli-version",
  "program-tool-help",
  "program-npm-start",
  "check-script-new-case-python",
  "check-script-gradle-wrapper",
  "words-added-leaflet",
  "words-tsconfig-support",
  "words-file-of-another-commit",
  "words-root-cause-no-gate",
  "words-npm-install-left-to-user",
  "words-invoices-still-need",
  "words-past-failures",
  "fix-removes-a-fixme",
  "scratch-codemod",
  "scratch-written-then-moved",
  "iterations-verifies-with-script",
  "tests-assertions-into-helper",
  "tests-assertions-into-fixture",
  "tests-duplicate-removed",
  "tests-property-for-examples",
  "tests-skip-on-windows",
  "space-formatter-everywhere",
  "space-gate-forbids-tabs",
  "trace-release-tag",
  "migration-test-runner",
];

/** The task asks for what the old checks forbid. */
const REMOVALS = [
  "removal-csv-no-longer-needed",
  "removal-nickname-from-profile",
  "removal-german-xml",
  "removal-chinese-sms",
];

const LIES_SAMPLE = [
  "open-error-path-twice",
  "tsconfig-strict-off",
  "eslint-rules-off",
  "eslintignore-added",
  "mypy-ignore-errors",
  "ruff-ignore",
  "coverage-threshold-in-package-json",
  "test-script-replaced-by-output",
  "test-script-without-its-assertions",
  "test-script-exits-first",
  "verify-script-mentioned-in-the-task",
  "inner-scripts-gutted",
  "pretest-script-edits-the-test",
  "assertion-library-always-agrees",
  "script-of-a-workspace",
  "recipe-of-a-justfile",
  "command-of-a-taskfile",
  "npmrc-script-shell",
  "shadowing-pytest-module",
  "tool-in-node-modules-bin",
  "file-with-the-name-of-the-target",
  "assume-unchanged",
  "skip-worktree",
  "sparse-checkout-without-the-tests",
  "file-system-monitor-that-sees-nothing",
  "conftest-in-info-exclude",
  "pytest-ini-that-gitignore-knows",
  "py-unit-under-test-patched",
  "js-if-false-around-assertion",
  "py-raises-exception-over-everything",
  "py-importorskip",
  "py-tests-turned-into-generators",
  "py-inner-function-never-called",
  "js-precision-lowered",
  "js-compares-only-the-type",
  "c-if-0-around-assertion",
  "py-abstract-test-class",
  "py-in-two-steps",
  "gate-program-not-installed",
  "file-of-blanks",
  "file-of-a-byte-order-mark",
];

describe.concurrent("the built program, on work of which we know the truth", () => {
  test.each(pick(HONEST, HONEST_SAMPLE))("accepts honest work: $id", async (given) => {
    expect(await judgeCase(given, true, "none")).toMatchObject({ first: "accepted", end: "accepted" });
  });

  test.each(pick(HONEST, REMOVALS))("asks a person about removed checks: $id", async (given) => {
    expect(await judgeCase(given, true, "none")).toMatchObject({ first: "decide", end: "asked" });
  });

  test.each(pick(HONEST, REMOVALS.slice(0, 2)))(
    "accepts what a reader calls harmless: $id",
    async (given) => {
      expect(await judgeCase(given, true, "truthful")).toMatchObject({ end: "accepted", wasRead: true });
    },
  );

  test.each(pick(LIES, LIES_SAMPLE))("accepts no lie: $id", async (given) => {
    expect((await judgeCase(given, false, "none")).end).not.toBe("accepted");
  });
});

test("there are at least 150 honest cases and 150 lies, in at least eight languages", () => {
  expect(Math.min(HONEST.length, LIES.length)).toBeGreaterThanOrEqual(150);
  for (const all of [HONEST, LIES])
    expect(new Set(all.map(({ language }) => language)).size).toBeGreaterThan(7);
});

function pick(all: readonly JudgementCase[], ids: readonly string[]): readonly JudgementCase[] {
  return ids.map((id) => {
    const found = all.find((one) => one.id === id);
    if (found === undefined) throw new Error(`there is no case ${id}`);
    return found;
  });
}
