import type { Outcome } from "../events.ts";
import type { Instant } from "../time.ts";

/** One run in a list of them. */
export interface RunEntry {
  readonly id: string;
  readonly startedAt: Instant;
  /** Null: it goes on, or was interrupted. */
  readonly endedAt: Instant | null;
  readonly outcome: Outcome | null;
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly source: string;
  readonly agent: string;
  readonly lanes: number;
  readonly iterations: number;
  readonly accepted: number;
  /** Null: nobody told. */
  readonly costUsd: number | null;
}
