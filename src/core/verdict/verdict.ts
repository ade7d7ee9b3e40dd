import type { WeighedConcern } from "./concerns.ts";

/** Our rulings on an iteration, in the order in which screens list them. */
export const RULINGS = [
  "accepted",
  "continue",
  "challenged",
  "rejected",
  "failed",
  "decide",
  "blocked",
] as const;
export type Ruling = (typeof RULINGS)[number];

/** One reason of a verdict: which rule spoke, and the sentence a person reads. */
export interface Reason {
  /** A guard's or concern's name, `gate:<name>`, or the part of the judge that decided. */
  readonly rule: string;
  readonly sentence: string;
}

export interface Verdict {
  readonly ruling: Ruling;
  readonly reasons: readonly Reason[];
  /** Of a claim, each with who settled it. */
  readonly concerns: readonly WeighedConcern[];
}
