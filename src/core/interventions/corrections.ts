import { changesInWords } from "../plan/list-changes.ts";
import { formatDuration } from "../time.ts";
import { capital, few } from "../text.ts";
import type { AgentReport } from "../report/agent-report.ts";
import { failuresToMend, redGates, type CheckedGate, redSentence } from "../report/checked-gate.ts";
import { isReading } from "../stages/stages.ts";
import type { Evidence } from "../report/evidence.ts";
import { withChallenges, type Concern } from "../verdict/concerns.ts";
import { whyNothingCounts, type CaseContext, type Finding } from "../verdict/facts.ts";
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
  /** What the agent was asked to answer before. */
  readonly challenged: readonly Concern[];
  readonly context: CaseContext;
  /** The commit that the task's work counts from. */
  readonly base: string | null;
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
  const aboutWork = [...findingCorrections(judged), ...listCorrections(judged), ...commitCorrections(judged)];
  if (ruling === "blocked" || ruling === "decide" || judged.objection != null) return aboutWork;
  const told = [
    ...gateCorrections(judged),
    ...challenge(judged),
    ...doubtCorrections(judged),
    ...aboutWork,
    ...endingCorrections(judged),
  ];
  return [...told, ...silenceCorrections(judged, told)];
}

/** An accepted claim needs no correction; what was found beside it is still worth a record. */
function afterAcceptance(judged: Judged): readonly Correction[] {
  const { iteration, promiseTag, isOpenEnded } = judged;
  const warnings = [...findingCorrections(judged), ...listCorrections(judged), ...commitCorrections(judged)];
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
      text: `In iteration ${iteration} ${redSentence(gate)}.${names} ${gate.tail.trim() === "" ? "It printed nothing." : "The end of its output:"}`,
      output: gate.tail,
    };
  });
}

/** The agent fixes these or answers them; nothing is held against it yet. */
function challenge({ iteration, verdict, challenged, promiseTag }: Judged): readonly Correction[] {
  if (verdict.ruling !== "challenged") return [];
  const isOpen = (name: string): boolean =>
    verdict.concerns.some((concern) => concern.name === name && concern.settledBy === null);
  const list = withChallenges(challenged, verdict.concerns).flatMap(({ name, sentence }, index) =>
    isOpen(name) ? [`${index + 1}. ${capital(sentence)}. ${WAYS_OUT[name]}.`] : [],
  );
  const text = `Your claim in iteration ${iteration} is not accepted yet. Ralph doubts it:
${list.join("\n")}
Fix what is wrong. Where the work is right as it is, answer on a line of its own, with the number and the reason: \`Concern 1: …\`. Then print ${promiseTag} again.`;
  return [{ intervention: "evidence_validation_failed", severity: "warning", rule: "challenge", text }];
}

const WAYS_OUT: Readonly<Record<Concern["name"], string>> = {
  "old-checks-fail":
    "Make the code pass the tests and settings as they were before the task, and change them only where the task asks for it",
  "white-space-only": "If the task is about more than white space, do the rest",
  "files-not-found": "If the work needs these files, write them; if you only mentioned them, say so",
  "words-against": "If something is still open, do it",
  "checks-off": "Fix what the checker complains about instead of silencing it",
  "nothing-checks": "Run the work and look at the result",
};

/** What speaks against the claim beside facts: the second reader, a setting, a concern without an answer. */
function doubtCorrections(judged: Judged): readonly Correction[] {
  const { iteration, verdict, challenged, context } = judged;
  if (verdict.ruling !== "rejected") return [];
  const real = verdict.concerns.filter(({ isReal }) => isReal === true);
  const numbered = withChallenges(challenged, verdict.concerns);
  const files = context.oldChecks?.files.slice(0, 5).join(" ") ?? "";
  const since = judged.base === null ? "" : ` (your change of them: git diff ${judged.base} -- ${files})`;
  const ofConcerns = real.map(({ name, sentence, settledBy, answer }): Correction => {
    const number = numbered.findIndex((one) => one.name === name) + 1;
    const read = settledBy === "reader" ? ` A second reader looked at it: ${asSentence(answer ?? "")}` : "";
    const orSay =
      settledBy === "reader"
        ? " If it is right, say why in your final words: the next reader sees them."
        : "";
    const fix = `${WAYS_OUT[name]}${name === "old-checks-fail" ? since : ""}.`;
    const orAnswer =
      settledBy === null
        ? ` You were asked about this before: if it is right as it is, answer on a line of its own, \`Concern ${number}: …\`, and claim again.`
        : "";
    return rejection(iteration, name, `${sentence}.${read} ${fix}${orAnswer}${orSay}`);
  });
  return [...readerCorrections(judged), ...ofConcerns];
}

/** All criteria that the second reader calls unmet, in one. */
function readerCorrections({ iteration, verdict }: Judged): readonly Correction[] {
  const unmet = verdict.reasons.filter(({ rule }) => rule === "reader").map(({ sentence }) => sentence);
  if (unmet.length === 0) return [];
  const list = unmet.map(asSentence).join(" Besides, ");
  const text = `${list} Do what is missing. If it is there already, say in your final words where, with file and line: the next reader sees them.`;
  return [rejection(iteration, "reader", text)];
}

function rejection(iteration: number, rule: string, text: string): Correction {
  return {
    intervention: "evidence_validation_failed",
    severity: "critical",
    rule,
    text: `In iteration ${iteration} you reported the task complete, but ${text} The claim was rejected; the task is still open.`,
  };
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`;
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
function listCorrections({ iteration, task, verdict, evidence }: Judged): readonly Correction[] {
  const { list = [], marksTakenBack, stories } = evidence;
  const isOwn = (id: string): boolean => id === task && verdict.ruling === "accepted";
  const isHarmless = list.every((change) => change.is === "ticked" && isOwn(change.task));
  // What is against the rules of a review is told one by one.
  if (stories !== undefined && stories.problems.length > 0) return [];
  const marks = marksTakenBack.filter((id) => !isOwn(id));
  const warning = { intervention: "illegal_transition", severity: "warning" } as const;
  if (!isHarmless) {
    const text = `In iteration ${iteration} you edited the task list (${changesInWords(list)}). Your edit was undone and kept as a proposal for the operator: the list is theirs, and Ralph marks tasks itself when the work is verified.`;
    return [{ ...warning, rule: "task-list", text }];
  }
  if (list.length > 0 || marks.length === 0) return [];
  const text = `In iteration ${iteration} you marked ${few(marks)} as done in the task list yourself. The marks were taken back: Ralph makes them when the work is verified.`;
  return [{ ...warning, rule: "own-marks", text }];
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
function silenceCorrections(judged: Judged, told: readonly Correction[]): readonly Correction[] {
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
  if (isIdle(judged)) return [...misplaced, noFiles(judged, told)];
  const isOpen = verdict.ruling === "continue" && report.claim.is !== "unfinished";
  if (!isOpen || misplaced.length > 0) return misplaced;
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

/** It changed nothing where something had to be changed. */
function isIdle({ evidence, stage, context, verdict }: Judged): boolean {
  const mayBe =
    isReading(context.settings, stage) || context.task?.changes === "none" || verdict.ruling === "challenged";
  return evidence.changed.files === 0 && !mayBe;
}

/** Counted for every iteration without files; where the true cause is told already, it is not told twice. */
function noFiles(
  { iteration, evidence, verdict, promiseTag, report }: Judged,
  told: readonly Correction[],
): Correction {
  const unanswered = verdict.concerns.filter(({ isReal }) => isReal === true).map(({ name }) => name);
  const causes: readonly string[] = [
    "no-changes",
    "findings",
    "off-branch",
    "protected-paths",
    ...unanswered,
  ];
  const isGates = (rule: string): boolean => report.claim.is === "already-done" && rule.startsWith("gate:");
  const known = told.find(({ rule }) => causes.includes(rule) || isGates(rule));
  const text = known?.text ?? `In iteration ${iteration} ${nothingWritten(evidence, verdict, promiseTag)}`;
  return { intervention: "no_files_detected", severity: "critical", rule: "no-files", text };
}

function nothingWritten(evidence: Evidence, { ruling }: Verdict, promiseTag: string): string {
  const { cause, advice } = whyNothingCounts(evidence);
  if (cause !== "") return `nothing changed that counts: ${cause}. ${advice}`;
  if (evidence.changedSinceTaskBegan.files === 0) return `you wrote NO FILES. ${advice}`;
  return ruling === "rejected"
    ? "you changed nothing, and what was there before is not enough yet: edit the files in the workspace."
    : `you changed nothing. If the task is done, print ${promiseTag} on a line of its own; if not, edit the files in the workspace.`;
}
