import { z } from "zod";

/** `[unblock]`: what happens to blocked tasks without a person. */
export const unblock = z.strictObject({
  auto_suggest: z
    .boolean()
    .default(true)
    .describe("a run that ends with blocked tasks says what would help, as `ralph blocked --suggest` does"),
  max_auto_unblock_attempts: z
    .number()
    .int()
    .min(0)
    .default(1)
    .describe(
      "how often a task that only timeouts have blocked is tried again by the next run, with twice its last timeout (above `max_timeout` too); 0 is off",
    ),
});
