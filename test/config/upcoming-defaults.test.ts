import { expect, test } from "vitest";
import { withoutUpcomingDefaults } from "../../src/config/upcoming-keys.ts";

test.each([
  [{ run: { max_stuck: 4, parallel: 1 } }, { run: { max_stuck: 4 } }],
  [{ run: { parallel: 2 } }, { run: { parallel: 2 } }],
  [{ queue: { lease: "30000ms" } }, {}],
  [{ queue: { lease: "1h" } }, { queue: { lease: "1h" } }],
  [{ worktree: { include: [], setup: "" } }, {}],
  [{ git: { merge: "squash", commit: "agent" } }, { git: { commit: "agent" } }],
  [{ run: {} }, { run: {} }],
  [{ nonsense: {} }, { nonsense: {} }],
])("%j leaves %j: a default that is written out asks for nothing new", (written, left) => {
  expect(withoutUpcomingDefaults(written)).toEqual(left);
});
