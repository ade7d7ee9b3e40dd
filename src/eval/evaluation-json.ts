import { snakeCase, snakeKey } from "../core/wire.ts";
import {
  type Evaluation,
  estimatesOf,
  type Estimates,
  isMet,
  PRODUCTION_MEASURES,
  TARGETS,
} from "./evaluation.ts";
import { BASELINE, EVERYTHING } from "./features.ts";
import { parameter, PARAMETER_NAMES } from "./parameters.ts";

/** What `ralph eval --json` prints. Shares are from 0 to 1; what was not measured is null. */
export function evaluationJson(evaluation: Evaluation): object {
  const everything = estimatesOf(evaluation, EVERYTHING.name);
  return {
    schema: "ralph.eval.v1",
    seed: evaluation.seed,
    seeds: evaluation.worlds,
    iterations: evaluation.iterations,
    confidence: 0.95,
    interval: "percentile bootstrap over seeds",
    production: snakeCase(PRODUCTION_MEASURES),
    baseline: rounded(estimatesOf(evaluation, BASELINE.name)),
    everything: rounded(everything),
    targets: TARGETS.map((target) => ({
      measure: snakeKey(target.measure),
      [target.wanted.is]: number(target.wanted.value),
      measured: number(everything[target.measure]?.mean),
      met: isMet(target, everything),
    })),
    variants: evaluation.results.map(({ variant, estimates }) => ({
      name: variant.name,
      features: [...variant.features],
      measures: rounded(estimates),
    })),
    parameters: PARAMETER_NAMES.map((name) => {
      const { value, source, sentence, range = null } = parameter(name);
      return { name: snakeKey(name), value, source, sentence, range };
    }),
  };
}

function rounded(estimates: Estimates): unknown {
  const entries = Object.entries(estimates).map(([name, estimate]) => [
    name,
    estimate && {
      mean: number(estimate.mean),
      low: number(estimate.low),
      high: number(estimate.high),
      seeds: estimate.worlds,
    },
  ]);
  return snakeCase(Object.fromEntries(entries));
}

/** More digits would say nothing. */
function number(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 10_000) / 10_000;
}
