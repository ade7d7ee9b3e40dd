import type { Claim } from "./agent-report.ts";
import type { AnalyzerAnswer } from "./analyzer-answer.ts";

/** What an agent's words say besides the claim. None of it is trusted. */
export interface Signals {
  /** 0–100: 100 for a claim in one of the agreed forms, less for words that only sound like completion. */
  readonly confidence: number;
  readonly isTestOnly: boolean;
  readonly isStuck: boolean;
  /** The expected promise stands where it does not count: in a code fence, a quotation, a comment, or decorated. */
  readonly isPromiseHidden: boolean;
  /** Sentences that speak against completion. */
  readonly contradictions: readonly string[];
  /** Files that the agent says it wrote. */
  readonly citations: readonly string[];
  /** The last error without what differs from time to time; the same for the same error. */
  readonly errorSignature: string | null;
  readonly statusBlock: StatusBlock | null;
  /** From the status block, else from a bare line. */
  readonly exitSignal: boolean | null;
  readonly workType: WorkType | null;
  readonly testsStatus: TestsStatus | null;
  /** What analyzers of plugins said; the rest has it in it already. */
  readonly analyzers?: readonly AnalyzerAnswer[];
}

/** Everything that can be read from an agent's words. */
export interface SignalReport {
  readonly claim: Claim;
  readonly signals: Signals;
  /** The text of the promise that counts, whether or not it is the expected one. */
  readonly promise: string | null;
  readonly promiseMatches: boolean;
  /** The end of what the agent said, bounded. */
  readonly finalText: string;
}

export type BlockStatus = "COMPLETE" | "IN_PROGRESS" | "BLOCKED";
export type TestsStatus = "PASSING" | "FAILING" | "NOT_RUN";
export type WorkType = "IMPLEMENTATION" | "TESTING" | "DOCUMENTATION" | "REFACTORING";

/** A status block as written; a field that is missing or makes no sense is null. */
export interface StatusBlock {
  readonly status: BlockStatus | null;
  readonly tasksCompleted: number | null;
  readonly filesModified: number | null;
  readonly testsStatus: TestsStatus | null;
  readonly workType: WorkType | null;
  readonly exitSignal: boolean | null;
  readonly recommendation: string | null;
  /** Lines with a field or a value that we do not know. */
  readonly unknownFields: readonly string[];
  readonly missingFields: readonly string[];
}
