import { guardsAsked } from "../guards/all-guards.ts";
import type { Event, Recorded } from "../events.ts";
import { corrections } from "../interventions/corrections.ts";
import { retryAt } from "../limits/backoff.ts";
import { exitRule } from "../limits/exit-rules.ts";
import { EXHAUSTED_RUNS_MAX, maxIterationsOf } from "../limits/iteration-limits.ts";
import type { Task, TaskId } from "../plan/task.ts";
import type { Failure } from "../report/agent-report.ts";
import { outcomeOf } from "../report/checked-gate.ts";
import { madeProgress } from "../report/evidence.ts";
import type { Instant } from "../time.ts";
import type { Certificate } from "../verdict/certificate.ts";
import type { Verdict } from "../verdict/verdict.ts";
import { escalate, interventionEvents } from "./escalate.ts";
import { evolveAll } from "./evolve.ts";
import {
  exitSignalOf,
  isOpenEnded,
  judgeIteration,
  wasCutOff,
  type Judgement,
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
  const judgement = judgeIteration(run, task, phase);
  const { verdict, claimed, findings, gates } = judgement;
  const about = { run: open.run, task: open.task, iteration: open.number };
  const failing = taskState(state, open.task).failingGates;
  const turnedGreen = (gates ?? [])
    .filter((gate) => gate.status === "passed" && failing.includes(gate.name))
    .map((gate) => gate.name);
  const reached: Event = {
    ...about,
    type: "verdict.reached",
    verdict: verdict.ruling,
    reasons: verdict.reasons,
    madeProgress: madeProgress(evidence, turnedGreen),
    retryAt: whenToTryAgain(report.failure, run, open, now),
    exitSignal: isOpenEnded(run) ? exitSignalOf(open, phase, verdict) : null,
  };
  const promise = task?.promise ?? run.settings.promise.completion;
  const told = corrections({
    task: open.task,
    iteration: open.number,
    verdict,
    claimed,
    report,
    evidence,
    findings,
    gates,
    isOpenEnded: isOpenEnded(run),
    promiseTag: `<promise>${promise}</promise>`,
  });
  const judged = [reached, ...interventionEvents(run, open, told)];
  const escalated = escalate(after(state, judged, now), run, open, task);
  const events = [...judged, ...escalated.events];
  if (escalated.isHandled) return events;
  return [...events, ...taskConsequences(after(state, events, now), run, open, judgement, phase)];
}

function whenToTryAgain(
  failure: Failure | null,
  run: RunState,
  { number }: OpenIteration,
  now: Instant,
): Instant | null {
  if (failure?.class === "transient") return retryAt(now, run.transientInARow + 1, number);
  if (failure?.class !== "limit") return null;
  return Math.max(failure.resetsAt ?? now + UNKNOWN_LIMIT_MS, now + SHORTEST_WAIT_MS);
}

/** A limit that does not say how long it lasts is asked again after this. */
const UNKNOWN_LIMIT_MS = 15 * 60_000;
/** Services name whole seconds or minutes, and sometimes a moment that has just passed. */
const SHORTEST_WAIT_MS = 5_000;

/** The state as it will be when these are recorded. */
function after(state: State, events: readonly Event[], now: Instant): State {
  return evolveAll(
    events.map((event): Recorded => ({ ...event, position: state.position, at: now })),
    state,
  );
}

function taskConsequences(
  state: State,
  run: RunState,
  open: OpenIteration,
  judgement: Judgement,
  phase: JudgeablePhase,
): readonly Event[] {
  const about = { run: open.run, task: open.task, iteration: open.number };
  const { report } = phase;
  const { verdict } = judgement;
  if (isOpenEnded(run)) {
    const rule = exitRule(taskState(state, open.task).exitSignals);
    if (rule === "complete") return [completion(state, open, judgement)];
    if (rule === "only-tests") {
      return [{ ...about, type: "task.failed", reason: "three iterations in a row only ran tests" }];
    }
  } else if (verdict.ruling === "accepted") return [completion(state, open, judgement)];
  if (report.claim.is === "blocked" && verdict.ruling === "blocked") {
    return [{ ...about, type: "task.blocked", reason: report.claim.reason }];
  }
  if (report.claim.is === "undecided" && verdict.ruling === "decide") {
    const { question, options } = report.claim;
    const asked: Event = { ...about, type: "question.asked", question, options };
    return [asked, ...exhaustion(state, run, open, report.finalText)];
  }
  if (planned(state, open.task)?.loops === false) return failedAttempt(open, verdict, phase);
  const blockedBy = brakeOnTask(state, run, open.task);
  if (blockedBy !== null) return [{ ...about, type: "task.blocked", reason: blockedBy }];
  return exhaustion(state, run, open, report.finalText);
}

function completion(state: State, open: OpenIteration, { context, findings, gates }: Judgement): Event {
  const { report, evidence } = context;
  const task = taskState(state, open.task);
  const certificate: Certificate = {
    claim: report.claim.is === "complete" ? report.claim.promise : null,
    agent: open.agent,
    base: task.footing?.base ?? null,
    changed: evidence.changedSinceTaskBegan,
    gates: (gates ?? []).map(outcomeOf),
    checks: guardsAsked(context),
    warnings: findings.map(({ sentence }) => sentence),
    iterations: task.iterations,
    costUsd: task.costUsd,
  };
  const about = { run: open.run, task: open.task, iteration: open.number };
  return { ...about, type: "task.completed", commit: evidence.headAfter, certificate };
}

/** A single attempt has one chance, unless the agent had no part in losing it. */
function failedAttempt(open: OpenIteration, verdict: Verdict, { report }: JudgeablePhase): readonly Event[] {
  const isAgents = report.failure === null || report.failure.class === "agent";
  if (wasCutOff(report) || !isAgents) return [];
  const reason = verdict.reasons.map(({ sentence }) => sentence).join("; ");
  return [{ type: "task.failed", run: open.run, task: open.task, iteration: open.number, reason }];
}

function brakeOnTask(state: State, run: RunState, id: TaskId): string | null {
  const task = taskState(state, id);
  const { maxAttempts, maxStuck } = run.settings.limits;
  if (maxAttempts > 0 && task.attempts >= maxAttempts) return `${task.attempts} failed iterations in a row`;
  if (run.settings.keepGoing && maxStuck > 0 && task.stuckCount >= maxStuck) {
    return `no progress in ${task.stuckCount} iterations in a row`;
  }
  return null;
}

function exhaustion(state: State, run: RunState, open: OpenIteration, lastOutput: string): readonly Event[] {
  const task = planned(state, open.task);
  const used = taskState(state, open.task).iterations;
  if (task === undefined || used < maxIterationsOf(task, run.settings)) return [];
  const about = { run: open.run, task: open.task, iteration: open.number };
  const exhausted: Event = { ...about, type: "task.exhausted", iterations: used, lastOutput };
  const runs = taskState(state, open.task).exhaustedRuns + 1;
  if (runs < EXHAUSTED_RUNS_MAX) return [exhausted];
  return [
    exhausted,
    { ...about, type: "task.blocked", reason: `its iteration limit was used up in ${runs} runs` },
  ];
}

function planned(state: State, id: TaskId): Task | undefined {
  return state.plan?.tasks.find((task) => task.id === id);
}
