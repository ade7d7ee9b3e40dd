import type { Event, Recorded } from "../events.ts";
import { hardFindings } from "../guards/hard-guards.ts";
import { retryAt } from "../limits/backoff.ts";
import { EXHAUSTED_RUNS_MAX, maxIterationsOf } from "../limits/iteration-limits.ts";
import type { Task, TaskId } from "../plan/task.ts";
import { madeProgress } from "../report/evidence.ts";
import type { Instant } from "../time.ts";
import { corrections } from "../verdict/corrections.ts";
import { claimsCompletion, judge } from "../verdict/judge.ts";
import type { Verdict } from "../verdict/verdict.ts";
import { evolve } from "./evolve.ts";
import { taskState, type OpenIteration, type Phase, type RunState, type State } from "./state.ts";

type JudgeablePhase = Extract<Phase, { is: "observed" | "checked" }>;

/** Whether gates have something to decide in this iteration: a hard guard's objection spares them. */
export function needsGates(run: RunState, phase: Extract<Phase, { is: "observed" }>): boolean {
  if (run.settings.gates.length === 0 || run.stop === "now") return false;
  const { report, evidence } = phase;
  if (report.ending.is === "interrupted" || report.ending.is === "stopped") return false;
  if (run.settings.gatesEveryIteration) return true;
  return claimsCompletion(report) && hardFindings({ report, evidence, settings: run.settings }).length === 0;
}

/** The verdict on an iteration and everything that follows from it, recorded together. */
export function conclude(
  state: State,
  run: RunState,
  open: OpenIteration,
  phase: JudgeablePhase,
  now: Instant,
): readonly Event[] {
  const { report, evidence } = phase;
  const gates = phase.is === "checked" ? phase.gates : null;
  const findings = claimsCompletion(report) ? hardFindings({ report, evidence, settings: run.settings }) : [];
  const verdict = cutShort(run, phase) ?? judge({ report, findings, gates });
  const about = { run: open.run, task: open.task, iteration: open.number };
  const reached = {
    ...about,
    type: "verdict.reached" as const,
    verdict: verdict.ruling,
    reasons: verdict.reasons,
    madeProgress: madeProgress(evidence),
    retryAt:
      report.failure?.class === "transient" ? retryAt(now, run.transientInARow + 1, open.number) : null,
  };
  const after = evolve(state, { ...reached, position: state.position, at: now } satisfies Recorded);
  const promiseTag = `<promise>${promiseOf(state, run, open.task)}</promise>`;
  const told = corrections({
    iteration: open.number,
    verdict,
    report,
    evidence,
    findings,
    gates,
    promiseTag,
  });
  return [
    reached,
    ...told.map(({ intervention, severity, text }): Event => ({
      ...about,
      type: "intervention.chosen",
      intervention,
      severity,
      feedback: { iteration: open.number, text },
    })),
    ...taskConsequences(after, run, open, verdict, phase),
  ];
}

export function promiseOf(state: State, run: RunState, id: TaskId): string {
  return planned(state, id)?.promise ?? run.settings.promise.completion;
}

/** A claim whose gates were cut off by a stop has not been checked: it is no verdict on the agent. */
function cutShort(run: RunState, phase: JudgeablePhase): Verdict | null {
  if (run.stop !== "now" || phase.is === "checked" || run.settings.gates.length === 0) return null;
  if (!claimsCompletion(phase.report)) return null;
  return {
    ruling: "continue",
    reasons: [{ rule: "stopped", sentence: "stopped before the gates could check the claim" }],
  };
}

function taskConsequences(
  after: State,
  run: RunState,
  open: OpenIteration,
  verdict: Verdict,
  phase: JudgeablePhase,
): readonly Event[] {
  const about = { run: open.run, task: open.task, iteration: open.number };
  const { report, evidence } = phase;
  if (verdict.ruling === "accepted")
    return [{ ...about, type: "task.completed", commit: evidence.headAfter }];
  if (report.claim.is === "blocked" && verdict.ruling === "blocked") {
    return [{ ...about, type: "task.blocked", reason: report.claim.reason }];
  }
  if (report.claim.is === "undecided" && verdict.ruling === "decide") {
    const { question, options } = report.claim;
    return [
      { ...about, type: "question.asked", question, options },
      ...exhaustion(after, run, open, report.finalText),
    ];
  }
  const blockedBy = brakeOnTask(after, run, open.task);
  if (blockedBy !== null) return [{ ...about, type: "task.blocked", reason: blockedBy }];
  return exhaustion(after, run, open, report.finalText);
}

function brakeOnTask(after: State, run: RunState, id: TaskId): string | null {
  const task = taskState(after, id);
  const { maxAttempts, maxStuck } = run.settings.limits;
  if (maxAttempts > 0 && task.attempts >= maxAttempts) return `${task.attempts} failed iterations in a row`;
  if (run.settings.keepGoing && maxStuck > 0 && task.stuckCount >= maxStuck) {
    return `no progress in ${task.stuckCount} iterations in a row`;
  }
  return null;
}

function exhaustion(after: State, run: RunState, open: OpenIteration, lastOutput: string): readonly Event[] {
  const task = planned(after, open.task);
  const used = taskState(after, open.task).iterations;
  if (task === undefined || used < maxIterationsOf(task, run.settings)) return [];
  const about = { run: open.run, task: open.task, iteration: open.number };
  const exhausted: Event = { ...about, type: "task.exhausted", iterations: used, lastOutput };
  const runs = taskState(after, open.task).exhaustedRuns + 1;
  if (runs < EXHAUSTED_RUNS_MAX) return [exhausted];
  return [
    exhausted,
    { ...about, type: "task.blocked", reason: `its iteration limit was used up in ${runs} runs` },
  ];
}

function planned(state: State, id: TaskId): Task | undefined {
  return state.plan?.tasks.find((task) => task.id === id);
}
