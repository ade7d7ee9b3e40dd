import { expect, test } from "vitest";
import { behind } from "./outdated.ts";

const RELEASES = {
  created: "2026-01-01T00:00:00Z",
  "1.9.0": "2026-09-01T00:00:00Z",
  "1.10.0": "2026-10-01T00:00:00Z",
  "1.11.0-beta.1": "2026-10-02T00:00:00Z",
  "1.12.0": "2026-11-15T00:00:00Z",
  "1.8.7": "2026-11-16T00:00:00Z",
};

test.each([
  ["1.9.0", "2026-10-20", null],
  ["1.9.0", "2026-11-19", "program 1.9.0 has been behind since 2026-10-01; the newest is 1.12.0"],
  ["1.10.0", "2026-11-19", null],
  ["1.12.0", "2027-11-19", null],
])("%s on %s: %s", (pinned, day, expected) => {
  expect(behind("program", pinned, RELEASES, Date.parse(day))).toBe(expected);
});
