/** How one gate ended. A tool that is not installed is `missing`, never blamed on the agent. */
export interface GateResult {
  readonly name: string;
  readonly required: boolean;
  readonly onMissing: "warn" | "fail" | "skip";
  readonly status: GateStatus;
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** The last lines of its output, bounded. */
  readonly tail: string;
}

export type GateStatus = "passed" | "failed" | "missing" | "skipped" | "timeout";

/** Required gates that keep a claim from being accepted. */
export function redGates(results: readonly GateResult[]): readonly GateResult[] {
  return results.filter((gate) => gate.required && isRed(gate));
}

function isRed(gate: GateResult): boolean {
  if (gate.status === "missing") return gate.onMissing === "fail";
  return gate.status === "failed" || gate.status === "timeout";
}
