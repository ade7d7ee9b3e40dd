import { expect, test } from "vitest";
import { withoutUpcomingDefaults } from "../../src/config/upcoming-keys.ts";

test.each([
  [{ limits: { budget_usd: 0 } }, {}],
  [{ limits: { budget_usd: 5 } }, { limits: { budget_usd: 5 } }],
  [{ run: { max_stuck: 4, parallel: 1 } }, { run: { max_stuck: 4 } }],
  [{ run: { parallel: 2 } }, { run: { parallel: 2 } }],
  [{ breaker: { cooldown: "1800s" } }, {}],
  [{ breaker: { cooldown: "1h" } }, { breaker: { cooldown: "1h" } }],
  [{ worktree: { include: [], setup: "" } }, {}],
  [{ agents: { mine: { format: "text", command: ["x"] } } }, { agents: { mine: { command: ["x"] } } }],
  [{ run: {} }, { run: {} }],
  [{ nonsense: {} }, { nonsense: {} }],
])("%j leaves %j: a default that is written out asks for nothing new", (written, left) => {
  expect(withoutUpcomingDefaults(written)).toEqual(left);
});
