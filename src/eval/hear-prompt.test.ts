import { feedbackSection } from "../core/prompt/build-prompt.ts";
import { expect, test } from "vitest";
import { hearPrompt } from "./imagined-agent.ts";

const TASK = "## Task Information\n- **Title**: Chart\n";

function heardOf(...texts: readonly string[]): ReturnType<typeof hearPrompt> {
  return hearPrompt(
    `${TASK}\n${feedbackSection(texts.map((text) => ({ iteration: 1, text })))}\n\n## Required evidence\n`,
  );
}

test("an agent without feedback hears nothing, whatever else the prompt says", () => {
  const nothing = {
    wroteNothing: false,
    gateFailed: false,
    ranOutOfTime: false,
    didNotClaim: false,
    isDoubted: false,
    concerns: [],
    isStrong: false,
  };
  expect(hearPrompt(TASK)).toEqual(nothing);
  expect(hearPrompt(`${TASK}\n## Notes\nIn iteration 1 you wrote NO FILES.`)).toEqual(nothing);
  expect(heardOf("Iteration 1 failed: exit 1.")).toEqual(nothing);
});

test("it hears what was wrong", () => {
  expect(heardOf("In iteration 1 you wrote NO FILES.")).toMatchObject({ wroteNothing: true });
  expect(heardOf("… but no file has changed since the task began.")).toMatchObject({ wroteNothing: true });
  expect(heardOf('In iteration 1 gate "tests" failed (exit 1).')).toMatchObject({ gateFailed: true });
  expect(heardOf("Iteration 1 was ended after 120 s.")).toMatchObject({ ranOutOfTime: true });
  expect(heardOf("Iteration 1 ended without a claim.")).toMatchObject({ didNotClaim: true });
});

test("a prompt that begins with the correction is heard better", () => {
  const section = feedbackSection([{ iteration: 1, text: "you wrote NO FILES" }]);
  expect(hearPrompt(`${section}\n\n${TASK}`)).toMatchObject({ wroteNothing: true, isStrong: true });
});

test("a doubt is heard with the numbers to answer, and so is a person who rejects", () => {
  const list =
    "Ralph doubts it:\n  1. new lines switch checks off: a.ts. Mend it\n  2. more. Do it\n  Fix the cause";
  expect(heardOf(list)).toMatchObject({ isDoubted: true, concerns: [1, 2] });
  const again =
    "You were asked about this before: answer on a line of its own, `Concern 2: …`, and claim again.";
  expect(heardOf(again)).toMatchObject({ concerns: [2] });
  const told = "## A person looked at your claim of iteration 1\nIs it?\nThe answer: reject: no";
  expect(hearPrompt(`${TASK}\n${told}`)).toMatchObject({ isDoubted: true });
});
