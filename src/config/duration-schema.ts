import { z } from "zod";
import { parseDuration } from "../core/duration.ts";

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
