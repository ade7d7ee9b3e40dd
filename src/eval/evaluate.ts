import type { Settings } from "../core/settings.ts";
import { VARIANTS, type Variant } from "./features.ts";
import type { MeasureName, Measures } from "./measures.ts";
import { numbersWith, type Numbers } from "./parameters.ts";
import type { Play } from "./play-world.ts";
import { estimate, type Estimate } from "./statistics.ts";

export interface EvaluationRequest {
  /** Of the first world; the others follow. */
  readonly seed: number;
  readonly worlds: number;
  /** The most in one world. */
  readonly iterations: number;
  /** Called after each world that was played. */
  readonly onPlayed: () => void;
}

export type Estimates = Readonly<Record<MeasureName, Estimate | null>>;

export interface VariantResult {
  readonly variant: Variant;
  readonly estimates: Estimates;
}

/** Where worlds are played, several at a time. */
export interface Workshop {
  readonly play: (play: Play) => Promise<Measures>;
  /** The settings of a project without a configuration. */
  readonly defaults: Settings;
}

/** Every variant in the same worlds. */
export function evaluate(workshop: Workshop, request: EvaluationRequest): Promise<readonly VariantResult[]> {
  return Promise.all(
    VARIANTS.map(async (variant) => ({
      variant,
      estimates: await playVariant(workshop, request, variant, numbersWith()),
    })),
  );
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
