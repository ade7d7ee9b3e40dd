import type { ChangeSet } from "../report/evidence.ts";
import type { GateOutcome } from "../report/checked-gate.ts";

/** The record of an accepted task: what was claimed, and everything that stood behind it. */
export interface Certificate {
  /** In the agent's words; null for a single attempt, which needs none. */
  readonly claim: string | null;
  readonly agent: string;
  /** Where the work counts from. */
  readonly base: string | null;
  readonly changed: ChangeSet;
  readonly gates: readonly GateOutcome[];
  /** The guards that were asked and did not reject. */
  readonly checks: readonly string[];
  /** What they warned of. */
  readonly warnings: readonly string[];
  readonly iterations: number;
  readonly costUsd: number | null;
}
