import { expect, test } from "vitest";
import { withoutUpcomingDefaults } from "../../src/config/upcoming-keys.ts";

test.each([
  [{ logs: { keep_days: 30 }, run: { max_stuck: 4 } }, { run: { max_stuck: 4 } }],
  [{ logs: { keep_days: 2 } }, { logs: { keep_days: 2 } }],
  [{ notify: { desktop: false, command: "" } }, {}],
  [{ run: {} }, { run: {} }],
  [{ nonsense: {} }, { nonsense: {} }],
])("%j leaves %j: a default that is written out asks for nothing new", (written, left) => {
  expect(withoutUpcomingDefaults(written)).toEqual(left);
});
