/** How one gate ended. A tool that is not installed is `missing`, never blamed on the agent. */
export interface GateResult {
  readonly name: string;
  readonly required: boolean;
  readonly onMissing: "warn" | "fail" | "skip";
  readonly status: GateStatus;
  /** Of the last try, and so is `tail`. */
  readonly exitCode: number | null;
  /** Of all tries together. */
  readonly durationMs: number;
  /** The last lines of its output, bounded. */
  readonly tail: string;
  /** How often it was run: 0 when it could not be, more than once when it failed and may be tried again. */
  readonly tries: number;
  /** Why it failed, where the exit code alone does not say: `its output does not contain "42 passed"`. */
  readonly unmet: string | null;
}

export type GateStatus = "passed" | "failed" | "missing" | "skipped" | "timeout";
