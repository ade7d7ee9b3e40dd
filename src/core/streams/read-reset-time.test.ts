import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growthOfFour, LINEAR_GROWTH_MAX } from "../../../test/fixtures/growth.ts";
import { readResetTime } from "./read-reset-time.ts";

const NOW = Date.parse("2026-11-15T02:46:37Z");
const HOUR_MS = 3_600_000;

function read(text: string, now: string | number = NOW, zone = "UTC"): string | null {
  const at = readResetTime(text, typeof now === "string" ? Date.parse(now) : now, zone);
  return at === null ? null : new Date(at).toISOString().replace(".000Z", "Z");
}

describe("how long it takes", () => {
  test.each([
    ["retry-after: 37", 37],
    ["Retry-After: 37s", 37],
    ["retry-after=37.5", 37.5],
    ["retry-after-ms: 1500", 1.5],
    ["  retryDelayMs: 2000,", 2],
    ['"retryDelay":"34s"', 34],
    ["retry_delay {\n  seconds: 40\n}", 40],
    ["retry_after_seconds=12", 12],
    ['"resets_in_seconds":2705}', 2_705],
    ["x-ratelimit-reset-tokens: 6m0s", 360],
    ["retry after 2 minutes", 120],
    ["try again in 5m 30s", 330],
    ["try again in 1 hour 20 minutes", 4_800],
    ["try again in 1 hour, 20 minutes and 5 seconds", 4_805],
    ["try again in 20 seconds", 20],
    ["try again in 2 days", 2 * 86_400],
    ["try again in about an hour", 3_600],
    ["Your quota will reset after 18h31m10.5s.", 66_670.5],
    ["Please wait for 90 sec", 90],
    ["in 3h", 10_800],
    ["limit reached (in 3h)", 10_800],
    ["try again in 5 days 22 hours 11\nminutes.", 5 * 86_400 + 22 * 3_600 + 660],
  ])("%s", (text, seconds) => {
    expect(readResetTime(text, NOW, "UTC")).toBe(NOW + seconds * 1_000);
  });
});

describe("which moment", () => {
  test.each([
    ["usage limit reached|1794721597", "2026-11-15T05:46:37Z"],
    ["resets_at: 1794721597", "2026-11-15T05:46:37Z"],
    ['"resetsAt":1794721597000,', "2026-11-15T05:46:37Z"],
    ["Retry-After: Wed, 18 Nov 2026 07:28:00 GMT", "2026-11-18T07:28:00Z"],
    ["available again on 2026-11-16T05:00:00Z", "2026-11-16T05:00:00Z"],
    ["until 2026-11-16T05:00:00.250+05:30", "2026-11-15T23:30:00.250Z"],
    ["resets at 2026-11-16 05:00 UTC", "2026-11-16T05:00:00Z"],
    ["resets at 2026-11-16 05:00", "2026-11-16T05:00:00Z"],
    ["resets 2026-11-16", "2026-11-16T00:00:00Z"],
    ["resets at 3:15 PM", "2026-11-15T15:15:00Z"],
    ["resets at 3:15\u202fPM", "2026-11-15T15:15:00Z"],
    ["resets 3 p.m. (Asia/Tokyo)", "2026-11-15T06:00:00Z"],
    ["resets 12am", "2026-11-16T00:00:00Z"],
    ["resets 12pm", "2026-11-15T12:00:00Z"],
    ["reset at 10am (America/New_York)", "2026-11-15T15:00:00Z"],
    ["reset at 1pm (Etc/GMT+5)", "2026-11-15T18:00:00Z"],
    ["resets at 10:57 PM GMT-3.", "2026-11-16T01:57:00Z"],
    ["resets at midnight Pacific time", "2026-11-15T08:00:00Z"],
    ["resets daily at 00:00 UTC", "2026-11-16T00:00:00Z"],
    ["resets 3pm (Nowhere/Land)", "2026-11-15T15:00:00Z"],
    ["resets 3pm (local time)", "2026-11-15T15:00:00Z"],
    ["until 17:30 UTC", "2026-11-15T17:30:00Z"],
    ["resets Nov 19, 3am", "2026-11-19T03:00:00Z"],
    ["resets 19 November at 3am", "2026-11-19T03:00:00Z"],
    ["try again at Nov 20th, 2026 8:19 PM.", "2026-11-20T20:19:00Z"],
    ["resets on Nov 20", "2026-11-20T00:00:00Z"],
    ["resets Mon 9:00", "2026-11-16T09:00:00Z"],
    ["resets Sunday at 1am", "2026-11-22T01:00:00Z"],
    ["resets Mon, Nov 16, 9:00 AM", "2026-11-16T09:00:00Z"],
    ["resets tomorrow at 9am", "2026-11-16T09:00:00Z"],
    ["resets today at 9am", "2026-11-15T09:00:00Z"],
    ['"resets_at":1775317531,"resets_in_seconds":60}', "2026-11-15T02:47:37Z"],
  ])("%s", (text, moment) => {
    expect(read(text)).toBe(moment);
  });

  test("a date without a year is the next one", () => {
    expect(read("resets Jan 2, 3am", "2026-12-30T12:00:00Z")).toBe("2027-01-02T03:00:00Z");
  });
});

test.each([
  "",
  "Rate limit exceeded. Please try again later.",
  "try again 3 times",
  "retry 3",
  "retry after 5 attempts",
  "exceeded retry limit, last status: 429",
  "try again in 5 months",
  "try again in 41 days",
  "try again at 25:00",
  "resets 13pm",
  "resets 3:75 PM",
  "resets Feb 30, 3am",
  "resets Oct 9, 3am",
  "resets at 2026-11-15T02:45:00Z",
  "resets_at: 1694721597",
  "resets_at: 1994721597",
  "resets at 2036-11-15T02:46:37Z",
  '"date":"Sun, 15 Nov 2026 02:41:12 GMT"',
  "2026-11-15T02:47:37Z ERROR Rate limit exceeded",
  "the build finished in 3h",
  "preset 3pm",
  "Limit 30000, Used 29000, Requested 2000",
  "99999999999999999999 resets 99999999999999999999",
])("no time, or nonsense: %s", (text) => {
  expect(read(text)).toBeNull();
});

test("a moment that has just passed still counts", () => {
  expect(read("resets at 2026-11-15T02:46:00Z")).toBe("2026-11-15T02:46:00Z");
});

describe("clocks that are set forward or back", () => {
  test.each([
    // Berlin: 2026-03-29 2:00 → 3:00, 2026-10-25 3:00 → 2:00.
    ["resets 2:30am", "2026-03-29T00:10:00Z", "Europe/Berlin", "2026-03-29T01:30:00Z"],
    ["resets 3:00am", "2026-03-29T00:10:00Z", "Europe/Berlin", "2026-03-29T01:00:00Z"],
    ["resets 4am", "2026-03-29T00:10:00Z", "Europe/Berlin", "2026-03-29T02:00:00Z"],
    ["resets 2:30am", "2026-03-29T01:30:00Z", "Europe/Berlin", "2026-03-30T00:30:00Z"],
    ["resets 2:30am", "2026-10-24T23:00:00Z", "Europe/Berlin", "2026-10-25T00:30:00Z"],
    ["resets 2:30am", "2026-10-25T00:45:00Z", "Europe/Berlin", "2026-10-25T01:30:00Z"],
    ["resets 2:30am", "2026-10-25T01:45:00Z", "Europe/Berlin", "2026-10-26T01:30:00Z"],
    ["resets Oct 25, 2:30am", "2026-10-24T12:00:00Z", "Europe/Berlin", "2026-10-25T00:30:00Z"],
    ["resets Mar 29, 2:30am", "2026-03-28T12:00:00Z", "Europe/Berlin", "2026-03-29T01:30:00Z"],
    // New York: 2026-03-08 2:00 → 3:00, 2026-11-01 2:00 → 1:00.
    ["resets 2:30am", "2026-03-08T06:00:00Z", "America/New_York", "2026-03-08T07:30:00Z"],
    ["resets 1:30am", "2026-11-01T04:00:00Z", "America/New_York", "2026-11-01T05:30:00Z"],
    ["resets 1:30am", "2026-11-01T05:45:00Z", "America/New_York", "2026-11-01T06:30:00Z"],
    ["resets 3pm (America/New_York)", "2026-11-01T04:00:00Z", "UTC", "2026-11-01T20:00:00Z"],
    ["resets 3pm (America/New_York)", "2026-10-31T04:00:00Z", "UTC", "2026-10-31T19:00:00Z"],
    // Half hours, and both sides of the date line.
    ["resets 9:15 AM", "2026-11-15T02:46:37Z", "Asia/Kolkata", "2026-11-15T03:45:00Z"],
    ["resets 1am", "2026-11-15T10:30:00Z", "Pacific/Kiritimati", "2026-11-15T11:00:00Z"],
    ["resets Mon 9:00", "2026-11-15T10:30:00Z", "Pacific/Kiritimati", "2026-11-15T19:00:00Z"],
    ["resets 11pm", "2026-11-15T09:30:00Z", "Pacific/Pago_Pago", "2026-11-15T10:00:00Z"],
    ["resets Sun 1am", "2026-11-15T10:30:00Z", "Pacific/Pago_Pago", "2026-11-15T12:00:00Z"],
    ["resets tomorrow at 1am", "2026-11-15T10:30:00Z", "Pacific/Pago_Pago", "2026-11-15T12:00:00Z"],
    ["resets 12am", "2026-11-15T23:59:59Z", "Nowhere/Land", "2026-11-16T00:00:00Z"],
  ])("%s, said at %s in %s", (text, now, zone, moment) => {
    expect(read(text, now, zone)).toBe(moment);
  });
});

const zones = fc.constantFrom(
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Pacific/Kiritimati",
  "Pacific/Pago_Pago",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "America/Havana",
  "Asia/Beirut",
  "Pacific/Chatham",
);
const moments = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) });

test("a time of day is the next one, a day ahead at most", () => {
  fc.assert(
    fc.property(moments, zones, fc.nat(23), fc.nat(59), fc.boolean(), (now, zone, hour, minute, inWords) => {
      const digits = String(minute).padStart(2, "0");
      const clock = inWords ? `${hour % 12 || 12}:${digits} ${hour < 12 ? "am" : "PM"}` : `${hour}:${digits}`;
      const at = readResetTime(`limit reached · resets ${clock} (${zone})`, now, "UTC");
      expect(at).not.toBeNull();
      expect(at! - now).toBeGreaterThan(0);
      expect(at! - now).toBeLessThanOrEqual(25 * HOUR_MS);
    }),
    { numRuns: 2_000, seed: 20_261_115 },
  );
});

test("what is told exactly is read exactly", () => {
  fc.assert(
    fc.property(moments, zones, fc.nat(7 * 24 * HOUR_MS), (now, zone, ahead) => {
      const at = now + ahead;
      const wholeSecond = Math.ceil(at / 1_000) * 1_000;
      expect(readResetTime(`available again at ${new Date(at).toISOString()}`, now, zone)).toBe(at);
      expect(readResetTime(`"resetsAt":${at}`, now, zone)).toBe(at);
      expect(readResetTime(`limit reached|${wholeSecond / 1_000}`, now, zone)).toBe(wholeSecond);
      expect(readResetTime(`Retry-After: ${new Date(wholeSecond).toUTCString()}`, now, zone)).toBe(
        wholeSecond,
      );
      expect(readResetTime(`retry-after-ms: ${ahead}`, now, zone)).toBe(at);
    }),
    { seed: 20_261_115 },
  );
});

test("any text can be read, and what is found is sensible", () => {
  const pieces = fc.oneof(
    fc.constantFrom(
      "resets ",
      "retry-after: ",
      "again ",
      "in ",
      "|",
      "at ",
      "Nov ",
      "Mon ",
      "12",
      "99",
      "3pm ",
      "1:30",
      "(Asia/Tokyo)",
      "UTC+99",
      " -03:00",
      "1794721597",
      "2026-11-16",
      "T",
      "Z",
      "5m",
      " hours",
      "\n",
      ",",
    ),
    fc.string({ unit: "binary", maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), fc.string(), (parts, zone) => {
      const at = readResetTime(parts.join(""), NOW, zone);
      if (at === null) return;
      expect(Number.isInteger(at)).toBe(true);
      expect(Math.abs(at - NOW)).toBeLessThanOrEqual(8 * 24 * HOUR_MS);
    }),
    { numRuns: 1_000, seed: 20_261_115 },
  );
});

test.each([
  "again ",
  "reset-",
  "retry: ",
  "again Jan 1, 2020, 3pm Nowhere ",
  "in 1",
  "reset                    ",
  "wait 1h2m",
])("time grows with the text: %s", (part) => {
  const work = (size: number): void => {
    readResetTime(part.repeat(size / part.length), NOW, "UTC");
  };
  expect(growthOfFour(work, 8_000)).toBeLessThan(LINEAR_GROWTH_MAX);
  expect(growthOfFour(work, 800_000)).toBeLessThan(LINEAR_GROWTH_MAX);
});
