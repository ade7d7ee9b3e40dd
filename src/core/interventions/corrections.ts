import type { Finding } from "../guards/guard.ts";
import { formatDuration } from "../duration.ts";
import { few } from "../few.ts";
import type { AgentReport } from "../report/agent-report.ts";
import { failuresToMend, redGates, type CheckedGate } from "../report/checked-gate.ts";
import { isReading } from "../stages/stages.ts";
import type { Evidence } from "../report/evidence.ts";
import { redSentence } from "../verdict/judge.ts";
import type { Verdict } from "../verdict/verdict.ts";
import type { Correction } from "./intervention.ts";

export interface Judged {
  readonly task: string;
  readonly stage: string;
  readonly iteration: number;
  readonly verdict: Verdict;
  /** There was a claim of completion, in whatever form. */
  readonly claimed: boolean;
  readonly report: AgentReport;
  readonly evidence: Evidence;
  readonly findings: readonly Finding[];
  readonly gates: readonly CheckedGate[] | null;
  /** What a later stage wants changed: it has done its part. */
  readonly objection?: string | null;
  /** One accepted claim does not end it. */
  readonly isOpenEnded: boolean;
  /** The exact tag that would have claimed completion. */
  readonly promiseTag: string;
}

/** What the next prompt must say, most useful first. */
export function corrections(judged: Judged): readonly Correction[] {
  const { ruling } = judged.verdict;
  const { failure, ending } = judged.report;
  if (ruling === "accepted") return afterAcceptance(judged);
  if (failure !== null && failure.class !== "agent") return [];
  if (ending.is === "interrupted" || ending.is === "stopped") return [];
  const aboutWork = [...findingCorrections(judged), ...markCorrections(judged), ...commitCorrections(judged)];
  if (ruling === "blocked" || ruling === "decide" || judged.objection != null) return aboutWork;
  return [
    ...gateCorrections(judged),
    ...aboutWork,
    ...endingCorrections(judged),
    ...silenceCorrections(judged),
  ];
}

/** An accepted claim needs no correction; what was found beside it is still worth a record. */
function afterAcceptance(judged: Judged): readonly Correction[] {
  const { iteration, promiseTag, isOpenEnded } = judged;
  const warnings = [...findingCorrections(judged), ...markCorrections(judged), ...commitCorrections(judged)];
  if (!isOpenEnded) return warnings;
  const text = `Your claim in iteration ${iteration} was accepted. Look once more at the goal as a whole: if nothing is left to do, print ${promiseTag} again; if something is, do it.`;
  return [{ intervention: "agent_reinforced", severity: "info", rule: "confirmation", text }, ...warnings];
}

function gateCorrections({ iteration, gates }: Judged): readonly Correction[] {
  return redGates(gates ?? []).map((gate): Correction => {
    const failed = failuresToMend(gate);
    const names = failed.length === 0 ? "" : ` Failing: ${few(failed, 10)}.`;
    return {
      intervention: "gate_failed",
      severity: "warning",
      rule: `gate:${gate.name}`,
      text: `In iteration ${iteration} ${redSentence(gate)}.${names} The end of its output:`,
      output: gate.tail,
    };
  });
}

function findingCorrections({ iteration, findings, claimed }: Judged): readonly Correction[] {
  const own = findings.filter(({ isBroken }) => isBroken !== true);
  return own.map(({ guard, intervention, sentence, rejects, advice }) => {
    const said = claimed
      ? `In iteration ${iteration} you reported the task complete, but ${sentence}.`
      : `In iteration ${iteration}: ${sentence}.`;
    const consequence = claimed && rejects ? ["The claim was rejected; the task is still open."] : [];
    return {
      intervention,
      severity: rejects ? "critical" : "warning",
      rule: guard,
      text: [said, ...consequence, ...(advice === null ? [] : [advice])].join(" "),
    };
  });
}

/** An agent that ticks the box of the very task it then completes does no harm. */
function markCorrections({ iteration, task, verdict, evidence }: Judged): readonly Correction[] {
  const removed: readonly Correction[] = evidence.tasksRemoved.map((id) => ({
    intervention: "illegal_transition",
    severity: "warning",
    rule: "removed-task",
    text: `While iteration ${iteration} ran, the task ${id} vanished from the task list. Tasks are the operator's: leave those that are not yours.`,
  }));
  const marks = evidence.marksTakenBack.filter((id) => id !== task || verdict.ruling !== "accepted");
  if (marks.length === 0) return removed;
  const text = `In iteration ${iteration} you marked ${few(marks)} as done in the task list yourself. The marks were taken back: Ralph makes them when the work is verified.`;
  return [{ intervention: "illegal_transition", severity: "warning", rule: "own-marks", text }, ...removed];
}

function commitCorrections({ iteration, evidence }: Judged): readonly Correction[] {
  const refusal: readonly Correction[] =
    evidence.refusal === null
      ? []
      : [
          {
            intervention: "dirty_tree",
            severity: "warning",
            rule: "commit-hook",
            text: `After iteration ${iteration} not all of your work could be committed. Git or the repository's hooks said:`,
            output: evidence.refusal,
          },
        ];
  const leftOut = evidence.leftOut.map(({ path, why }): Correction => ({
    intervention: "dirty_tree",
    severity: "warning",
    rule: why,
    text: `In iteration ${iteration} the file ${path} was not committed: ${why === "too-big" ? "it is larger than 10 MB" : "it looks like a secret"}. Remove it or add it to .gitignore.`,
  }));
  return [...refusal, ...leftOut];
}

function endingCorrections({ iteration, report }: Judged): readonly Correction[] {
  if (report.ending.is === "timed-out") {
    const seconds = Math.round(report.ending.afterMs / 1_000);
    const text = `Iteration ${iteration} was ended after ${seconds} s. Your earlier work is in the workspace: go on from there, in smaller steps.`;
    return [{ intervention: "timeout", severity: "warning", rule: "timeout", text }];
  }
  if (report.ending.is === "idle") {
    const silence = formatDuration(report.ending.afterMs);
    const text = `Iteration ${iteration} was ended: for ${silence} it printed nothing, called no tool, changed no file and used no CPU. Do not wait for something that may never come (input, a server, a watcher): give commands a time limit. Your earlier work is in the workspace: go on from there.`;
    return [{ intervention: "timeout", severity: "warning", rule: "idle", text }];
  }
  if (report.failure === null) return [];
  const text = `Iteration ${iteration} ended badly: ${report.failure.message}`;
  return [{ intervention: "evidence_validation_failed", severity: "warning", rule: "ending", text }];
}

/** An iteration that changed nothing, or that may be done and did not say so. */
function silenceCorrections(judged: Judged): readonly Correction[] {
  const { iteration, verdict, report, evidence, gates, promiseTag } = judged;
  if (report.failure !== null) return [];
  const hidden: readonly Correction[] =
    report.claim.is === "none" && report.signals?.isPromiseHidden === true
      ? [
          {
            intervention: "evidence_validation_failed",
            severity: "warning",
            rule: "hidden-promise",
            text: `In iteration ${iteration} the promise stood in a code fence, a quotation, a comment or with decoration: there it does not count. Print ${promiseTag} on a line of its own, as plain text.`,
          },
        ]
      : [];
  const misplaced = [...hidden, ...otherPromise(judged)];
  if (evidence.changed.files === 0 && !isReading(judged.stage)) return [...misplaced, noFiles(judged)];
  if (verdict.ruling !== "continue" || misplaced.length > 0) return misplaced;
  const green = gates !== null && redGates(gates).length === 0 ? " and the gates passed" : "";
  const text = `Iteration ${iteration} changed ${evidence.changed.files} file(s)${green}, but you did not say that the task is done. If it is, print ${promiseTag} on a line of its own.`;
  return [{ intervention: "agent_reinforced", severity: "info", rule: "no-claim", text }];
}

function otherPromise({ iteration, report, promiseTag }: Judged): readonly Correction[] {
  const { promise = null, claim } = report;
  if (promise === null || claim.is !== "none") return [];
  const text = `In iteration ${iteration} you printed <promise>${promise.slice(0, 200)}</promise>, which is not what was asked for. If the task is done, print exactly ${promiseTag}.`;
  return [{ intervention: "evidence_validation_failed", severity: "warning", rule: "other-promise", text }];
}

function noFiles({ iteration, evidence }: Judged): Correction {
  const sinceTask = evidence.changedSinceTaskBegan.files === 0;
  const text = sinceTask
    ? `In iteration ${iteration} you wrote NO FILES. Explaining the change is not making it: edit the files in the workspace with your tools.`
    : `In iteration ${iteration} you changed nothing. What is there is not enough yet: edit the files in the workspace with your tools.`;
  return { intervention: "no_files_detected", severity: "critical", rule: "no-files", text };
}
