import { storyObjection, storySignal, reviewOf } from "../review/story-review.ts";
import { CONFIDENT, type ExitSignal } from "./brakes.ts";
import { wasCutOff, type AgentReport } from "../streams/agent-report.ts";
import type { Evidence } from "../verdict/evidence.ts";
import { allRequiredPassed, redGates, type CheckedGate } from "../verdict/checked-gate.ts";
import { verifyOf } from "../settings.ts";
import { isReading, objectionIn, stageOf } from "./stages.ts";
import { doubtsAmong, findConcerns } from "../verdict/concerns.ts";
import { findAll, findObjections, type CaseContext, type Finding } from "../verdict/facts.ts";
import { judge } from "../verdict/judge.ts";
import type { Reason, Verdict } from "../verdict/verdict.ts";
import { taskState, type OpenIteration, type Phase, type RunState, type State } from "../state.ts";
import type { ExitAnswer } from "../verdict/plugin-answers.ts";

export type JudgeablePhase = Extract<Phase, { is: "observed" }>;

/** Who is asked next about an iteration before it is judged. */
export type Witness = "gates" | "old-checks" | { readonly reader: string };

/** Facts first, and only as many as the verdict needs: an objection spares the gates, a red gate the rest. */
export function nextWitness(
  state: State,
  run: RunState,
  open: OpenIteration,
  phase: JudgeablePhase,
): Witness | null {
  const { report, evidence, gates } = phase;
  if (run.stop === "now" || wasCutOff(report)) return null;
  const context = caseOf(state, run, open, phase);
  const isAsked = claimsCompletion(context) && !findObjections(context, true).some(({ rejects }) => rejects);
  if (gates === null && run.settings.gates.length > 0) {
    const isWanted = run.settings.gatesEveryIteration || (isOpenEnded(run) && mayEnd(report, evidence));
    return isAsked || isWanted ? "gates" : null;
  }
  const mayDoubt = isAsked && run.settings.promise.verify && !isReading(run.settings, open.stage);
  if (!mayDoubt || redGates(gates ?? []).length > 0) return null;
  const { oldChecks } = verifyOf(run.settings);
  const isTouched = (evidence.checkFiles ?? []).length > 0 && gates !== null;
  if (isTouched && oldChecks !== "never" && phase.oldChecks === null) return "old-checks";
  const reader = phase.reading === null ? readerFor(context, open) : null;
  return reader === null ? null : { reader };
}

/** Who reads the claim, if anybody has to. */
function readerFor(context: CaseContext, { agent }: OpenIteration): string | null {
  const { reader, readerAgent, readers } = verifyOf(context.settings);
  const who = readerAgent ?? (readers.includes(agent) || agent.startsWith("acp:") ? agent : null);
  if (reader === "never" || who === null) return null;
  const concerns = findConcerns(context);
  const isDoubtful =
    doubtsAmong(concerns, context).length > 0 || concerns.some(({ name }) => name === "nothing-checks");
  return reader === "always" || isDoubtful || context.report.claim.is === "already-done" ? who : null;
}

/** Whether the agent claims completion, in whatever form; plugins are asked about claims. */
export function isClaimed(state: State, run: RunState, open: OpenIteration, phase: JudgeablePhase): boolean {
  return claimsCompletion(caseOf(state, run, open, phase));
}

function mayEnd(report: AgentReport, { plugins }: Evidence): boolean {
  return isConfident(report) || (plugins?.exits ?? []).some(({ ends }) => ends === "complete");
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly claimed: boolean;
  readonly findings: readonly Finding[];
  readonly gates: readonly CheckedGate[] | null;
  readonly context: CaseContext;
  readonly isOpenEnded: boolean;
  /** What a later stage wants changed. */
  readonly objection: string | null;
}

export function judgeIteration(
  state: State,
  run: RunState,
  open: OpenIteration,
  phase: JudgeablePhase,
): Judgement {
  const context = caseOf(state, run, open, phase);
  const { gates } = context;
  const objection = objectionOf(context);
  const claimed = claimsCompletion(context);
  const findings = findAll(context, claimed);
  const ruled =
    uncheckedBecauseStopped(run, phase, claimed) ??
    judge({ context, claimed, isSinglePass: isSinglePass(context), objection, findings });
  const verdict = { ...ruled, reasons: [...ruled.reasons, ...exitReasons(context)] };
  return { verdict, claimed, findings, gates, context, objection, isOpenEnded: isOpenEnded(run) };
}

/** A source without a list of tasks: only the exit rules end it. */
export function isOpenEnded(run: RunState): boolean {
  return run.settings.source.kind === "prompt";
}

export function exitSignalOf(open: OpenIteration, phase: JudgeablePhase, { ruling }: Verdict): ExitSignal {
  const { report, evidence } = phase;
  const isGreen = redGates(phase.gates ?? []).length === 0;
  const isProven = evidence.changed.files > 0 && isGreen;
  return {
    iteration: open.number,
    done: ruling === "accepted" || (isConfident(report) && isProven && report.failure === null),
    testOnly: report.signals?.isTestOnly ?? false,
    indicator:
      report.claim.is === "complete" || (report.claim.is === "none" && (report.signals?.confidence ?? 0) > 0),
  };
}

export function caseOf(
  state: State,
  run: RunState,
  { task: id, stage, number: iteration }: OpenIteration,
  phase: JudgeablePhase,
): CaseContext {
  const { report, evidence, gates, oldChecks, reading } = phase;
  const { iterations, stuckCount, baseline, challenged, isAgreed, workBase, sentBack } = taskState(state, id);
  const task = state.plan?.tasks.find((planned) => planned.id === id);
  return {
    task,
    sentBack: sentBack?.isOpen === true ? sentBack : null,
    stage,
    iteration,
    hasWorkedBefore: stuckCount < iterations - 1,
    report,
    evidence,
    leftBefore: workBase?.leftovers ?? [],
    settings: run.settings,
    baseline,
    gates,
    oldChecks,
    reading,
    challenged,
    isAgreed,
  };
}

/** What exit rules of plugins said, for whoever asks why. */
function exitReasons({ evidence }: CaseContext): readonly Reason[] {
  return (evidence.plugins?.exits ?? []).map(({ rule, because }) => ({ rule, sentence: because }));
}

function objectionOf(context: CaseContext): string | null {
  const { report, task, stage, settings } = context;
  return reviewOf(settings, task) === null ? objectionIn(report, settings, stage) : storyObjection(context);
}

/** A single attempt needs no promise: that it ended well is its claim. */
function claimsCompletion(context: CaseContext): boolean {
  const { report, task, settings } = context;
  if (report.failure !== null || wasCutOff(report) || objectionOf(context) !== null) return false;
  if (reviewOf(settings, task) !== null) return storySignal(context) !== null;
  if (isSinglePass(context)) return report.claim.is !== "blocked" && report.claim.is !== "undecided";
  return (
    ["complete", "already-done"].includes(report.claim.is) || claimsByMark(context) || claimsByPlan(context)
  );
}

/** The plan beside a prompt is the agent's to tick. */
function claimsByPlan({ report, evidence }: CaseContext): boolean {
  return evidence.isPlanTicked === true && ["none", "unfinished"].includes(report.claim.is);
}

function isSinglePass({ task, settings, stage }: CaseContext): boolean {
  return task?.loops === false || !stageOf(settings, task, stage).loops;
}

/** Where the review is skipped, the agent may set the mark itself; it counts if the claim does. */
function claimsByMark({ task, evidence, settings }: CaseContext): boolean {
  if (settings.skipReview !== true || task?.review === undefined) return false;
  return evidence.marksTakenBack.includes(task.id);
}

/** A claim that a stop kept from being checked is no verdict on the agent. */
function uncheckedBecauseStopped(run: RunState, phase: JudgeablePhase, claimed: boolean): Verdict | null {
  if (!claimed || run.stop !== "now") return null;
  const isTouched =
    (phase.evidence.checkFiles ?? []).length > 0 && verifyOf(run.settings).oldChecks !== "never";
  const isUnchecked =
    run.settings.gates.length > 0 &&
    (phase.gates === null || (isTouched && allRequiredPassed(phase.gates) && phase.oldChecks === null));
  if (!isUnchecked) return null;
  const sentence = "stopped before the gates could check the claim";
  return { ruling: "continue", reasons: [{ rule: "stopped", sentence }], concerns: [] };
}

/** Sure of completion: a status block that says there is more to do is sure as well, of the opposite. */
function isConfident({ claim, signals }: AgentReport): boolean {
  const speaksOfEnd = claim.is === "complete" || claim.is === "none";
  return speaksOfEnd && (signals?.confidence ?? 0) >= CONFIDENT;
}

/** How exit rules of plugins end an open-ended task, as far as evidence allows it. */
export function pluginExit({ context, gates, findings }: Judgement): ExitAnswer | null {
  const { report, settings, evidence } = context;
  const { exits = [] } = evidence.plugins ?? {};
  if (wasCutOff(report) || report.failure !== null) return null;
  const isChecked = gates !== null || settings.gates.length === 0;
  const isGreen = isChecked && redGates(gates ?? []).length === 0;
  const isRight = isGreen && findings.every(({ rejects }) => !rejects);
  return exits.find(({ ends }) => ends === "failed" || isRight) ?? null;
}
