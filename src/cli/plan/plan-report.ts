import { UNKNOWN_USAGE, type Usage } from "../../core/report/agent-report.ts";
import { usageWith } from "../../core/report/usage.ts";
import type { Attempt, PlanOutcome } from "./make-plan.ts";

/** What there is to tell when the planning is over. */
export interface PlanReport {
  readonly prdPath: string;
  readonly planPath: string;
  /** As transcripts are found, relative to the root. */
  readonly logs: string;
  readonly agent: string;
  readonly attempts: readonly Attempt[];
  /** Of the last of them. */
  readonly outcome: PlanOutcome;
  /** The old plan. */
  readonly backup: string | null;
  /** What the agent wrote, if it did not become the plan. */
  readonly draft: string | null;
  /** How to start a run on the new plan. */
  readonly run: string;
  /** How to plan once more. */
  readonly again: string;
}

const EXIT_CODES: Readonly<Record<Exclude<PlanOutcome["is"], "failed">, number>> = {
  planned: 0,
  wrong: 1,
  meddled: 1,
  blocked: 2,
  undecided: 3,
  stopped: 130,
};

export function exitCodeOf(outcome: PlanOutcome): number {
  if (outcome.is !== "failed") return EXIT_CODES[outcome.is];
  return outcome.failure.class === "config" ? 64 : 5;
}

/** As far as agents tell it. */
export function totalUsage(attempts: readonly Attempt[]): Usage {
  return attempts.map(({ report }) => report.usage).reduce(usageWith, UNKNOWN_USAGE);
}
