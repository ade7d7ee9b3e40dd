import { describe, expect, test } from "vitest";
import { explore, repeatCommand } from "./explore.ts";
import { MUTANTS } from "./mutants.ts";
import { simulate } from "./simulate.ts";
import { someMutants } from "./some-mutants.ts";
import { withoutIds } from "./without-ids.ts";

describe("the simulated world", () => {
  test("holds every invariant with a crash before and after appends", { timeout: 600_000 }, async () => {
    const found = await explore({ from: 1, count: 16, sites: "appends", lanes: false, placesMax: 8 });
    expect(
      found.failures.map((failure) => ({ ...failure, repeat: repeatCommand(failure.seed, "appends") })),
    ).toEqual([]);
    expect(found.runs).toBeGreaterThan(120);
  });

  test(
    "holds every invariant with a crash before and after calls to the outside",
    { timeout: 600_000 },
    async () => {
      const found = await explore({ from: 1_001, count: 7, sites: "calls", lanes: false, placesMax: 8 });
      expect(
        found.failures.map((failure) => ({ ...failure, repeat: repeatCommand(failure.seed, "calls") })),
      ).toEqual([]);
    },
  );

  test("comes to the same end for the same seed", async () => {
    const [once, again] = [await simulate({ seed: 7 }), await simulate({ seed: 7 })];
    expect(withoutIds(again)).toEqual(withoutIds(once));
  });

  test.each(someMutants(MUTANTS))("catches: %s", async (_name, mutant) => {
    const found = await explore({
      from: mutant.from ?? 1,
      count: 60,
      sites: "appends",
      mutant,
      untilFailure: true,
    });
    expect(found.failures).not.toEqual([]);
  });
});
