import { allGuards, findingsOf, hardGuards } from "../guards/all-guards.ts";
import type { Finding, GuardContext } from "../guards/guard.ts";
import { CONFIDENT, type ExitSignal } from "../limits/exit-rules.ts";
import type { AgentReport } from "../report/agent-report.ts";
import type { Evidence } from "../report/evidence.ts";
import { redGates, type CheckedGate } from "../report/checked-gate.ts";
import { storyObjection, storySignal } from "../review/story-claim.ts";
import { reviewOf } from "../review/story-cycle.ts";
import { objectionIn, stageOf } from "../stages/stages.ts";
import { judge } from "../verdict/judge.ts";
import type { Reason, Verdict } from "../verdict/verdict.ts";
import { taskState, type OpenIteration, type Phase, type RunState, type State } from "./state.ts";

export type JudgeablePhase = Extract<Phase, { is: "observed" | "checked" }>;

/** Whether gates have something to decide in this iteration: a hard guard's objection spares them. */
export function needsGates(
  state: State,
  run: RunState,
  open: OpenIteration,
  phase: Extract<Phase, { is: "observed" }>,
): boolean {
  if (run.settings.gates.length === 0 || run.stop === "now") return false;
  const { report } = phase;
  if (wasCutOff(report)) return false;
  if (run.settings.gatesEveryIteration || (isOpenEnded(run) && mayEnd(report, phase.evidence))) return true;
  const context = contextOf(state, run, open, phase);
  if (!claimsCompletion(context)) return false;
  return !findingsOf(hardGuards(context), context, true).some(({ rejects }) => rejects);
}

/** Whether the agent claims completion, in whatever form; plugins are asked about claims. */
export function isClaimed(state: State, run: RunState, open: OpenIteration, phase: JudgeablePhase): boolean {
  return claimsCompletion(contextOf(state, run, open, phase));
}

function mayEnd(report: AgentReport, { plugins }: Evidence): boolean {
  return isConfident(report) || (plugins?.exits ?? []).some(({ ends }) => ends === "complete");
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly claimed: boolean;
  readonly findings: readonly Finding[];
  readonly gates: readonly CheckedGate[] | null;
  readonly context: GuardContext;
  /** What a later stage wants changed. */
  readonly objection: string | null;
}

export function judgeIteration(
  state: State,
  run: RunState,
  open: OpenIteration,
  phase: JudgeablePhase,
): Judgement {
  const { report } = phase;
  const context = contextOf(state, run, open, phase);
  const { gates } = context;
  const objection = objectionOf(context);
  const claimed = claimsCompletion(context);
  const findings = findingsOf(allGuards(context), context, claimed);
  const ruled =
    uncheckedBecauseStopped(run, phase, claimed) ?? judge({ report, claimed, objection, findings, gates });
  const verdict = { ...ruled, reasons: [...ruled.reasons, ...exitReasons(context)] };
  return { verdict, claimed, findings, gates, context, objection };
}

/** Somebody else ended it: it says nothing about the agent. */
export function wasCutOff(report: AgentReport): boolean {
  return report.ending.is === "interrupted" || report.ending.is === "stopped";
}

/** A source without a list of tasks: only the exit rules end it. */
export function isOpenEnded(run: RunState): boolean {
  return run.settings.source.kind === "prompt";
}

export function exitSignalOf(open: OpenIteration, phase: JudgeablePhase, { ruling }: Verdict): ExitSignal {
  const { report, evidence } = phase;
  const isGreen = phase.is !== "checked" || redGates(phase.gates).length === 0;
  const isProven = evidence.changed.files > 0 && isGreen;
  return {
    iteration: open.number,
    done: ruling === "accepted" || (isConfident(report) && isProven && report.failure === null),
    testOnly: report.signals?.isTestOnly ?? false,
    indicator:
      report.claim.is === "complete" || (report.claim.is === "none" && (report.signals?.confidence ?? 0) > 0),
  };
}

function contextOf(
  state: State,
  run: RunState,
  { task: id, stage }: OpenIteration,
  phase: JudgeablePhase,
): GuardContext {
  const { report, evidence } = phase;
  const { iterations, stuckCount } = taskState(state, id);
  return {
    task: state.plan?.tasks.find((planned) => planned.id === id),
    stage,
    hasWorkedBefore: stuckCount < iterations - 1,
    report,
    evidence,
    settings: run.settings,
    gates: phase.is === "checked" ? phase.gates : null,
  };
}

/** What exit rules of plugins said, for whoever asks why. */
function exitReasons({ evidence }: GuardContext): readonly Reason[] {
  return (evidence.plugins?.exits ?? []).map(({ rule, because }) => ({ rule, sentence: because }));
}

function objectionOf(context: GuardContext): string | null {
  const { report, task, stage, settings } = context;
  return reviewOf(settings, task) === null ? objectionIn(report, settings, stage) : storyObjection(context);
}

/** A single attempt needs no promise: that it ended well is its claim. */
function claimsCompletion(context: GuardContext): boolean {
  const { report, task, stage, settings } = context;
  if (report.failure !== null || wasCutOff(report) || objectionOf(context) !== null) return false;
  if (reviewOf(settings, task) !== null) return storySignal(context) !== null;
  const isSinglePass = task?.loops === false || !stageOf(settings, task, stage).loops;
  if (isSinglePass) return report.claim.is !== "blocked" && report.claim.is !== "undecided";
  return report.claim.is === "complete" || claimsByMark(context);
}

/** Where the review is skipped, the agent may set the mark itself; it counts if the claim does. */
function claimsByMark({ task, evidence, settings }: GuardContext): boolean {
  if (settings.skipReview !== true || task?.review === undefined) return false;
  return evidence.marksTakenBack.includes(task.id);
}

/** A claim whose gates were cut off by a stop has not been checked: it is no verdict on the agent. */
function uncheckedBecauseStopped(run: RunState, phase: JudgeablePhase, claimed: boolean): Verdict | null {
  if (!claimed || run.stop !== "now" || phase.is === "checked" || run.settings.gates.length === 0)
    return null;
  return {
    ruling: "continue",
    reasons: [{ rule: "stopped", sentence: "stopped before the gates could check the claim" }],
  };
}

/** Sure of completion: a status block that says there is more to do is sure as well, of the opposite. */
function isConfident({ claim, signals }: AgentReport): boolean {
  const speaksOfEnd = claim.is === "complete" || claim.is === "none";
  return speaksOfEnd && (signals?.confidence ?? 0) >= CONFIDENT;
}
