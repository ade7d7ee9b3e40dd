import type { Event, Recorded } from "../events.ts";
import { retryAt } from "../limits/backoff.ts";
import { exitRule } from "../limits/exit-rules.ts";
import { EXHAUSTED_RUNS_MAX, maxIterationsOf } from "../limits/iteration-limits.ts";
import type { Task, TaskId } from "../plan/task.ts";
import { madeProgress } from "../report/evidence.ts";
import type { Instant } from "../time.ts";
import { corrections } from "../verdict/corrections.ts";
import type { Verdict } from "../verdict/verdict.ts";
import { evolve } from "./evolve.ts";
import {
  exitSignalOf,
  isOpenEnded,
  judgeIteration,
  wasCutOff,
  type JudgeablePhase,
} from "./judge-iteration.ts";
import { taskState, type OpenIteration, type RunState, type State } from "./state.ts";

/** The verdict on an iteration and everything that follows from it, recorded together. */
export function conclude(
  state: State,
  run: RunState,
  open: OpenIteration,
  phase: JudgeablePhase,
  now: Instant,
): readonly Event[] {
  const { report, evidence } = phase;
  const task = planned(state, open.task);
  const { verdict, findings, gates } = judgeIteration(run, task, phase);
  const about = { run: open.run, task: open.task, iteration: open.number };
  const reached = {
    ...about,
    type: "verdict.reached" as const,
    verdict: verdict.ruling,
    reasons: verdict.reasons,
    madeProgress: madeProgress(evidence),
    retryAt:
      report.failure?.class === "transient" ? retryAt(now, run.transientInARow + 1, open.number) : null,
    exitSignal: isOpenEnded(run) ? exitSignalOf(open, phase, verdict) : null,
  };
  const after = evolve(state, { ...reached, position: state.position, at: now } satisfies Recorded);
  const promise = task?.promise ?? run.settings.promise.completion;
  const told = corrections({
    iteration: open.number,
    verdict,
    report,
    evidence,
    findings,
    gates,
    isOpenEnded: isOpenEnded(run),
    promiseTag: `<promise>${promise}</promise>`,
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

function taskConsequences(
  after: State,
  run: RunState,
  open: OpenIteration,
  verdict: Verdict,
  phase: JudgeablePhase,
): readonly Event[] {
  const about = { run: open.run, task: open.task, iteration: open.number };
  const { report, evidence } = phase;
  const completed: Event = { ...about, type: "task.completed", commit: evidence.headAfter };
  if (isOpenEnded(run)) {
    const rule = exitRule(taskState(after, open.task).exitSignals);
    if (rule === "complete") return [completed];
    if (rule === "only-tests") {
      return [{ ...about, type: "task.failed", reason: "three iterations in a row only ran tests" }];
    }
  } else if (verdict.ruling === "accepted") return [completed];
  if (report.claim.is === "blocked" && verdict.ruling === "blocked") {
    return [{ ...about, type: "task.blocked", reason: report.claim.reason }];
  }
  if (report.claim.is === "undecided" && verdict.ruling === "decide") {
    const { question, options } = report.claim;
    const asked: Event = { ...about, type: "question.asked", question, options };
    return [asked, ...exhaustion(after, run, open, report.finalText)];
  }
  if (planned(after, open.task)?.loops === false) return failedAttempt(open, verdict, phase);
  const blockedBy = brakeOnTask(after, run, open.task);
  if (blockedBy !== null) return [{ ...about, type: "task.blocked", reason: blockedBy }];
  return exhaustion(after, run, open, report.finalText);
}

/** A single attempt has one chance, unless the agent had no part in losing it. */
function failedAttempt(open: OpenIteration, verdict: Verdict, { report }: JudgeablePhase): readonly Event[] {
  const isAgents = report.failure === null || report.failure.class === "agent";
  if (wasCutOff(report) || !isAgents) return [];
  const reason = verdict.reasons.map(({ sentence }) => sentence).join("; ");
  return [{ type: "task.failed", run: open.run, task: open.task, iteration: open.number, reason }];
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
