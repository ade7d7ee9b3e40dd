import { parseDuration } from "../core/time.ts";
import { z } from "zod";

/** So many tasks may be worked on at a time. */
export const LANES_MAX = 100;

export const count = z.number().int().min(0);
export const countTo = (most: number): typeof count => countFrom(0, most);

export const countFrom = (least: number, most: number): typeof count =>
  count
    .refine((value) => value >= least && value <= most, {
      error: ({ input }) => `expected a whole number from ${least} to ${most}, got ${String(input)}`,
    })
    .meta({ minimum: least, maximum: most });

/** Told to whoever writes something else. */
export const DURATION = 'a duration longer than 0, such as "90s", "45m", "2h" or "1h30m"';
/** The same where 0 means off. */
export const DURATION_OR_OFF = 'a duration, such as "90s", "45m" or "2h", or "0" for off';

/** In the file a text or a number of seconds, in the program milliseconds. */
export const duration = durationOf(DURATION, 1);
export const durationOrOff = durationOf(DURATION_OR_OFF, 0);

/** Both of them included. */
export function durationBetween(least: string, most: string) {
  return durationOf(
    `a duration from "${least}" to "${most}"`,
    parseDuration(least) ?? 0,
    parseDuration(most) ?? 0,
  );
}

function durationOf(expected: string, leastMs: number, mostMs = Infinity) {
  return z.union([z.string(), z.number()]).transform((value, context) => {
    const ms = parseDuration(String(value));
    if (ms !== null && ms >= leastMs && ms <= mostMs) return ms;
    context.addIssue({ code: "custom", message: `expected ${expected}, got ${JSON.stringify(value)}` });
    return z.NEVER;
  });
}

export function flag(usual: boolean, says: string): z.ZodDefault<z.ZodBoolean> {
  return z.boolean().default(usual).describe(says);
}

export function choice<const Word extends string>(words: readonly Word[], usual: Word, says: string) {
  return z.enum(words).default(usual).describe(says);
}

export function listOf<Each extends z.ZodType>(each: Each, says: string) {
  return z.array(each).default([]).describe(says);
}

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
