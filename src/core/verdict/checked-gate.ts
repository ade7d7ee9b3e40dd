import type { GateSettings } from "../settings.ts";
import { newFailures, readFailures } from "./read-failures.ts";

/** A gate's result, seen against how the gate was before the agent touched anything. */
export interface CheckedGate extends GateResult {
  /** The names of what failed, as far as its output tells. */
  readonly failures: readonly string[];
  /** Null when it was not measured. */
  readonly baseline: GateOutcome | null;
  readonly onBaseline: GateSettings["onBaseline"];
}

/** What is remembered of a gate once its output no longer matters. */
export interface GateOutcome {
  readonly name: string;
  readonly status: GateStatus;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly failures: readonly string[];
}

export function outcomeOf(result: GateResult): GateOutcome {
  const { name, status, exitCode, durationMs, tail } = result;
  return { name, status, exitCode, durationMs, failures: isFailing(status) ? readFailures(tail) : [] };
}

export function compareWithBaseline(
  results: readonly GateResult[],
  settings: readonly GateSettings[],
  baseline: readonly GateOutcome[] | null,
): readonly CheckedGate[] {
  return results.map((result) => ({
    ...result,
    failures: outcomeOf(result).failures,
    baseline: baseline?.find(({ name }) => name === result.name) ?? null,
    onBaseline: settings.find(({ name }) => name === result.name)?.onBaseline ?? "require",
  }));
}

/** Required gates that keep a claim from being accepted. */
export function redGates(gates: readonly CheckedGate[]): readonly CheckedGate[] {
  return gates.filter((gate) => gate.required && isRed(gate));
}

export function allRequiredPassed(gates: readonly CheckedGate[]): boolean {
  const required = gates.filter((gate) => gate.required);
  return required.length > 0 && required.every((gate) => gate.status === "passed");
}

export function failedBefore({ baseline }: CheckedGate): boolean {
  return baseline !== null && isFailing(baseline.status);
}

export function hasTurnedGreen(gate: CheckedGate): boolean {
  return gate.status === "passed" && failedBefore(gate);
}

/** Failures that were not there before the agent began; all of them when nothing failed then. */
function failuresOfAgent(gate: CheckedGate): readonly string[] {
  return newFailures(gate.baseline?.failures ?? [], gate.failures);
}

/** What has to be repaired: where old failures are tolerated, only the new ones. */
export function failuresToMend(gate: CheckedGate): readonly string[] {
  return gate.onBaseline === "tolerate" ? failuresOfAgent(gate) : gate.failures;
}

/** Records of older versions do not name what was missing. */
export function whyMissing({ unmet }: GateResult): string {
  return unmet ?? "its program is not installed";
}

export function isFailing(status: GateStatus): boolean {
  return status === "failed" || status === "timeout";
}

function isRed(gate: CheckedGate): boolean {
  const { baseline, status } = gate;
  if (status === "missing") {
    // A tool that was there when the agent began, and is not any more, is the agent's doing.
    const wasThere = baseline !== null && baseline.status !== "missing" && baseline.status !== "skipped";
    return gate.onMissing === "fail" || wasThere;
  }
  if (!isFailing(status)) return false;
  if (gate.onBaseline !== "tolerate" || !failedBefore(gate)) return true;
  // Only where the first output named what failed can one tell; if the second names nothing, it broke otherwise.
  if (baseline?.failures.length === 0) return false;
  return gate.failures.length === 0 || failuresOfAgent(gate).length > 0;
}

/** How one gate ended. A gate whose tool is not installed is `missing`: nobody knows what it would say. */
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
  /** Why it failed or is missing, where the exit code alone does not say: `pytest is not installed`. */
  readonly unmet: string | null;
}

export type GateStatus = "passed" | "failed" | "missing" | "skipped" | "timeout";

/** What is wrong with a gate that did not pass, as the end of a sentence. */
export function redSentence(gate: CheckedGate): string {
  const before = failedBefore(gate) ? ", as it had before the task began" : "";
  switch (gate.status) {
    case "timeout":
      return `gate "${gate.name}" did not finish in time${before}`;
    case "missing":
      return `gate "${gate.name}" can't run: ${whyMissing(gate)}`;
    default:
      return `gate "${gate.name}" failed (${gate.unmet ?? `exit ${gate.exitCode ?? "unknown"}`})${before}`;
  }
}
