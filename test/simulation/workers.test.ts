import { describe, expect, test } from "vitest";
import type { CrashSites } from "./crashing.ts";
import { explore, repeatCommand } from "./explore.ts";
import { simulateWorkers } from "./simulate-workers.ts";
import { someMutants } from "./some-mutants.ts";
import { withoutIds } from "./without-ids.ts";
import { WORKER_MUTANTS } from "./worker-mutants.ts";

describe("a simulated world of workers on several machines", () => {
  test.each<[CrashSites, number]>([
    ["appends", 1],
    ["steps", 301],
    ["calls", 601],
  ])("holds every invariant with a crash before and after %s", { timeout: 600_000 }, async (sites, from) => {
    const found = await explore({ from, count: 3, sites, workers: true, placesMax: 3 });
    const failures = found.failures.map((failure) => ({
      ...failure,
      repeat: repeatCommand(failure.seed, sites, "--workers"),
    }));
    expect(failures).toEqual([]);
    expect(found.runs).toBeGreaterThan(20);
  });

  test("comes to rest in many ways without a crash", async () => {
    const found = await explore({ from: 1_000, count: 18, sites: "appends", workers: true, placesMax: 0 });
    expect(found.failures).toEqual([]);
    expect(Object.keys(found.outcomes)).toEqual(expect.arrayContaining(["completed", "blocked", "limited"]));
  });

  test.each([9, 24, 48])("comes to the same end for the same seed %i", async (seed) => {
    const crashes = [{ call: 40, side: "after" }] as const;
    const [once, again] = [
      await simulateWorkers({ seed, crashes }),
      await simulateWorkers({ seed, crashes }),
    ];
    expect(withoutIds(again)).toEqual(withoutIds(once));
  });

  test.each(someMutants(WORKER_MUTANTS))("catches: %s", async (_name, workerMutant) => {
    const way = { from: 1, count: 60, sites: "steps", placesMax: 2 } as const;
    const found = await explore({ ...way, workers: true, workerMutant, untilFailure: true });
    expect(found.failures).not.toEqual([]);
  });
});
