import type { Settings } from "../core/settings.ts";
import { VARIANTS, type Variant } from "./features.ts";
import { type MeasureName, type Measures, estimate, type Estimate } from "./measures.ts";
import { numbersWith, type Numbers, PRODUCTION } from "./parameters.ts";
import type { Play } from "./play-world.ts";

/** Everything that `ralph eval` shows. */
export interface Evaluation {
  readonly seed: number;
  readonly worlds: number;
  readonly iterations: number;
  readonly results: readonly VariantResult[];
}

/** Every variant in the same worlds. */
export async function makeEvaluation(workshop: Workshop, request: EvaluationRequest): Promise<Evaluation> {
  const { seed, worlds, iterations } = request;
  const results = await Promise.all(
    VARIANTS.map(async (variant) => ({
      variant,
      estimates: await playVariant(workshop, request, variant, numbersWith()),
    })),
  );
  return { seed, worlds, iterations, results };
}

export function estimatesOf({ results }: Evaluation, name: string): Estimates {
  const found = results.find(({ variant }) => variant.name === name);
  if (found === undefined) throw new Error(`no variant ${name}`);
  return found.estimates;
}

interface EvaluationRequest {
  /** Of the first world; the others follow. */
  readonly seed: number;
  readonly worlds: number;
  /** The most in one world. */
  readonly iterations: number;
  /** Called after each world that was played. */
  readonly onPlayed: () => void;
}

export type Estimates = Readonly<Record<MeasureName, Estimate | null>>;

interface VariantResult {
  readonly variant: Variant;
  readonly estimates: Estimates;
}

/** Where worlds are played, several at a time. */
export interface Workshop {
  readonly play: (play: Play) => Promise<Measures>;
  /** The settings of a project without a configuration. */
  readonly defaults: Settings;
}

/** Two seeds have no project in common, however many there are of each. */
export const WORLDS_MAX = 1_000;

export async function playVariant(
  { play, defaults }: Workshop,
  { seed: first, worlds, iterations, onPlayed }: EvaluationRequest,
  variant: Variant,
  numbers: Numbers,
): Promise<Estimates> {
  const seeds = Array.from({ length: worlds }, (_, index) => (first - 1) * WORLDS_MAX + index + 1);
  const played = await Promise.all(
    seeds.map(async (seed) => {
      const measures = await play({ seed, variant, numbers, defaults, iterations });
      onPlayed();
      return measures;
    }),
  );
  const names = Object.keys(played[0] ?? {}) as readonly MeasureName[];
  const estimates = names.map((name) => [name, estimate(played.map((measures) => measures[name]))]);
  return Object.fromEntries(estimates) as Estimates;
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
