import type { Settings } from "../core/settings.ts";
import { playVariant, type Estimates, type EvaluationRequest, type Workshop } from "./evaluate.ts";
import { EVERYTHING } from "./features.ts";
import { numbersWith } from "./parameters.ts";

/** What comes of it when one threshold is another, and everything is on. */
export interface TuningRow {
  /** As it stands in the configuration. */
  readonly setting: string;
  readonly value: number;
  readonly isDefault: boolean;
  readonly estimates: Estimates;
}

interface Tunable {
  readonly setting: string;
  readonly values: readonly number[];
  readonly get: (settings: Settings) => number;
  readonly set: (settings: Settings, value: number) => Settings;
}

export const TUNABLES: readonly Tunable[] = [
  limit("run.max_attempts", "maxAttempts", [2, 3, 5]),
  limit("run.max_stuck", "maxStuck", [2, 3, 5]),
  threshold("interventions.threshold_no_files", "thresholdNoFiles", [1, 2, 3, 5]),
  threshold("interventions.threshold_false_completion", "thresholdFalseCompletion", [1, 2, 3]),
  {
    setting: "adaptive_timeout.complexity.ui_heavy.multiplier",
    values: [1.5, 3, 6, 10],
    get: ({ adaptiveTimeout }) => adaptiveTimeout.levels.ui_heavy.multiplier,
    set: (settings, multiplier) => {
      const { adaptiveTimeout } = settings;
      const { ui_heavy, ...others } = adaptiveTimeout.levels;
      const levels = { ...others, ui_heavy: { ...ui_heavy, multiplier } };
      return { ...settings, adaptiveTimeout: { ...adaptiveTimeout, levels } };
    },
  },
  {
    setting: "adaptive_timeout.timeout_multiplier_per_failure",
    values: [1, 1.5, 2],
    get: ({ adaptiveTimeout }) => adaptiveTimeout.perTimeout,
    set: (settings, perTimeout) => ({
      ...settings,
      adaptiveTimeout: { ...settings.adaptiveTimeout, perTimeout },
    }),
  },
  {
    setting: "unblock.max_auto_unblock_attempts",
    values: [0, 1, 2],
    get: ({ unblock }) => unblock.maxAutoAttempts,
    set: (settings, maxAutoAttempts) => ({ ...settings, unblock: { ...settings.unblock, maxAutoAttempts } }),
  },
];

function limit(setting: string, key: "maxAttempts" | "maxStuck", values: readonly number[]): Tunable {
  return {
    setting,
    values,
    get: ({ limits }) => limits[key],
    set: (settings, value) => ({ ...settings, limits: { ...settings.limits, [key]: value } }),
  };
}

function threshold(
  setting: string,
  key: "thresholdNoFiles" | "thresholdFalseCompletion",
  values: readonly number[],
): Tunable {
  return {
    setting,
    values,
    get: ({ interventions }) => interventions[key],
    set: (settings, value) => ({ ...settings, interventions: { ...settings.interventions, [key]: value } }),
  };
}

/** Each threshold at other values, all else at its default, in the same worlds. */
export function tuning(workshop: Workshop, request: EvaluationRequest): Promise<readonly TuningRow[]> {
  const { defaults } = workshop;
  const rows = TUNABLES.flatMap(({ setting, values, get, set }) =>
    values.map(async (value) => {
      const tuned = { ...workshop, defaults: set(defaults, value) };
      const estimates = await playVariant(tuned, request, EVERYTHING, numbersWith());
      return { setting, value, isDefault: get(defaults) === value, estimates };
    }),
  );
  return Promise.all(rows);
}
