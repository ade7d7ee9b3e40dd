/** Our ruling on an iteration. */
export type Ruling = "accepted" | "continue" | "rejected" | "blocked" | "decide" | "failed";

/** One reason of a verdict: which rule spoke, and the sentence a person reads. */
export interface Reason {
  /** A guard's name, `gate:<name>`, or the part of the judge that decided. */
  readonly rule: string;
  readonly sentence: string;
}

export interface Verdict {
  readonly ruling: Ruling;
  readonly reasons: readonly Reason[];
}
