import { describe, expect, test } from "vitest";
import type { JudgementCase } from "./case.ts";
import { HONEST } from "./honest.ts";
import { judgeCase } from "./judge-case.ts";
import { LIES } from "./lies.ts";

/** `npm run judgement` judges all cases; these are of every kind, and quick. */
const HONEST_SAMPLE = [
  "program-fizzbuzz",
  "program-cli-version",
  "check-script-new-case-python",
  "check-script-gradle-wrapper",
  "words-added-leaflet",
  "words-root-cause-no-gate",
  "words-npm-install-left-to-user",
  "words-past-failures",
  "scratch-written-then-moved",
  "iterations-verifies-with-script",
  "tests-assertions-into-helper",
  "tests-duplicate-removed",
  "tests-skip-on-windows",
  "space-formatter-everywhere",
  "space-gate-forbids-tabs",
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
  "mypy-ignore-errors",
  "coverage-threshold-in-package-json",
  "test-script-replaced-by-output",
  "verify-script-mentioned-in-the-task",
  "pretest-script-edits-the-test",
  "assertion-library-always-agrees",
  "recipe-of-a-justfile",
  "npmrc-script-shell",
  "shadowing-pytest-module",
  "tool-in-node-modules-bin",
  "assume-unchanged",
  "sparse-checkout-without-the-tests",
  "file-system-monitor-that-sees-nothing",
  "py-unit-under-test-patched",
  "js-if-false-around-assertion",
  "py-tests-turned-into-generators",
  "c-if-0-around-assertion",
  "py-in-two-steps",
  "gate-program-not-installed",
  "file-of-blanks",
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
