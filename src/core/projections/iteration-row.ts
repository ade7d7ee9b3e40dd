import type { Ruling } from "../verdict/verdict.ts";
import type { Instant } from "../time.ts";

/** One iteration in few words, for lists and charts of thousands. */
export interface IterationRow {
  readonly iteration: number;
  readonly run: string;
  readonly task: string;
  readonly stage: string;
  readonly agent: string;
  readonly ordinal: number;
  readonly maxIterations: number;
  readonly lane: number;
  readonly startedAt: Instant;
  /** Null while it runs. */
  readonly durationMs: number | null;
  readonly claim: string | null;
  readonly verdict: Ruling | null;
  /** The first reason, as a sentence. */
  readonly why: string | null;
  readonly files: number | null;
  readonly costUsd: number | null;
  readonly isCompleted: boolean;
  /** Types of the interventions that it led to. */
  readonly interventions: readonly string[];
}
