import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escalationOf, withIntervention, withIteration, type WatchedIteration } from "./intervention.ts";

type Kind = "fine" | "no_files_detected" | "false_completion_detected";

const SETTINGS = {
  enabled: true,
  thresholdNoFiles: 2,
  thresholdFalseCompletion: 2,
  window: 5,
  rotationDays: 14,
  aggressive: false,
  midStream: false,
};

function watching(kinds: readonly Kind[]): readonly WatchedIteration[] {
  return kinds.reduce<readonly WatchedIteration[]>((watched, kind, iteration) => {
    const more = withIteration(watched, iteration);
    return kind === "fine" ? more : withIntervention(more, iteration, kind);
  }, []);
}

function fine(count: number): readonly Kind[] {
  return Array.from({ length: count }, () => "fine");
}

describe("what is remembered of a task's iterations", () => {
  test("nothing of those before the first that counted, but for the last one", () => {
    expect(watching(fine(30))).toHaveLength(1);
    expect(watching(["fine", "no_files_detected", "fine", "fine"])).toHaveLength(3);
  });

  test("it leads to the same as remembering all of them", () => {
    const kind = fc.constantFrom<Kind>("fine", "no_files_detected", "false_completion_detected");
    fc.assert(
      fc.property(fc.array(kind, { minLength: 1, maxLength: 40 }), (kinds) => {
        const all = kinds.map((each, iteration) => ({
          iteration,
          noFiles: each === "no_files_detected",
          falseCompletion: each === "false_completion_detected",
        }));
        expect(escalationOf(watching(kinds), SETTINGS)).toEqual(escalationOf(all, SETTINGS));
      }),
    );
  });
});

describe("thresholds", () => {
  test("reaching one reinforces, passing it suspends", () => {
    expect(escalationOf(watching(["no_files_detected"]), SETTINGS)).toBeNull();
    expect(escalationOf(watching(["no_files_detected", "no_files_detected"]), SETTINGS)).toMatchObject({
      to: "reinforce",
      times: 2,
    });
    const thrice: readonly Kind[] = [
      "false_completion_detected",
      "false_completion_detected",
      "false_completion_detected",
    ];
    expect(escalationOf(watching(thrice), SETTINGS)).toMatchObject({ to: "suspend", times: 3 });
  });

  test("what left the window counts no longer", () => {
    const once = watching(["no_files_detected", ...fine(4), "no_files_detected"]);
    expect(escalationOf(once, SETTINGS)).toBeNull();
  });
});
