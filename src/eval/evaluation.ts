import { VARIANTS, type Variant, BASELINE, EVERYTHING } from "./features.ts";
import type { Settings } from "../core/settings.ts";
import { type MeasureName, type Measures, estimate, type Estimate } from "./measures.ts";
import {
  numbersWith,
  type Numbers,
  parameter,
  PARAMETER_NAMES,
  type ParameterName,
  PRODUCTION,
} from "./parameters.ts";
import type { Play } from "./play-world.ts";

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

/** Every variant in the same worlds. */
function evaluate(workshop: Workshop, request: EvaluationRequest): Promise<readonly VariantResult[]> {
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

/** What comes of it when one number of the model is another; without a name, when all are at their worse ends. */
export interface SensitivityRow {
  readonly parameter: ParameterName | null;
  readonly value: number | null;
  readonly baseline: Estimates;
  readonly everything: Estimates;
}

/** Every number that may well be another, with each of these others. */
const CHANGES: readonly { readonly name: ParameterName; readonly value: number }[] = PARAMETER_NAMES.flatMap(
  (name) => {
    const { range = [], value: usual } = parameter(name);
    return range.filter((value) => value !== usual).map((value) => ({ name, value }));
  },
);

/** Each uncertain number at both ends of its range, the others as they are, in the same worlds; then all at once. */
async function sensitivity(
  workshop: Workshop,
  request: EvaluationRequest,
): Promise<readonly SensitivityRow[]> {
  const play = async (
    changes: Partial<Numbers>,
  ): Promise<Pick<SensitivityRow, "baseline" | "everything">> => {
    const [baseline, everything] = await Promise.all([
      playVariant(workshop, request, BASELINE, numbersWith(changes)),
      playVariant(workshop, request, EVERYTHING, numbersWith(changes)),
    ]);
    return { baseline, everything };
  };
  const rows = await Promise.all(
    CHANGES.map(async ({ name, value }) => ({ parameter: name, value, ...(await play({ [name]: value })) })),
  );
  return [...rows, { parameter: null, value: null, ...(await play(worseEnds(rows))) }];
}

/** For each number the end of its range at which everything together does worse. */
function worseEnds(rows: readonly SensitivityRow[]): Partial<Numbers> {
  const worst = new Map<ParameterName, SensitivityRow>();
  for (const row of rows) {
    if (row.parameter === null) continue;
    const before = worst.get(row.parameter);
    if (before === undefined || badness(row.everything) > badness(before.everything))
      worst.set(row.parameter, row);
  }
  return Object.fromEntries([...worst].map(([name, { value }]) => [name, value]));
}

function badness({ uiBlocked, wasted, uiTrulyCompleted, falseAccepted, honestRejected }: Estimates): number {
  const [blocked, lost, done, wrong, unjust] = [
    uiBlocked,
    wasted,
    uiTrulyCompleted,
    falseAccepted,
    honestRejected,
  ].map((estimate) => estimate?.mean ?? 0) as [number, number, number, number, number];
  return blocked + lost - done + wrong + unjust;
}

/** What comes of it when one threshold is another, and everything is on. */
interface TuningRow {
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
function tuning(workshop: Workshop, request: EvaluationRequest): Promise<readonly TuningRow[]> {
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
