import type { MeasureName } from "./measures.ts";
import type { Estimate } from "./statistics.ts";

/** How a measure is shown, in tables and charts. */
export interface MeasureWords {
  readonly measure: MeasureName;
  /** A column's head. */
  readonly short: string;
  readonly long: string;
  readonly form: "percent" | "count" | "dollars";
}

/** In the order of the columns. */
export const MEASURE_WORDS: readonly MeasureWords[] = [
  { measure: "uiBlocked", short: "UI blocked", long: "UI tasks blocked", form: "percent" },
  { measure: "wasted", short: "wasted", long: "Iterations on tasks that were never done", form: "percent" },
  { measure: "uiCompleted", short: "UI done", long: "UI tasks recorded as done", form: "percent" },
  {
    measure: "uiOpen",
    short: "UI open",
    long: "UI tasks neither done nor blocked when the iterations were used up",
    form: "percent",
  },
  { measure: "uiTrulyCompleted", short: "UI true", long: "UI tasks really done", form: "percent" },
  { measure: "trulyCompleted", short: "all true", long: "All tasks really done", form: "percent" },
  {
    measure: "withoutResult",
    short: "no result",
    long: "Iterations of which nothing is left in a task that is really done",
    form: "percent",
  },
  { measure: "falseAccepted", short: "false ok", long: "False completions accepted", form: "count" },
  { measure: "honestRejected", short: "true no", long: "Honest claims rejected", form: "count" },
  { measure: "filesPerIteration", short: "files", long: "Files written in an iteration", form: "count" },
  {
    measure: "interventions",
    short: "interv.",
    long: "Corrections that the agents were told",
    form: "count",
  },
  { measure: "iterations", short: "iter.", long: "Iterations", form: "count" },
  {
    measure: "costPerTaskUsd",
    short: "$/task",
    long: "Dollars for a task that is really done",
    form: "dollars",
  },
];

/** Of some measures, in the order of the columns. */
export function wordsFor(...measures: readonly MeasureName[]): readonly MeasureWords[] {
  return MEASURE_WORDS.filter(({ measure }) => measures.includes(measure));
}

/** What other thresholds are judged by. */
export const TUNED = wordsFor(
  "uiBlocked",
  "wasted",
  "uiTrulyCompleted",
  "withoutResult",
  "iterations",
  "costPerTaskUsd",
);

export function inWords(value: number | null | undefined, form: MeasureWords["form"]): string {
  if (value === null || value === undefined) return "–";
  switch (form) {
    case "percent":
      return (value * 100).toFixed(0);
    case "count":
      return value.toFixed(1);
    case "dollars":
      return value.toFixed(2);
  }
}

/** "54 (48–60)"; one project alone has no interval. */
export function withInterval(estimate: Estimate | null, form: MeasureWords["form"]): string {
  if (estimate === null || estimate.worlds === 1) return inWords(estimate?.mean, form);
  const [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map((value) => inWords(value, form));
  return `${mean} (${low}–${high})`;
}

/** The name of a row of the sensitivity. */
export const ALL_WORSE = "all at their worse ends";

/** "54 → 3" */
export function fromTo(before: Estimate | null, after: Estimate | null, form: MeasureWords["form"]): string {
  return `${inWords(before?.mean, form)} → ${inWords(after?.mean, form)}`;
}
