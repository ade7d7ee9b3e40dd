import { evaluationWorkshop } from "../../src/app/eval-workshop.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { playVariant, type Estimates, isMet, TARGETS } from "../../src/eval/evaluation.ts";
import { ALL_FEATURES, BASELINE, EVERYTHING, settingsFor, VARIANTS } from "../../src/eval/features.ts";
import { numbersWith, type Numbers } from "../../src/eval/parameters.ts";
import { playWorld } from "../../src/eval/play-world.ts";

const workshop = evaluationWorkshop();
const { defaults, openLog } = workshop;

function play(name: string, worlds: number, numbers: Numbers = numbersWith()): Promise<Estimates> {
  const variant = VARIANTS.find((one) => one.name === name)!;
  const request = { seed: 1, worlds, iterations: 100, onPlayed: () => {} };
  return playVariant(workshop, request, variant, numbers);
}

function percent(estimates: Estimates, measure: "uiBlocked" | "wasted" | "uiCompleted"): number {
  return 100 * estimates[measure]!.mean;
}

describe("the baseline", () => {
  let baseline: Estimates;
  beforeAll(async () => {
    baseline = await play("baseline", 20);
  });

  test("comes out as production did: 55 % of UI tasks blocked, 44 % of iterations wasted, 45 % of UI tasks done", () => {
    expect(Math.abs(percent(baseline, "uiBlocked") - 55)).toBeLessThan(4);
    expect(Math.abs(percent(baseline, "wasted") - 44)).toBeLessThan(4);
    expect(Math.abs(percent(baseline, "uiCompleted") - 45)).toBeLessThan(4);
    expect(Math.abs(baseline.iterations!.mean - 81)).toBeLessThan(5);
  });

  test("corrects nobody, and comes to an end with every task", () => {
    expect(baseline.interventions!.mean).toBe(0);
    expect(baseline.uiOpen!.mean).toBe(0);
  });

  test("believes what is not so", () => {
    expect(baseline.falseAccepted!.mean).toBeGreaterThan(5);
    expect(baseline.uiTrulyCompleted!.mean).toBeLessThan(baseline.uiCompleted!.mean - 0.1);
  });
});

test("everything together reaches every target", async () => {
  const everything = await play("everything", 20);
  for (const target of TARGETS) expect([target.name, isMet(target, everything)]).toEqual([target.name, true]);
  expect(everything.uiBlocked!.high).toBeLessThan(0.2);
  expect(everything.wasted!.high).toBeLessThan(0.15);
  expect(everything.uiTrulyCompleted!.low).toBeGreaterThan(0.8);
});

test("each feature does its own part", async () => {
  const baseline = await play("baseline", 4);
  const more = async (name: string): Promise<Estimates> => play(`only ${name}`, 4);
  expect((await more("timeouts")).uiBlocked!.mean).toBeLessThan(baseline.uiBlocked!.mean / 3);
  expect((await more("feedback")).uiTrulyCompleted!.mean).toBeGreaterThan(
    baseline.uiTrulyCompleted!.mean + 0.1,
  );
  const unblocking = await more("unblocking");
  expect(unblocking.uiOpen!.mean + unblocking.uiBlocked!.mean + unblocking.uiCompleted!.mean).toBeCloseTo(1);
  expect(unblocking.uiOpen!.mean).toBeGreaterThan(0);
  expect(unblocking.uiBlocked!.mean).toBeLessThan(baseline.uiBlocked!.mean / 2);
  expect((await more("evidence")).falseAccepted!.mean).toBeLessThan(baseline.falseAccepted!.mean - 2);
  expect((await more("gates")).falseAccepted!.mean).toBeLessThan(baseline.falseAccepted!.mean - 2);
});

test("old checks see weakened tests, and cost honest changes of tests no rejection", async () => {
  const many = numbersWith({
    hidesFailure: 0.8,
    breaksGates: 0.3,
    silences: 0,
    readerErrs: 0,
    readerFails: 0,
  });
  const seen = await play("everything", 3, many);
  expect(seen.falseAccepted!.mean).toBeLessThan(0.5);
  expect(seen.honestRejected!.mean).toBe(0);
  expect((await play("without old checks", 3, many)).falseAccepted!.mean).toBeGreaterThan(3);
});

test("without a reader the agent is challenged and a person is asked, and the reader spares both", async () => {
  const many = numbersWith({ removesFeature: 0.2, suppresses: 0.2, readerFails: 0 });
  const [alone, read] = [await play("without reader", 3, many), await play("everything", 3, many)];
  expect(alone.challenged!.mean).toBeGreaterThan(3);
  expect(alone.asked!.mean).toBeGreaterThan(3);
  expect([read.challenged!.mean, read.asked!.mean]).toEqual([0, 0]);
  expect((await play("without challenge", 3, many)).challenged!.mean).toBe(0);
});

test("a reader that errs lets some lies pass and rejects some honest work", async () => {
  const errs = await play(
    "everything",
    3,
    numbersWith({ readerErrs: 0.5, removesFeature: 0.3, hidesFailure: 0.8 }),
  );
  expect(errs.falseAccepted!.mean).toBeGreaterThan(0);
  expect(errs.honestRejected!.mean).toBeGreaterThan(0);
});

test("neither evidence nor gates alone catch every false completion, and gates that see less let some through", async () => {
  expect((await play("without evidence", 4)).falseAccepted!.mean).toBeGreaterThan(0);
  expect((await play("without gates", 4)).falseAccepted!.mean).toBeGreaterThan(0);
  const blind = await play("everything", 4, numbersWith({ gateCoverage: 0.5 }));
  expect(blind.falseAccepted!.mean).toBeGreaterThan(0);
});

test("the same world comes out the same, and another one differently", async () => {
  const world = { seed: 7, variant: EVERYTHING, numbers: numbersWith(), defaults, iterations: 60 };
  const first = await playWorld(world, openLog);
  expect(first.iterations).toBeLessThanOrEqual(60);
  expect(await playWorld(world, openLog)).toEqual(first);
  expect(await playWorld({ ...world, seed: 8 }, openLog)).not.toEqual(first);
});

test("a world that cannot be played fails the evaluation", async () => {
  const broken = { seed: 1, variant: EVERYTHING, numbers: numbersWith(), iterations: 5 };
  await expect(playWorld({ ...broken, defaults: null as never }, openLog)).rejects.toThrow(
    "Cannot destructure",
  );
});

test("the features are switched by Ralph's own settings, and everything has its defaults", () => {
  const everything = settingsFor(defaults, EVERYTHING, 100);
  for (const key of ["promise", "adaptiveTimeout", "unblock", "interventions", "breaker", "protect"] as const)
    expect(everything[key]).toEqual(defaults[key]);
  const baseline = settingsFor(defaults, BASELINE, 100);
  expect(baseline).toMatchObject({
    gates: [],
    promise: { verify: false },
    adaptiveTimeout: { enabled: false },
    unblock: { maxAutoAttempts: 0 },
    interventions: { enabled: false },
  });
  expect(VARIANTS).toHaveLength(2 + 2 * ALL_FEATURES.length);
});
