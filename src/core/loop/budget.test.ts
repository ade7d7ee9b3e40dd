import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  averageCost,
  forecast,
  hourOf,
  likelySpent,
  NOTHING_SPENT,
  priced,
  withCost,
  wouldPass,
} from "./brakes.ts";

const cost = fc.option(fc.double({ min: 0, max: 100, noNaN: true }));
const spentOn = (costs: readonly (number | null)[]): typeof NOTHING_SPENT =>
  costs.reduce(withCost, NOTHING_SPENT);

describe("what was spent", () => {
  test("is unknown, not nothing, as long as no cost is known", () => {
    expect(spentOn([null, null])).toEqual({ usd: null, known: 0, unknown: 2, highest: null });
    expect(averageCost(spentOn([null]))).toBeNull();
    expect(forecast(spentOn([null]), 1, 3)).toBeNull();
  });

  test("takes an iteration of unknown cost for an average one", () => {
    expect(likelySpent(spentOn([1, null, 3]))).toBe(6);
  });

  test("is never less than what is known, and no less with one more iteration", () => {
    fc.assert(
      fc.property(fc.array(cost), cost, (costs, more) => {
        const known = costs.reduce((sum: number, usd) => sum + (usd ?? 0), 0);
        const spend = spentOn(costs);
        expect(likelySpent(spend)).toBeGreaterThanOrEqual(known - 1e-9);
        if (more === null)
          expect(likelySpent(withCost(spend, more))).toBeGreaterThanOrEqual(likelySpent(spend));
      }),
      { seed: 20_261_115 },
    );
  });

  test("a plan of which half is done will cost as much again", () => {
    expect(forecast(spentOn([1, 2, 3]), 2, 4)).toBe(12);
  });
});

test("an iteration begins only if its likely cost still fits", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 100, noNaN: true }),
      fc.double({ min: 0, max: 100, noNaN: true }),
      (budget, spent, next) => {
        if (!wouldPass(spent, next, budget)) expect(spent + next).toBeLessThanOrEqual(budget);
        if (spent >= budget) expect(wouldPass(spent, next, budget)).toBe(true);
      },
    ),
    { seed: 20_261_115 },
  );
});

test("an hour of calls holds its moment, is an hour long, and begins with the clock's", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (now) => {
      const { since, until } = hourOf(now);
      expect(since <= now && now < until).toBe(true);
      expect([until - since, since % 3_600_000]).toEqual([3_600_000, 0]);
    }),
    { seed: 20_261_115 },
  );
});

describe("prices", () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 500_000, cacheReadTokens: 2_000_000, costUsd: null };
  const prices = { big: { inputPerMtok: 3, outputPerMtok: 15, cacheReadPerMtok: 0.3 } };

  test("make a cost of tokens", () => {
    expect(priced(usage, "big", prices).costUsd).toBeCloseTo(3 + 7.5 + 0.6);
  });

  test("do not replace what the agent says itself", () => {
    expect(priced({ ...usage, costUsd: 0.5 }, "big", prices).costUsd).toBe(0.5);
  });

  test.each([
    ["the model has no price", "small", usage],
    ["nobody says which model it was", null, usage],
    ["the model is called like a part of every object", "toString", usage],
    ["its tokens are unknown", "big", { ...usage, outputTokens: null }],
  ])("leave it unknown when %s", (_why, model, used) => {
    expect(priced(used, model, prices).costUsd).toBeNull();
  });
});
