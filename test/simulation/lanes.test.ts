import { describe, expect, test } from "vitest";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import { statusOf } from "../../src/core/loop/task-status.ts";
import type { CrashSites } from "./crashing.ts";
import { explore, repeatCommand } from "./explore.ts";
import { LANE_MUTANTS } from "./lane-mutants.ts";
import { simulate, type Result } from "./simulate.ts";
import { someMutants } from "./some-mutants.ts";
import { withoutIds } from "./without-ids.ts";

describe("a simulated world that works side by side", () => {
  test.each<[CrashSites, number]>([
    ["appends", 1],
    ["steps", 301],
    ["calls", 601],
  ])("holds every invariant with a crash before and after %s", { timeout: 600_000 }, async (sites, from) => {
    const found = await explore({ from, count: 6, sites, lanes: true, placesMax: 5 });
    expect(
      found.failures.map((failure) => ({ ...failure, repeat: repeatCommand(failure.seed, sites) })),
    ).toEqual([]);
    expect(found.runs).toBeGreaterThan(12);
  });

  test("comes to rest in many ways without a crash", async () => {
    const found = await explore({ from: 1_000, count: 90, sites: "appends", lanes: true, placesMax: 0 });
    expect(found.failures).toEqual([]);
    expect(Object.keys(found.outcomes)).toEqual(expect.arrayContaining(["completed", "blocked", "limited"]));
  });

  test("ends a reader before it judges without it, when a person stops the run", async () => {
    expect((await simulate({ seed: 141 })).violations).toEqual([]);
  });

  test.each([9, 24, 48, 66, 117])("comes to the same end for the same seed %i", async (seed) => {
    const crashes = [{ call: 40, side: "after" }] as const;
    const [once, again] = [await simulate({ seed, crashes }), await simulate({ seed, crashes })];
    expect(withoutIds(again)).toEqual(withoutIds(once));
    expect(statuses(again)).toEqual(statuses(once));
  });

  test.each(someMutants(LANE_MUTANTS))("catches: %s", async (_name, mutant) => {
    const way = { from: mutant.from ?? 1, count: 20, sites: "steps", placesMax: 24 } as const;
    const found = await explore({ ...way, mutant, untilFailure: true });
    expect(found.failures).not.toEqual([]);
  });
});

function statuses({ events }: Result): readonly string[] {
  const state = evolveAll(events);
  return (state.plan?.tasks ?? []).map((task) => `${task.id} ${statusOf(state, task)}`);
}
