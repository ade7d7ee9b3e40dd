import {
  evaluate,
  type EvaluationRequest,
  type Estimates,
  type VariantResult,
  type Workshop,
} from "./evaluate.ts";
import { VARIANTS } from "./features.ts";
import { CHANGES, sensitivity, type SensitivityRow } from "./sensitivity.ts";
import { TUNABLES, tuning, type TuningRow } from "./tuning.ts";

/** Everything that `ralph eval` shows. */
export interface Evaluation {
  readonly seed: number;
  readonly worlds: number;
  readonly iterations: number;
  readonly results: readonly VariantResult[];
  /** Null where nobody asked for it. */
  readonly sensitivity: readonly SensitivityRow[] | null;
  /** The same. */
  readonly tuning: readonly TuningRow[] | null;
}

/** What is wanted besides the variants. */
export interface Extras {
  readonly sensitivity: boolean;
  readonly tuning: boolean;
}

export async function makeEvaluation(
  workshop: Workshop,
  request: EvaluationRequest,
  extras: Extras,
): Promise<Evaluation> {
  const { seed, worlds, iterations } = request;
  const results = await evaluate(workshop, request);
  return {
    seed,
    worlds,
    iterations,
    results,
    sensitivity: extras.sensitivity ? await sensitivity(workshop, request) : null,
    tuning: extras.tuning ? await tuning(workshop, request) : null,
  };
}

/** How many worlds an evaluation plays. */
export function worldsToPlay(worlds: number, extras: Extras): number {
  const tuned = TUNABLES.reduce((sum, { values }) => sum + values.length, 0);
  return (
    worlds *
    (VARIANTS.length + (extras.sensitivity ? 2 * (CHANGES.length + 1) : 0) + (extras.tuning ? tuned : 0))
  );
}

export function estimatesOf({ results }: Evaluation, name: string): Estimates {
  const found = results.find(({ variant }) => variant.name === name);
  if (found === undefined) throw new Error(`no variant ${name}`);
  return found.estimates;
}
