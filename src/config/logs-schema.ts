import { z } from "zod";
import { countTo } from "./count-schema.ts";

const YEARS_10 = 3_650;

/** `[logs]`. */
export const logs = z.strictObject({
  keep_days: countTo(YEARS_10)
    .default(30)
    .describe(
      "transcripts and prompts of iterations that are older are deleted when a run starts; 0 keeps them for ever",
    ),
});
