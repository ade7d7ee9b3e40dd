import { few } from "../text.ts";
import { failuresToMend, redGates, redSentence, type CheckedGate } from "./checked-gate.ts";
import { verifyOf } from "../settings.ts";
import {
  doubtsAmong,
  findConcerns,
  isNote,
  settlementInWords,
  type Concern,
  type WeighedConcern,
} from "./concerns.ts";
import type { CaseContext, Finding } from "./facts.ts";
import { criteriaOf, type CriterionAnswer } from "./reader.ts";
import type { Reason, Verdict } from "./verdict.ts";

export interface Case {
  readonly context: CaseContext;
  readonly claimed: boolean;
  /** The task is tried once: nobody can be asked to answer anything. */
  readonly isSinglePass: boolean;
  /** What a later stage wants changed. */
  readonly objection: string | null;
  readonly findings: readonly Finding[];
}

/** Rules on one iteration: facts first, then the second reader, words last. Words never accept. */
export function judge(subject: Case): Verdict {
  const { context, claimed, objection, findings } = subject;
  const { claim, failure, ending } = context.report;
  if (ending.is === "interrupted")
    return failed("interrupted", "interrupted: Ralph itself was killed while the agent ran");
  if (failure?.kind === "budget") return failed("budget", failure.message);
  if (ending.is === "stopped") return failed("stopped", "interrupted: the agent was asked to stop");
  if (failure !== null && failure.class !== "agent") return failed(failure.class, failure.message);
  if (claim.is === "blocked") return ruled("blocked", [{ rule: "claim", sentence: claim.reason }]);
  if (claim.is === "undecided") return ruled("decide", [{ rule: "claim", sentence: claim.question }]);
  if (failure !== null) {
    const rule = ending.is === "timed-out" ? "timeout" : ending.is === "idle" ? "idle" : "agent";
    return failed(rule, failure.message);
  }
  if (objection !== null)
    return ruled("continue", [{ rule: "objection", sentence: `changes requested: ${objection}` }]);
  if (!claimed) {
    const says =
      claim.is === "unfinished" ? "says that there is more to do" : "did not say that the task is done";
    return ruled("continue", [{ rule: "claim", sentence: `the agent ${says}` }, ...findings.map(reasonOf)]);
  }
  return judgeCompletion(subject);
}

function judgeCompletion(subject: Case): Verdict {
  const { context, findings } = subject;
  const { gates, report } = context;
  const rejecting = findings.filter((finding) => finding.rejects);
  const red = redGates(gates ?? []);
  const objections = [...rejecting.map(reasonOf), ...red.map(redReason)];
  // A check that broke says nothing about the agent: only a person can mend it.
  const areBroken =
    rejecting.every(({ isBroken }) => isBroken) && red.every(({ status }) => status === "missing");
  if (objections.length > 0) return ruled(areBroken ? "blocked" : "rejected", objections);
  const weighed = weighConcerns(subject);
  const against = [
    ...criteriaReasons(context, "not_met", (criterion) => `says that ${criterion} is not met`),
    ...weighed.filter(({ isReal }) => isReal === true).map(concernReason),
  ];
  if (report.claim.is === "already-done") {
    const sentence = `the agent says that it is already done: ${report.claim.reason}`;
    const said = { rule: "already-done", sentence };
    const reasons = [said, ...against, ...readersOpinion(context, against), ...readerReason(context)];
    return { ruling: "decide", reasons, concerns: weighed };
  }
  if (against.length > 0) return { ruling: "rejected", reasons: against, concerns: weighed };
  const open = weighed.filter(({ settledBy }) => settledBy === null);
  if (open.length > 0) {
    const ruling = open.some(({ name }) => name === "old-checks-fail") ? "decide" : "challenged";
    return { ruling, reasons: [...open.map(concernReason), ...readerReason(context)], concerns: weighed };
  }
  const accepted = { rule: "evidence", sentence: acceptedBecause(context) };
  const reasons = [
    accepted,
    ...findings.map(reasonOf),
    // The sentence before says already that there is no gate.
    ...weighed.filter(({ name }) => name !== "nothing-checks").map(concernReason),
    ...untoldCriteria(context),
    ...readerReason(context),
  ];
  return { ruling: "accepted", reasons, concerns: weighed };
}

/** Who settles each concern: a setting, the reader, a person, or the agent's own answer; null is nobody. */
function weighConcerns(subject: Case): readonly WeighedConcern[] {
  const concerns = findConcerns(subject.context);
  const { challenged, report, evidence } = subject.context;
  const doubts = doubtsAmong(concerns, subject.context);
  const asked = concerns.map((concern) => weigh(concern, doubts.indexOf(concern) + 1, subject));
  // Words that are merely left out the second time have answered nothing.
  const isSilent = report.claim.is !== "already-done" && evidence.changed.files === 0;
  const dropped = challenged.filter(
    ({ name }) => isSilent && !concerns.some((concern) => concern.name === name),
  );
  return [...asked, ...dropped.map((concern) => answered(concern, subject.context))];
}

function weigh(concern: Concern, number: number, { context, isSinglePass }: Case): WeighedConcern {
  const settled = (
    settledBy: WeighedConcern["settledBy"],
    answer: string | null = null,
    isReal = false,
  ): WeighedConcern => ({ ...concern, settledBy, answer, ...(isReal && { isReal }) });
  if (isNote(concern, context)) return settled("note");
  const read = context.reading?.review?.concerns.find((said) => said.concern === number);
  if (read !== undefined) return settled("reader", read.reason, read.answer === "real");
  if (concern.name === "old-checks-fail") {
    const { oldChecksFail } = verifyOf(context.settings);
    if (context.isAgreed) return settled("person");
    return oldChecksFail === "ask" ? settled(null) : settled("settings", null, oldChecksFail === "reject");
  }
  if (isSinglePass) return settled("note");
  return context.challenged.some(({ name }) => name === concern.name)
    ? answered(concern, context)
    : settled(null);
}

/** After a challenge: settled by the line that answers it, else it stands. */
function answered(concern: Concern, { challenged, report }: CaseContext): WeighedConcern {
  const number = challenged.findIndex(({ name }) => name === concern.name) + 1;
  const said = report.signals?.answers?.find((one) => one.about === "concern" && one.number === number);
  return said === undefined
    ? { ...concern, settledBy: null, answer: null, isReal: true }
    : { ...concern, settledBy: "agent", answer: said.text };
}

/** What the second reader says of the criteria that it answers so. */
function criteriaReasons(
  { task, reading }: CaseContext,
  answer: CriterionAnswer["answer"],
  says: (criterion: string) => string,
): readonly Reason[] {
  const texts = task === undefined ? [] : criteriaOf(task);
  const answers = (reading?.review?.criteria ?? []).filter((one) => one.answer === answer);
  return answers.map(({ criterion, reason }) => {
    const text = texts[criterion - 1];
    const quoted = text === undefined ? "" : ` ("${text.slice(0, 200)}")`;
    const sentence = `the second reader ${says(`criterion ${criterion}${quoted}`)}: ${reason}`;
    return { rule: "reader", sentence };
  });
}

function untoldCriteria(context: CaseContext): readonly Reason[] {
  return criteriaReasons(context, "cannot_tell", (criterion) => `cannot tell about ${criterion}`);
}

/** For a person who has to decide: an opinion that speaks for the claim counts too. */
function readersOpinion(context: CaseContext, against: readonly Reason[]): readonly Reason[] {
  const untold = untoldCriteria(context);
  const met = context.reading?.review?.criteria.filter(({ answer }) => answer === "met") ?? [];
  if (against.length + untold.length > 0 || met.length === 0) return untold;
  const reasons = met.map(({ reason }) => reason).join("; ");
  return [{ rule: "reader", sentence: `the second reader agrees: ${reasons}` }];
}

/** A reader that failed counts as none, and this is said. */
function readerReason({ reading }: CaseContext): readonly Reason[] {
  const { failure = null, undone = [] } = reading ?? {};
  const sentences = [
    ...(failure === null ? [] : [`no second reader: ${failure}`]),
    ...(undone.length === 0 ? [] : [`the reader changed ${few(undone)}, which is undone`]),
  ];
  return sentences.map((sentence) => ({ rule: "reader", sentence }));
}

function concernReason(concern: WeighedConcern): Reason {
  const { name, sentence, settledBy, isReal } = concern;
  const isUnsaid = settledBy === "note" || (settledBy === null && isReal !== true);
  const how = isUnsaid ? "" : ` (${settlementInWords(concern)})`;
  return { rule: name, sentence: `${sentence}${how}` };
}

function acceptedBecause({ gates, oldChecks, reading, evidence }: CaseContext): string {
  const hasOldPassed = oldChecks !== null && redGates(oldChecks.gates).length === 0;
  return [
    evidence.changedSinceTaskBegan.files > 0 ? "the work is in git" : "nothing had to be changed",
    gatesInWords(gates ?? []),
    ...(hasOldPassed ? [`the old checks pass too (${few(oldChecks.files, 3)})`] : []),
    ...(reading?.review == null ? [] : [`${reading.agent} has read it`]),
  ].join("; ");
}

/** "passed: tests, types; missing: lint" */
function gatesInWords(gates: readonly CheckedGate[]): string {
  if (gates.length === 0) return "no gate is configured";
  const words = (["passed", "failed", "timeout", "missing", "skipped"] as const).map((status) => {
    const names = gates.filter((gate) => gate.status === status).map((gate) => gate.name);
    return names.length === 0 ? "" : `${status}: ${names.join(", ")}`;
  });
  return words.filter((word) => word !== "").join("; ");
}

function redReason(gate: CheckedGate): Reason {
  const failed = failuresToMend(gate);
  const names = failed.length === 0 ? "" : `: ${few(failed, 3)}`;
  return { rule: `gate:${gate.name}`, sentence: `${redSentence(gate)}${names}` };
}

function reasonOf(finding: Finding): Reason {
  return { rule: finding.guard, sentence: finding.sentence };
}

function failed(rule: string, sentence: string): Verdict {
  return ruled("failed", [{ rule, sentence }]);
}

function ruled(ruling: Verdict["ruling"], reasons: readonly Reason[]): Verdict {
  return { ruling, reasons, concerns: [] };
}
