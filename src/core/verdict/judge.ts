import { few } from "../few.ts";
import type { Finding } from "../guards/guard.ts";
import type { AgentReport, Failure } from "../report/agent-report.ts";
import { failedBefore, failuresToMend, redGates, type CheckedGate } from "../report/checked-gate.ts";
import type { Reason, Verdict } from "./verdict.ts";

/** Everything a ruling rests on. `gates` is null when no gate ran. */
export interface Case {
  readonly report: AgentReport;
  /** Whether there is a claim of completion to rule on. */
  readonly claimed: boolean;
  /** What a later stage wants changed. */
  readonly objection?: string | null;
  readonly findings: readonly Finding[];
  readonly gates: readonly CheckedGate[] | null;
}

/** Rules on one iteration. Words can reject or hold a task; only evidence accepts it. */
export function judge({ report, claimed, objection = null, findings, gates }: Case): Verdict {
  const { claim, failure, ending } = report;
  if (ending.is === "interrupted")
    return failed("interrupted", "interrupted: Ralph itself was killed while the agent ran");
  if (ending.is === "stopped") return failed("stopped", "interrupted: the agent was asked to stop");
  if (failure !== null && failure.class !== "agent") return failed(failure.class, failure.message);
  if (claim.is === "blocked")
    return { ruling: "blocked", reasons: [{ rule: "claim", sentence: claim.reason }] };
  if (claim.is === "undecided")
    return { ruling: "decide", reasons: [{ rule: "claim", sentence: claim.question }] };
  if (failure !== null) return failed(failureRule(report), failure.message);
  if (objection !== null)
    return {
      ruling: "continue",
      reasons: [{ rule: "objection", sentence: `changes requested: ${objection}` }],
    };
  if (!claimed) return { ruling: "continue", reasons: [whyOpen(report), ...findings.map(reasonOf)] };
  return judgeCompletion(findings, gates);
}

function judgeCompletion(findings: readonly Finding[], gates: readonly CheckedGate[] | null): Verdict {
  const rejecting = findings.filter((finding) => finding.rejects);
  const objections = [
    ...rejecting.map(reasonOf),
    ...redGates(gates ?? []).map((gate): Reason => ({
      rule: `gate:${gate.name}`,
      sentence: `${redSentence(gate)}${namesOf(gate)}`,
    })),
  ];
  const broken = rejecting.filter(({ isBroken }) => isBroken === true);
  // A check that broke says nothing about the agent: only a person can mend it.
  if (broken.length > 0 && broken.length === objections.length)
    return { ruling: "blocked", reasons: objections };
  if (objections.length > 0) return { ruling: "rejected", reasons: objections };
  const accepted = { rule: "evidence", sentence: `the work is in git; ${gatesInWords(gates)}` };
  return { ruling: "accepted", reasons: [accepted, ...findings.map(reasonOf)] };
}

/** "passed: tests, types; missing: lint" */
function gatesInWords(gates: readonly CheckedGate[] | null): string {
  if (gates === null || gates.length === 0) return "no gate is configured";
  const words = (["passed", "failed", "timeout", "missing", "skipped"] as const).map((status) => {
    const names = gates.filter((gate) => gate.status === status).map((gate) => gate.name);
    return names.length === 0 ? "" : `${status}: ${names.join(", ")}`;
  });
  return words.filter((word) => word !== "").join("; ");
}

export function redSentence(gate: CheckedGate): string {
  const before = failedBefore(gate) ? ", as it had before the task began" : "";
  switch (gate.status) {
    case "timeout":
      return `gate "${gate.name}" did not finish in time${before}`;
    case "missing":
      return gate.baseline === null || gate.baseline.status === "missing"
        ? `gate "${gate.name}" is not installed`
        : `what gate "${gate.name}" runs is no longer there`;
    default:
      return `gate "${gate.name}" failed (${gate.unmet ?? `exit ${gate.exitCode ?? "unknown"}`})${before}`;
  }
}

function namesOf(gate: CheckedGate): string {
  const failed = failuresToMend(gate);
  return failed.length === 0 ? "" : `: ${few(failed, 3)}`;
}

function reasonOf(finding: Finding): Reason {
  return { rule: finding.guard, sentence: finding.sentence };
}

function whyOpen(report: AgentReport): Reason {
  return report.claim.is === "unfinished"
    ? { rule: "claim", sentence: "the agent says that there is more to do" }
    : { rule: "claim", sentence: "the agent did not say that the task is done" };
}

function failureRule(report: AgentReport): string {
  if (report.ending.is === "timed-out") return "timeout";
  return report.ending.is === "idle" ? "idle" : ("agent" satisfies Failure["class"]);
}

function failed(rule: string, sentence: string): Verdict {
  return { ruling: "failed", reasons: [{ rule, sentence }] };
}
