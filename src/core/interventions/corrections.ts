import type { Finding } from "../guards/guard.ts";
import type { AgentReport } from "../report/agent-report.ts";
import type { Evidence } from "../report/evidence.ts";
import { redGates, type GateResult } from "../report/gate-result.ts";
import type { InterventionType, Severity } from "./intervention.ts";
import { redSentence } from "./judge.ts";
import type { Verdict } from "./verdict.ts";

/** One thing to tell the agent next time, and how it is recorded. */
export interface Correction {
  readonly intervention: InterventionType;
  readonly severity: Severity;
  readonly text: string;
}

export interface Judged {
  readonly iteration: number;
  readonly verdict: Verdict;
  readonly report: AgentReport;
  readonly evidence: Evidence;
  readonly findings: readonly Finding[];
  readonly gates: readonly GateResult[] | null;
  /** One accepted claim does not end it. */
  readonly isOpenEnded: boolean;
  /** The exact tag that would have claimed completion. */
  readonly promiseTag: string;
}

/** What the next prompt must say, most useful first. */
export function corrections(judged: Judged): readonly Correction[] {
  const { ruling } = judged.verdict;
  if (ruling === "accepted" && judged.isOpenEnded) return [confirmation(judged)];
  if (ruling === "accepted" || ruling === "blocked" || ruling === "decide") return [];
  if (judged.report.failure !== null && judged.report.failure.class !== "agent") return [];
  if (judged.report.ending.is === "interrupted" || judged.report.ending.is === "stopped") return [];
  return [
    ...gateCorrections(judged),
    ...judged.findings.map((finding): Correction => ({
      intervention: finding.intervention,
      severity: "critical",
      text: `In iteration ${judged.iteration} you reported the task complete, but ${finding.sentence}.`,
    })),
    ...endingCorrections(judged),
    ...leftOutCorrections(judged),
    ...silenceCorrections(judged),
  ];
}

function confirmation({ iteration, promiseTag }: Judged): Correction {
  const text = `Your claim in iteration ${iteration} was accepted. Look once more at the goal as a whole: if nothing is left to do, print ${promiseTag} again; if something is, do it.`;
  return { intervention: "agent_reinforced", severity: "info", text };
}

function gateCorrections({ iteration, gates }: Judged): readonly Correction[] {
  return redGates(gates ?? []).map((gate) => ({
    intervention: "gate_failed",
    severity: "warning",
    text: `In iteration ${iteration} ${redSentence(gate)}. The end of its output:\n\n${indent(gate.tail)}`,
  }));
}

function endingCorrections({ iteration, report }: Judged): readonly Correction[] {
  if (report.ending.is === "timed-out") {
    const seconds = Math.round(report.ending.afterMs / 1_000);
    const text = `Iteration ${iteration} was ended after ${seconds} s. Your earlier work is in the workspace: go on from there, in smaller steps.`;
    return [{ intervention: "timeout", severity: "warning", text }];
  }
  if (report.failure === null) return [];
  const text = `Iteration ${iteration} ended badly: ${report.failure.message}`;
  return [{ intervention: "evidence_validation_failed", severity: "warning", text }];
}

function leftOutCorrections({ iteration, evidence }: Judged): readonly Correction[] {
  return evidence.leftOut.map(({ path, why }) => ({
    intervention: "dirty_tree",
    severity: "warning",
    text: `In iteration ${iteration} the file ${path} was not committed: ${why === "too-big" ? "it is larger than 10 MB" : "it looks like a secret"}. Remove it or add it to .gitignore.`,
  }));
}

/** An iteration that changed nothing, or that may be done and did not say so. */
function silenceCorrections({
  iteration,
  verdict,
  report,
  evidence,
  gates,
  promiseTag,
}: Judged): readonly Correction[] {
  if (report.failure !== null) return [];
  if (evidence.changed.files === 0 && evidence.changedSinceTaskBegan.files === 0) {
    const text = `In iteration ${iteration} you wrote NO FILES. Explaining the change is not making it: edit the files in the workspace with your tools.`;
    return [{ intervention: "no_files_detected", severity: "critical", text }];
  }
  if (verdict.ruling !== "continue") return [];
  const green = gates !== null && redGates(gates).length === 0 ? " and the gates passed" : "";
  const text = `Iteration ${iteration} changed ${evidence.changed.files} file(s)${green}, but you did not say that the task is done. If it is, print ${promiseTag} on a line of its own.`;
  return [{ intervention: "agent_reinforced", severity: "info", text }];
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
