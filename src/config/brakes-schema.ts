import { z } from "zod";
import { count, countTo } from "./count-schema.ts";
import { durationOrOff } from "./duration-schema.ts";

const amount = z.number().min(0);

/** `[limits]`: what a run may use. */
export const limits = z.strictObject({
  calls_per_hour: count
    .default(100)
    .describe(
      "agents started in a clock hour, by everybody who shares the store; then the run waits; 0 is off",
    ),
  budget_usd: amount
    .default(0)
    .describe("dollars for a run; it stops before an iteration would pass them; 0 is off"),
  budget_usd_per_task: amount.default(0).describe("dollars for a task; then it is blocked; 0 is off"),
  budget_usd_per_day: amount
    .default(0)
    .describe("dollars for a day, for everybody who shares the store; 0 is off"),
  max_duration: durationOrOff.prefault("0").describe("of a run: no iteration begins after it; 0 is off"),
});

/** `[breaker]`: when going on would be a waste. */
export const breaker = z.strictObject({
  no_progress: count
    .default(3)
    .describe("iterations in a row without progress that open the breaker, the last one on trial; 0 is off"),
  same_error: count
    .default(5)
    .describe(
      "the same error, whatever numbers and paths are in it, so many times without progress; 0 is off",
    ),
  output_decline: countTo(100)
    .default(70)
    .describe("per cent by which the output is shorter than usual, twice in a row; 0 is off"),
  cooldown: durationOrOff
    .prefault("30m")
    .describe("an open breaker lets a run try again after this; 0 is never"),
});

/** One entry of `[prices]`. */
export const price = z.strictObject({
  input_per_mtok: amount.describe("dollars for a million tokens of input"),
  output_per_mtok: amount.describe("dollars for a million tokens of output"),
  cache_read_per_mtok: amount.default(0).describe("dollars for a million tokens of input from a cache"),
});
