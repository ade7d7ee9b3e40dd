import type { Settings } from "../core/settings.ts";
import { snakeCase, snakeKey } from "../core/wire.ts";
import { BASELINE, EVERYTHING, VARIANTS, type Variant } from "./features.ts";
import { type MeasureName, MEASURE_NAMES, estimate, type Estimate, type Measures } from "./measures.ts";
import { numbersWith, type Numbers, PARAMETERS, PRODUCTION } from "./parameters.ts";
import { playWorld, type OpenLog } from "./play-world.ts";

/** Every variant in the same worlds: everything that `ralph eval` shows. */
export interface Evaluation extends Pick<EvaluationRequest, "seed" | "worlds" | "iterations"> {
  readonly results: readonly { readonly variant: Variant; readonly estimates: Estimates }[];
}

export type Estimates = Readonly<Record<MeasureName, Estimate | null>>;

interface EvaluationRequest {
  /** Of the first world; the others follow. */
  readonly seed: number;
  readonly worlds: number;
  /** The most in one world. */
  readonly iterations: number;
  /** Called after each world that was played. */
  readonly onPlayed: () => void;
}

/** What worlds are played with. */
export interface Workshop {
  readonly openLog: OpenLog;
  /** The settings of a project without a configuration. */
  readonly defaults: Settings;
}

export async function evaluate(workshop: Workshop, request: EvaluationRequest): Promise<Evaluation> {
  const results = [];
  for (const variant of VARIANTS)
    results.push({ variant, estimates: await playVariant(workshop, request, variant, numbersWith()) });
  return { ...request, results };
}

/** Two seeds have no project in common, however many there are of each. */
export const WORLDS_MAX = 1_000;

export async function playVariant(
  { openLog, defaults }: Workshop,
  { seed, worlds, iterations, onPlayed }: EvaluationRequest,
  variant: Variant,
  numbers: Numbers,
): Promise<Estimates> {
  const played: Measures[] = [];
  for (let index = 1; index <= worlds; index += 1) {
    const world = { seed: (seed - 1) * WORLDS_MAX + index, variant, numbers, defaults, iterations };
    played.push(await playWorld(world, openLog));
    onPlayed();
  }
  const estimates = MEASURE_NAMES.map((name) => [name, estimate(played.map((measures) => measures[name]))]);
  return Object.fromEntries(estimates) as Estimates;
}

export function estimatesOf({ results }: Evaluation, { name }: Variant): Estimates {
  const found = results.find(({ variant }) => variant.name === name);
  if (found === undefined) throw new Error(`no variant ${name}`);
  return found.estimates;
}

/** What everything together has to reach. */
export interface Target {
  readonly measure: MeasureName;
  readonly name: string;
  readonly wanted: { readonly is: "below" | "above"; readonly value: number };
}

const TASKS = PRODUCTION.tasks;

export const TARGETS: readonly Target[] = [
  { measure: "uiBlocked", name: "UI tasks blocked", wanted: { is: "below", value: 0.2 } },
  { measure: "wasted", name: "iterations wasted", wanted: { is: "below", value: 0.15 } },
  { measure: "uiTrulyCompleted", name: "UI tasks really done", wanted: { is: "above", value: 0.8 } },
  // A reader errs now and then: 3 and 1 in a hundred tasks are the most.
  {
    measure: "falseAccepted",
    name: "false completions accepted",
    wanted: { is: "below", value: 0.03 * TASKS },
  },
  { measure: "honestRejected", name: "honest claims rejected", wanted: { is: "below", value: 0.01 * TASKS } },
];

/** What production had, and the baseline has to come near. */
export const PRODUCTION_MEASURES: Readonly<Partial<Record<MeasureName, number>>> = {
  iterations: PRODUCTION.iterations,
  uiBlocked: PRODUCTION.uiBlocked / PRODUCTION.uiTasks,
  uiCompleted: 1 - PRODUCTION.uiBlocked / PRODUCTION.uiTasks,
  wasted: PRODUCTION.wastedIterations / PRODUCTION.iterations,
};

/** Null when nothing was measured. */
export function isMet({ measure, wanted }: Target, estimates: Estimates): boolean | null {
  const mean = estimates[measure]?.mean;
  if (mean === undefined) return null;
  return wanted.is === "below" ? mean < wanted.value : mean > wanted.value;
}

export function signOf(target: Target, estimates: Estimates): string {
  const met = isMet(target, estimates);
  return met === null ? "–" : met ? "✔" : "✗";
}

/** What `ralph eval --json` prints. Shares are from 0 to 1; what was not measured is null. */
export function evaluationJson(evaluation: Evaluation): object {
  const everything = estimatesOf(evaluation, EVERYTHING);
  return {
    schema: "ralph.eval.v1",
    seed: evaluation.seed,
    seeds: evaluation.worlds,
    iterations: evaluation.iterations,
    confidence: 0.95,
    interval: "percentile bootstrap over seeds",
    production: snakeCase(PRODUCTION_MEASURES),
    baseline: estimatesJson(estimatesOf(evaluation, BASELINE)),
    everything: estimatesJson(everything),
    targets: TARGETS.map((target) => ({
      measure: snakeKey(target.measure),
      [target.wanted.is]: rounded(target.wanted.value),
      measured: rounded(everything[target.measure]?.mean ?? null),
      met: isMet(target, everything),
    })),
    variants: evaluation.results.map(({ variant, estimates }) => ({
      name: variant.name,
      features: [...variant.features],
      measures: estimatesJson(estimates),
    })),
    parameters: Object.entries(PARAMETERS).map(([name, parameter]) => ({
      name: snakeKey(name),
      ...parameter,
    })),
  };
}

function estimatesJson(estimates: Estimates): object {
  const entries = Object.entries(estimates).map(([name, found]) => [
    snakeKey(name),
    found && {
      mean: rounded(found.mean),
      low: rounded(found.low),
      high: rounded(found.high),
      seeds: found.worlds,
    },
  ]);
  return Object.fromEntries(entries) as object;
}

/** More digits would say nothing. */
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10_000) / 10_000;
}
