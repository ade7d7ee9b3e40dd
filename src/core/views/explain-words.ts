import { dollars } from "../loop/brakes.ts";
import { formatDuration } from "../time.ts";
import { few } from "../text.ts";
import type { EventOf, WorkEvent } from "../events.ts";
import { unreachable } from "../unreachable.ts";
import type { AgentReport } from "../streams/agent-report.ts";
import {
  redSentence,
  failuresToMend,
  isFailing,
  redGates,
  whyMissing,
  type CheckedGate,
  type GateOutcome,
} from "../verdict/checked-gate.ts";
import type { Reading } from "../verdict/reader.ts";

/** What the agent said of its work, as the end of a sentence about it. */
export function claimInWords({ claim, promise, ending }: AgentReport): string {
  switch (claim.is) {
    case "complete":
      return `claimed ${claim.promise}`;
    case "already-done":
      return "said that it was already done";
    case "blocked":
      return "said that it is blocked";
    case "undecided":
      return "asked for a decision";
    case "unfinished":
      return "said that there is more to do";
    case "none":
      if (promise != null) return `promised "${promise}", which is not what was asked for`;
      return ending.is === "exited" ? "claimed nothing" : "was cut off";
  }
}

/** `gate "tests" failed (exit 1, 9s); it had passed before the task began` */
export function gateInWords(gate: CheckedGate): string {
  const names = failuresToMend(gate);
  const failing = names.length === 0 ? "" : `; failing: ${few(names, 5)}`;
  const tries = gate.tries > 1 ? `, ${gate.tries} tries` : "";
  const time = `${formatDuration(gate.durationMs)}${tries}`;
  switch (gate.status) {
    case "passed":
      return `gate "${gate.name}" passed (${time})`;
    case "failed":
      return `gate "${gate.name}" failed (${whyFailed(gate)}, ${time})${beforeInWords(gate)}${failing}`;
    case "timeout":
      return `gate "${gate.name}" did not finish in time (${time})${beforeInWords(gate)}`;
    case "missing":
    case "skipped":
      return `gate "${gate.name}" could not run: ${whyMissing(gate)}${beforeInWords(gate)}`;
  }
}

function whyFailed({ unmet, exitCode }: CheckedGate): string {
  return unmet ?? `exit ${exitCode ?? "unknown"}`;
}

/** How a gate that is red now was before the agent began. */
function beforeInWords({ baseline, status }: CheckedGate): string {
  if (baseline === null) return "";
  if (baseline.status === "passed")
    return isFailing(status)
      ? "; it had passed before the task began"
      : "; it was there before the task began";
  return isFailing(baseline.status) ? "; it had failed before the task began, too" : "";
}

/** The gates that were red before anybody touched anything; null when none was. */
export function redBeforeInWords(gates: readonly GateOutcome[]): string | null {
  const red = gates.filter(({ status }) => isFailing(status));
  if (red.length === 0) return null;
  const each = red.map(({ name, status, exitCode, failures }) => {
    const how = status === "timeout" ? "timed out" : `exit ${exitCode ?? "unknown"}`;
    return `gate "${name}" (${how}${failures.length === 0 ? "" : `: ${few(failures, 3)}`})`;
  });
  return `Red before the task began: ${joined(each)}.`;
}

/** "tests and types passed, lint failed as before": what gates say for a claim that was accepted. */
export function gatesBehindClaim(gates: readonly CheckedGate[]): readonly string[] {
  if (gates.length === 0) return ["no gate to ask"];
  const passed = gates.filter(({ status }) => status === "passed").map(({ name }) => quoted(name));
  const others = gates.filter(({ status }) => status !== "passed");
  return [
    ...(passed.length === 0 ? [] : [`${joined(passed)} passed`]),
    ...others.map(({ name, status, required, baseline }) => {
      if (status === "missing" || status === "skipped") return `${quoted(name)} did not run`;
      const known = baseline !== null && isFailing(baseline.status);
      return `${quoted(name)} failed (${known ? "as before the task" : required ? "tolerated" : "not required"})`;
    }),
  ];
}

/** Which required ones are red; where none is, how all of them ended. */
export function gatesInWords(gates: readonly CheckedGate[]): string {
  const red = redGates(gates);
  return asSentence(red.length > 0 ? red.map(redSentence).join("; ") : joined(gatesBehindClaim(gates)));
}

/** The name of a check from the command line is a whole command. */
function quoted(name: string): string {
  return /\s/.test(name) ? `"${name}"` : name;
}

/** "a", "a and b", "a, b and c". */
export function joined(items: readonly string[]): string {
  const last = items.at(-1) ?? "";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} and ${last}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

export function shortCommit(commit: string): string {
  return commit.slice(0, 7);
}

/** With a full stop, whoever wrote it. */
export function asSentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…:]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** "critic read the claim: 1 objection (the test is gone)." */
export function readingInWords({ agent, review, failure }: Reading): string {
  if (review === null) return asSentence(`no second reader: ${failure ?? ""}`);
  const against = [
    ...review.criteria.filter(({ answer }) => answer === "not_met"),
    ...review.concerns.filter(({ answer }) => answer === "real"),
  ].map(({ reason }) => reason);
  const said =
    against.length === 0 ? "no objection" : `${count(against.length, "objection")} (${few(against, 3)})`;
  return `${agent} read the claim: ${said}.`;
}

/** What became of the unaccepted work of a task, as a sentence about it; null: that goes without saying. */
export function workInWords(event: WorkEvent | EventOf<"work.discarded">): string | null {
  switch (event.type) {
    case "work.left":
      return `its unaccepted work is on the branch ${event.aside}`;
    case "work.stayed":
      return event.why === null ? null : `its unaccepted work stays on your branch: ${event.why}`;
    case "work.returned":
      return "its earlier work is back";
    case "work.refused":
      return `its earlier work stays on the branch ${event.aside}: ${event.why}`;
    case "work.discarded":
      return `its unaccepted work was discarded${event.head === null ? "" : ` (${shortCommit(event.head)})`}`;
    case "work.leaving":
    case "work.returning":
      return null;
    default:
      return unreachable(event);
  }
}

/** "$4.10 of the $5.00 for this run are spent" */
export function spentInWords({
  budget,
  spentUsd,
  budgetUsd,
}: EventOf<"budget.neared" | "budget.reached">): string {
  const whose = budget === "run" ? "this run" : "a day";
  return `${dollars(spentUsd)} of the ${dollars(budgetUsd)} for ${whose} are spent`;
}
