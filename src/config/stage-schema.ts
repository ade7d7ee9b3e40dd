import { z } from "zod";
import { countTo } from "./count-schema.ts";

/** `[stages.NAME]`, in the order of the file. */
export const stage = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("false: a single pass instead of a loop, which needs no promise"),
  max_iterations: countTo(10_000)
    .min(1)
    .optional()
    .describe("of the stage's loop; 15 for `coder`, 5 for `reviewer` and `qa`, 10 for any other"),
  completion_promise: z
    .string()
    .min(1)
    .optional()
    .describe(
      "what its agent prints when it has nothing against the work; IMPLEMENTATION_COMPLETE, REVIEW_COMPLETE, TESTS_COMPLETE, QA_PASSED for the four, STAGE_COMPLETE for any other",
    ),
  agent: z.string().min(1).optional().describe("who works in it; the task's or the run's unless said"),
  model: z.string().min(1).optional().describe("which model that agent uses there"),
});

export const review = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("stories with review fields go through the review cycle; `--skip-review` turns it off"),
  cap: countTo(1_000)
    .min(1)
    .default(5)
    .describe(
      "how often later stages may send a task back, then a person is asked; or how often a story is reviewed, then it is approved",
    ),
});
