import type { Task } from "../plan/task.ts";
import type { AgentReport } from "../report/agent-report.ts";
import type { Evidence } from "../report/evidence.ts";
import type { CheckedGate } from "../report/checked-gate.ts";
import type { Settings } from "../settings.ts";
import type { InterventionType } from "../interventions/intervention.ts";

/** A pure check of what the agent did and said against evidence. */
export interface Guard {
  readonly name: string;
  readonly intervention: InterventionType;
  /**
   * When it is asked: about the `work` of every iteration, about a `claim` of completion in whatever form, or about
   * the `words` in which one was made.
   */
  readonly looksAt: "work" | "claim" | "words";
  /** The objection, as the end of "claims completion, but …", or undefined when there is none. */
  readonly check: (context: GuardContext) => string | undefined;
  /** What the agent should do about it; the objection itself is read by people too. */
  readonly advice?: string;
  /** A warning is told and recorded, but does not reject. Without this every objection rejects. */
  readonly onlyWarns?: (context: GuardContext) => boolean;
  /** It could not answer, and what `check` says is why. */
  readonly isBroken?: boolean;
}

export interface GuardContext {
  readonly task: Task | undefined;
  readonly stage: string;
  /** An earlier iteration of the same loop made progress. */
  readonly hasWorkedBefore: boolean;
  readonly report: AgentReport;
  readonly evidence: Evidence;
  readonly settings: Settings;
  /** Null before they ran, or when they did not. */
  readonly gates: readonly CheckedGate[] | null;
}

export interface Finding {
  readonly guard: string;
  readonly intervention: InterventionType;
  readonly sentence: string;
  readonly rejects: boolean;
  readonly advice: string | null;
  /** The guard could not answer: nobody knows whether the claim is right. */
  readonly isBroken?: true;
}
