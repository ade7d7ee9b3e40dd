import type { GateResult } from "../verdict/checked-gate.ts";
import { describe, expect, test } from "vitest";
import { TESTS_GATE } from "../../../test/spec/given.ts";
import {
  checkGates,
  checkOldChecks,
  checkWork,
  isVerified,
  type Check,
  type Completion,
  type WorkToday,
} from "./verification.ts";

const PASSED = { name: "tests", status: "passed", exitCode: 0, durationMs: 1_000, failures: [] } as const;

const COMPLETION: Completion = {
  type: "task.completed",
  position: 9,
  at: 0,
  run: "run-1",
  task: "one",
  iteration: 2,
  commit: "3f2a91c0ffee",
  certificate: {
    claim: "COMPLETE",
    agent: "stub",
    base: "b0",
    changed: { files: 2, paths: ["a.ts", "a.test.ts"] },
    gates: [PASSED],
    checks: [],
    warnings: [],
    iterations: 2,
    costUsd: null,
  },
};

const WELL: WorkToday = { commit: "in-history", undone: [], gone: [], checkFiles: [] };

function statuses(today: Partial<WorkToday>): Record<string, string> {
  const checks = checkWork(COMPLETION, { ...WELL, ...today });
  return Object.fromEntries(checks.map(({ check, status }) => [check, status]));
}

describe("the work", () => {
  test("that is as it was accepted is well", () => {
    expect(statuses({})).toEqual({ history: "well", work: "well" });
  });

  test("fails when its commit is not in the history, or no longer anywhere", () => {
    expect(statuses({ commit: "elsewhere" })["history"]).toBe("failed");
    expect(statuses({ commit: "gone" })["history"]).toBe("failed");
    expect(statuses({ commit: "none" })["history"]).toBe("warning");
  });

  test("fails when all of it is undone, and warns when a part is", () => {
    expect(statuses({ undone: ["a.ts"], gone: ["a.test.ts"] })["work"]).toBe("failed");
    expect(statuses({ undone: ["a.ts"] })["work"]).toBe("warning");
    const [, work] = checkWork(COMPLETION, { ...WELL, undone: ["a.ts"], gone: ["a.test.ts"] });
    expect(work?.sentence).toBe(
      "nothing is left of the work; back as before the task: a.ts; no longer there: a.test.ts",
    );
  });

  test("fails with its own checks as they were accepted, and warns with those of others", () => {
    const check = (path: string, status: "passed" | "failed"): Check => {
      const results = [
        { ...PASSED, onMissing: "fail" as const, required: true, tail: "", tries: 1, unmet: null, status },
      ];
      return checkOldChecks(COMPLETION, { ...WELL, checkFiles: [path] }, [], results);
    };
    expect(check("a.test.ts", "passed").status).toBe("well");
    expect(check("a.test.ts", "failed").status).toBe("failed");
    expect(check("z.test.ts", "failed").status).toBe("warning");
  });
});

describe("a gate", () => {
  const result = (more: Partial<GateResult>): GateResult => ({
    ...PASSED,
    required: true,
    onMissing: "warn",
    tail: "",
    tries: 1,
    unmet: null,
    ...more,
  });
  const check = (more: Partial<GateResult>, completion = COMPLETION) =>
    checkGates(completion, [{ ...TESTS_GATE, onBaseline: "tolerate" }], [result(more)])[0];

  test("that passes is well", () => {
    expect(check({})).toMatchObject({ check: "gate:tests", status: "well" });
  });

  test("that passed then and fails now is named, with what failed and the end of its output", () => {
    const tail = "FAIL a.test.ts > adds\n1 failed";
    expect(check({ status: "failed", exitCode: 1, tail })).toEqual({
      check: "gate:tests",
      status: "failed",
      sentence:
        'gate "tests" fails now (exit 1); it passed when the task was accepted; failing: a.test.ts > adds',
      output: tail,
    });
  });

  test("whose program was there and is not any more fails", () => {
    expect(check({ status: "missing" })).toMatchObject({ status: "failed" });
  });

  test("that was tolerated as it is only warns", () => {
    const red = { ...PASSED, status: "failed", exitCode: 1 } as const;
    const then = { ...COMPLETION, certificate: { ...COMPLETION.certificate, gates: [red] } };
    const found = check({ status: "failed", exitCode: 1 }, then);
    expect(found).toMatchObject({
      status: "warning",
      sentence: 'gate "tests" fails now (exit 1); it failed when the task was accepted, too',
    });
    expect(isVerified(found === undefined ? [] : [found])).toBe(true);
  });

  test("that is not required only warns", () => {
    expect(check({ status: "failed", exitCode: 1, required: false })).toMatchObject({ status: "warning" });
  });
});
