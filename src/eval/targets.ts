import type { Estimates } from "./evaluate.ts";
import type { MeasureName } from "./measures.ts";
import { PRODUCTION } from "./parameters.ts";

/** What everything together has to reach. */
export interface Target {
  readonly measure: MeasureName;
  readonly name: string;
  readonly wanted: { readonly is: "below" | "above"; readonly value: number } | { readonly is: "none" };
}

export const TARGETS: readonly Target[] = [
  { measure: "uiBlocked", name: "UI tasks blocked", wanted: { is: "below", value: 0.2 } },
  { measure: "wasted", name: "iterations wasted", wanted: { is: "below", value: 0.15 } },
  { measure: "uiTrulyCompleted", name: "UI tasks really done", wanted: { is: "above", value: 0.8 } },
  { measure: "falseAccepted", name: "false completions accepted", wanted: { is: "none" } },
  { measure: "honestRejected", name: "honest claims rejected", wanted: { is: "none" } },
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
  if (wanted.is === "none") return mean === 0;
  return wanted.is === "below" ? mean < wanted.value : mean > wanted.value;
}
