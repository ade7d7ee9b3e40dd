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
import type { EffectOf } from "./effects.ts";
import type { Reason, Verdict } from "../verdict/verdict.ts";
import { taskState, type OpenIteration, type Phase, type RunState, type State } from "../state.ts";
import type { ExitAnswer } from "../verdict/plugin-answers.ts";

export type JudgeablePhase = Extract<Phase, { is: "observed" }>;

/**
 * What is looked at next before an iteration is judged. Facts first, and only as many as the verdict needs: an objection
 * spares the gates, a red gate the rest.
 */
export function nextLook(
  state: State,
  run: RunState,
  open: OpenIteration,
  phase: JudgeablePhase,
): EffectOf<"check-gates" | "run-old-checks" | "ask-reader"> | null {
  const { report, evidence, gates } = phase;
  const { number: iteration } = open;
  if (run.stop === "now" || wasCutOff(report)) return null;
  const context = caseOf(state, run, open, phase);
  const isAsked = claimsCompletion(context) && !findObjections(context, true).some(({ rejects }) => rejects);
  if (gates === null && run.settings.gates.length > 0) {
    const exits = evidence.plugins?.exits ?? [];
    const mayEnd = isConfident(report) || exits.some(({ ends }) => ends === "complete");
    const isWanted = isAsked || run.settings.gatesEveryIteration || (isOpenEnded(run) && mayEnd);
    return isWanted ? { kind: "check-gates", key: `gates:${iteration}`, iteration } : null;
  }
  const mayDoubt = isAsked && run.settings.promise.verify && !isReading(run.settings, open.stage);
  if (!mayDoubt || redGates(gates ?? []).length > 0) return null;
  if (gates !== null && phase.oldChecks === null && wantsOldChecks(run, evidence))
    return { kind: "run-old-checks", key: `old-checks:${iteration}`, iteration };
  const agent = phase.reading === null ? readerFor(context, open) : null;
  return agent === null ? null : { kind: "ask-reader", key: `reader:${iteration}`, iteration, agent };
}

function wantsOldChecks({ settings }: RunState, { checkFiles = [] }: Evidence): boolean {
  return checkFiles.length > 0 && verifyOf(settings).oldChecks !== "never";
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

/** Whether the agent claims completion; plugins are asked about claims. */
export function isClaimed(state: State, run: RunState, open: OpenIteration, phase: JudgeablePhase): boolean {
  return claimsCompletion(caseOf(state, run, open, phase));
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
  // What exit rules of plugins said, for whoever asks why.
  const exits = phase.evidence.plugins?.exits ?? [];
  const said = exits.map(({ rule, because }): Reason => ({ rule, sentence: because }));
  const verdict = { ...ruled, reasons: [...ruled.reasons, ...said] };
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

function objectionOf(context: CaseContext): string | null {
  const { report, task, stage, settings } = context;
  return reviewOf(settings, task) === null ? objectionIn(report, settings, stage) : storyObjection(context);
}

/** Whether the agent claims completion, in whatever form. */
function claimsCompletion(context: CaseContext): boolean {
  const { report, task, settings, evidence } = context;
  const { is } = report.claim;
  if (report.failure !== null || wasCutOff(report) || objectionOf(context) !== null) return false;
  if (reviewOf(settings, task) !== null) return storySignal(context) !== null;
  // A single attempt needs no promise: that it ended well is its claim.
  if (isSinglePass(context)) return is !== "blocked" && is !== "undecided";
  // Where the review is skipped, the agent may set the mark itself; it counts if the claim does.
  const isReviewed = settings.skipReview === true && task?.review !== undefined;
  const isMarked = isReviewed && evidence.marksTakenBack.includes(task.id);
  // The plan beside a prompt is the agent's to tick.
  const isTicked = evidence.isPlanTicked === true && (is === "none" || is === "unfinished");
  return is === "complete" || is === "already-done" || isMarked || isTicked;
}

function isSinglePass({ task, settings, stage }: CaseContext): boolean {
  return task?.loops === false || !stageOf(settings, task, stage).loops;
}

/** A claim that a stop kept from being checked is no verdict on the agent. */
function uncheckedBecauseStopped(run: RunState, phase: JudgeablePhase, claimed: boolean): Verdict | null {
  if (!claimed || run.stop !== "now") return null;
  const { gates, oldChecks, evidence } = phase;
  const lacksOldChecks = oldChecks === null && wantsOldChecks(run, evidence);
  const isUnchecked =
    run.settings.gates.length > 0 && (gates === null || (lacksOldChecks && allRequiredPassed(gates)));
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
