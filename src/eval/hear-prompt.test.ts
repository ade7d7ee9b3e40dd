import { expect, test } from "vitest";
import { feedbackSection } from "../core/prompt/feedback-section.ts";
import { hearPrompt } from "./hear-prompt.ts";

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
    isStrong: false,
  };
  expect(hearPrompt(TASK)).toEqual(nothing);
  expect(hearPrompt(`${TASK}\n## Notes\nIn iteration 1 you wrote NO FILES.`)).toEqual(nothing);
  expect(heardOf("Iteration 1 ended badly: exit 1")).toEqual(nothing);
});

test("it hears what was wrong", () => {
  expect(heardOf("In iteration 1 you wrote NO FILES.")).toMatchObject({ wroteNothing: true });
  expect(heardOf("… but no file has changed since the task began.")).toMatchObject({ wroteNothing: true });
  expect(heardOf('In iteration 1 gate "tests" failed (exit 1).')).toMatchObject({ gateFailed: true });
  expect(heardOf("Iteration 1 was ended after 120 s.")).toMatchObject({ ranOutOfTime: true });
  expect(heardOf("… but you did not say that the task is done.")).toMatchObject({ didNotClaim: true });
});

test("a prompt that begins with the correction is heard better", () => {
  const section = feedbackSection([{ iteration: 1, text: "you wrote NO FILES" }]);
  expect(hearPrompt(`${section}\n\n${TASK}`)).toMatchObject({ wroteNothing: true, isStrong: true });
});
