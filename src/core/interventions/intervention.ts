/** What kind of correction was recorded; the names are part of the public contract. */
export type InterventionType =
  | "no_files_detected"
  | "false_completion_detected"
  | "evidence_validation_failed"
  | "gate_failed"
  | "dirty_tree"
  | "timeout"
  | "agent_reinforced";

export type Severity = "info" | "warning" | "critical";

/** One message for the next prompt of the task. */
export interface FeedbackItem {
  readonly iteration: number;
  readonly text: string;
}
