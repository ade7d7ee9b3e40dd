/** What kind of correction was recorded; the names are part of the public contract. */
export type InterventionType =
  | "no_files_detected"
  | "evidence_validation_failed"
  | "false_completion_detected"
  | "mid_stream_prompt_injected"
  | "agent_reinforced"
  | "gate_failed"
  | "contradiction_detected"
  | "dirty_tree"
  | "illegal_transition"
  | "timeout";

export type Severity = "info" | "warning" | "critical";

/** One message for the next prompt of the task. */
export interface FeedbackItem {
  readonly iteration: number;
  readonly text: string;
  /** The end of what a gate printed. */
  readonly output?: string;
}

/** One thing to tell the agent next time, and how it is recorded. */
export interface Correction {
  readonly intervention: InterventionType;
  readonly severity: Severity;
  /** The guard or gate that spoke, or the part of the loop. */
  readonly rule: string;
  readonly text: string;
  readonly output?: string;
}

/** What was known of the iteration that made it necessary. */
export interface InterventionDetails {
  /** Null when the agent did not exit by itself. */
  readonly returnCode: number | null;
  readonly claimedCompletion: boolean;
  readonly filesWritten: number;
  /** Files that the agent named as written. */
  readonly evidenceCount: number;
}
