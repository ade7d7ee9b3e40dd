import type { Event, EventOf } from "../events.ts";
import { corrections } from "./corrections.ts";
import { EXHAUSTED_RUNS_MAX, retryAt, iterationLimit } from "./iteration-timeout.ts";
import { averageCost, dollars, exitRule, nextMove, withoutProgress, wouldPass } from "./brakes.ts";
import { wasCutOff, type Failure } from "../streams/agent-report.ts";
import { madeProgress } from "../verdict/evidence.ts";
import { withEdits, editsBack, editsBySignal, reviewCapOf, reviewOf } from "../review/story-review.ts";
import { isReading, stageAfter, stageBefore, stageOf, promiseFor } from "./stages.ts";
import type { Instant } from "../time.ts";
import { certify, type Certificate } from "../verdict/certificate.ts";
import type { Verdict } from "../verdict/verdict.ts";
import { DEADLINE_MAX_MS } from "./outcome.ts";
import { acceptanceQuestion, approvalQuestion } from "./task-status.ts";
import { evolveWith } from "./evolve.ts";
import {
  exitSignalOf,
  judgeIteration,
  pluginExit,
  type Judgement,
  type JudgeablePhase,
} from "./judge-iteration.ts";
import { baseCommit, taskState, type OpenIteration, type RunState, type State } from "../state.ts";
import { steersUsed } from "./steer.ts";
import { escalationOf, type Correction } from "./intervention.ts";

/** An iteration that was judged, in the state from which the next consequence follows. */
interface Judged extends Judgement {
  readonly state: State;
  readonly run: RunState;
  readonly open: OpenIteration;
  readonly about: { readonly run: string; readonly task: string; readonly iteration: number };
  readonly now: Instant;
}

/** The verdict on an iteration and everything that follows from it, recorded together. */
export function conclude(
  state: State,
  run: RunState,
  open: OpenIteration,
  phase: JudgeablePhase,
  now: Instant,
): readonly Event[] {
  const judgement = judgeIteration(state, run, open, phase);
  const { verdict, objection, context } = judgement;
  const { report, evidence, task } = context;
  const known = taskState(state, open.task);
  const about = { run: open.run, task: open.task, iteration: open.number };
  const turnedGreen = (judgement.gates ?? [])
    .filter((gate) => gate.status === "passed" && known.failingGates.includes(gate.name))
    .map((gate) => gate.name);
  const reached: EventOf<"verdict.reached"> = {
    ...about,
    type: "verdict.reached",
    verdict: verdict.ruling,
    reasons: verdict.reasons,
    concerns: verdict.concerns,
    // To find what is wrong is what a later stage is for.
    madeProgress: madeProgress(evidence, turnedGreen) || objection !== null,
    retryAt: whenToTryAgain(report.failure, run, open, now),
    exitSignal: judgement.isOpenEnded ? exitSignalOf(open, phase, verdict) : null,
  };
  const promise = promiseFor(task, run.settings, stageOf(run.settings, task, open.stage));
  const base = baseCommit(state, open.task);
  const told = corrections({ ...context, ...judgement, base, promiseTag: `<promise>${promise}</promise>` });
  const used = steersUsed(state.steers, open, report);
  const judged = [reached, ...used, ...interventionEvents(run, open, told)];
  const after = (events: readonly Event[]): Judged => ({
    ...judgement,
    run,
    open,
    about,
    now,
    state: evolveWith(state, events, now),
  });
  const events = [...judged, ...escalate(after(judged))];
  // A block by escalation settles the task: no other brake is asked.
  const isHandled = events.some(({ type }) => type === "task.blocked");
  const consequences = isHandled ? [] : taskConsequences(after(events));
  const all = [...events, ...consequences, ...settled(after([]))];
  const isProgress = reached.madeProgress || verdict.ruling === "accepted";
  // The head of a task's own branch says nothing of what a person does on the base.
  const head = known.worktree === null ? evidence.headAfter : null;
  const { breaker } = after(all).state;
  const move = nextMove(breaker, run.settings.breaker, isProgress);
  if (move === null) return all;
  return [...all, { type: "breaker.moved", run: run.id, from: breaker.position, ...move, head }];
}

function whenToTryAgain(
  failure: Failure | null,
  run: RunState,
  { number }: OpenIteration,
  now: Instant,
): Instant | null {
  if (failure?.class === "transient") return retryAt(now, run.transientInARow + 1, number);
  if (failure?.class !== "limit") return null;
  const { resetsAt = null } = failure;
  const isLikely = resetsAt !== null && resetsAt > now - JUST_PASSED_MS && resetsAt < now + LONGEST_LIMIT_MS;
  return Math.max(isLikely ? resetsAt : now + UNKNOWN_LIMIT_MS, now + SHORTEST_WAIT_MS);
}

/** A limit that does not say how long it lasts is asked again after this. */
export const UNKNOWN_LIMIT_MS = 15 * 60_000;
/** A moment further back or ahead is a mistake: nobody knows then how long it lasts. */
const JUST_PASSED_MS = 2 * 60_000;
const LONGEST_LIMIT_MS = 40 * 24 * 60 * 60_000;
/** Services name whole seconds or minutes, and sometimes a moment that has just passed. */
const SHORTEST_WAIT_MS = 5_000;

function taskConsequences(judged: Judged): readonly Event[] {
  const { state, run, open, about, verdict, context, now } = judged;
  const { report, evidence, task } = context;
  const isAccepted = verdict.ruling === "accepted";
  if (judged.isOpenEnded) {
    const rule = exitRule(taskState(state, open.task).exitSignals);
    const asked = pluginExit(judged);
    const isTicked = isAccepted && evidence.isPlanTicked === true;
    if (rule === "complete" || isTicked || asked?.ends === "complete") return [completed(judged)];
    if (asked !== null || rule === "only-tests") {
      const reason = asked?.because ?? "three iterations in a row only ran tests";
      return [{ ...about, type: "task.failed", reason, stage: open.stage, lastOutput: report.finalText }];
    }
  } else if (isAccepted) return passed(judged);
  if (judged.objection !== null) return objected(judged, judged.objection);
  if (verdict.ruling === "blocked") {
    const reason = report.claim.is === "blocked" ? report.claim.reason : reasonsOf(verdict);
    return [{ ...about, type: "task.blocked", reason }];
  }
  const brake = brakeOnTask(judged);
  if (verdict.ruling === "decide") {
    if (report.claim.is !== "undecided")
      return [acceptanceQuestion(run, open, judged, certificateOf(judged))];
    const isCircling = taskState(state, open.task).tookDefault;
    if (brake !== null && isCircling) return [{ ...about, type: "task.blocked", ...brake }];
    const { question, options, default: answer = null, deadlineMs = null } = report.claim;
    const deadlineAt = deadlineMs === null ? null : now + Math.min(deadlineMs, DEADLINE_MAX_MS);
    const asked = { type: "question.asked", question, options, default: answer, deadlineAt } as const;
    return [{ ...about, ...asked }, ...exhaustion(judged)];
  }
  if (!stageOf(run.settings, task, open.stage).loops || task?.loops === false) return failedAttempt(judged);
  return brake === null ? exhaustion(judged) : [{ ...about, type: "task.blocked", ...brake }];
}

/** What becomes of its story: a step further if the signal counts, else all stays as it was before. */
function settled(judged: Judged): readonly Event[] {
  const { context, verdict, objection, about } = judged;
  const review = reviewOf(context.settings, context.task);
  if (review === null) return [];
  const isApproved = !isReading(context.settings, judged.open.stage) || !waitsForApproval(judged);
  const counts = (verdict.ruling === "accepted" && isApproved) || objection !== null;
  const edits = counts ? editsBySignal(context) : editsBack(context);
  if (edits.length === 0) return [];
  const to = withEdits(review, edits).reviewStatus;
  return [{ ...about, type: "story.settled", from: review.reviewStatus, to, edits }];
}

/** On to the next stage; the last one completes the task. */
function passed(judged: Judged): readonly Event[] {
  const { run, open, about, context } = judged;
  if (reviewOf(run.settings, context.task) !== null)
    return isReading(run.settings, open.stage) ? [completed(judged)] : [];
  const next = stageAfter(run.settings, open.stage);
  if (next === null) return [completed(judged)];
  return [{ ...about, type: "stage.passed", stage: open.stage, next: next.name }];
}

/** Back to an earlier stage; when it has been back too often, a person decides first how to go on. */
function objected({ state, run, open, about, context }: Judged, findings: string): readonly Event[] {
  // The story itself carries the findings back.
  if (reviewOf(run.settings, context.task) !== null) return [];
  const cap = reviewCapOf(run.settings);
  const to = stageBefore(run.settings, open.stage).name;
  const back: Event = { ...about, type: "stage.objected", stage: open.stage, to, findings };
  if (taskState(state, open.task).rounds < cap) return [back];
  const often = cap === 1 ? "once" : `${cap} times`;
  const question = `The ${open.stage} has sent this back ${often}, and still objects: ${findings} What is to be done?`;
  const asked = { type: "question.asked", question, options: [], default: null, deadlineAt: null } as const;
  return [back, { ...about, ...asked }];
}

/** Done, unless a person is to approve it first. */
function completed(judged: Judged): Event {
  if (waitsForApproval(judged))
    return approvalQuestion(judged.run, judged.open, judged, certificateOf(judged));
  const commit = judged.context.evidence.headAfter;
  return { ...judged.about, type: "task.completed", commit, certificate: certificateOf(judged) };
}

function waitsForApproval({ state, run, open, context }: Judged): boolean {
  const wanted = context.task?.approve ?? run.settings.verify?.approve;
  return wanted === "person" && !taskState(state, open.task).isAgreed;
}

function certificateOf({ state, open, context, verdict, findings }: Judged): Certificate {
  const { workBase, allIterations, spend } = taskState(state, open.task);
  return certify(context, verdict.concerns, findings, {
    agent: open.agent,
    base: workBase?.base ?? null,
    iterations: allIterations,
    costUsd: spend.usd,
  });
}

/** A single attempt has one chance, unless the agent had no part in losing it. */
function failedAttempt({ open, about, verdict, context: { report } }: Judged): readonly Event[] {
  const isAgents = report.failure === null || report.failure.class === "agent";
  if (wasCutOff(report) || !isAgents) return [];
  const said = { stage: open.stage, lastOutput: report.finalText };
  return [{ ...about, type: "task.failed", reason: reasonsOf(verdict), ...said }];
}

function brakeOnTask({
  state,
  run,
  open,
  verdict,
}: Judged): Pick<EventOf<"task.blocked">, "reason" | "isStuck"> | null {
  const task = taskState(state, open.task);
  const { limits, breaker, keepGoing } = run.settings;
  const { maxAttempts, maxStuck, budget } = limits;
  const spentUsd = task.spend.usd ?? 0;
  if (budget.task !== null && wouldPass(spentUsd, averageCost(task.spend) ?? 0, budget.task))
    return {
      reason: `one more iteration would pass the ${dollars(budget.task)} that a task may cost: ${dollars(spentUsd)} are spent`,
    };
  const isReached = (most: number, count: number): boolean => most > 0 && count >= most;
  const isStuck = isReached(maxStuck, task.stuckCount) || isReached(breaker.noProgress, task.stuckCount);
  if (keepGoing && isStuck) return { reason: withoutProgress(task.stuckCount), isStuck: true };
  // Where the lack of progress ends the whole run, the task is left as it is.
  const isRunStuck =
    isReached(maxStuck, state.run?.stuckCount ?? 0) ||
    isReached(breaker.noProgress, state.breaker.noProgress);
  const failures = !keepGoing && isRunStuck ? task.attempts : task.failures;
  if (maxAttempts === 0 || Math.max(failures, task.attempts) < maxAttempts) return null;
  const many = failures === 1 ? "1 failed iteration" : `${failures} failed iterations in a row`;
  const last = verdict.reasons[0]?.sentence;
  return { reason: last === undefined ? many : `${many}; the last: ${last}` };
}

function reasonsOf({ reasons }: Verdict): string {
  return reasons.map(({ sentence }) => sentence).join("; ");
}

function exhaustion({ state, run, open, about, verdict, context }: Judged): readonly Event[] {
  const { task, report } = context;
  const { iterations, exhaustedRuns } = taskState(state, open.task);
  const stage = stageOf(run.settings, task, open.stage);
  if (task === undefined || iterations < iterationLimit(state, task, run.settings, stage)) return [];
  const many = iterations === 1 ? "its 1 iteration is" : `its ${iterations} iterations are`;
  const reason = `${many} used up; the last one: ${reasonsOf(verdict)}`;
  const said = { stage: open.stage, lastOutput: report.finalText };
  const exhausted: Event = { ...about, type: "task.exhausted", iterations, reason, ...said };
  const runs = exhaustedRuns + 1;
  if (runs < EXHAUSTED_RUNS_MAX) return [exhausted];
  const why = `its iteration limit was used up in ${runs} runs`;
  return [exhausted, { ...about, type: "task.blocked", reason: why }];
}

/** More of a gate's output than a prompt ever shows. */
const OUTPUT_KEPT = 4_000;

export function interventionEvents(
  run: RunState,
  open: OpenIteration,
  told: readonly Correction[],
  { isFedBack = run.settings.interventions.enabled, leads = false } = {},
): readonly Event[] {
  const { phase, number: iteration, agent } = open;
  const report = "report" in phase ? phase.report : null;
  const details = {
    returnCode: report?.ending.is === "exited" ? report.ending.code : null,
    claimedCompletion: report?.claim.is === "complete",
    filesWritten: "evidence" in phase ? phase.evidence.changed.files : 0,
    evidenceCount: report?.signals?.citations.length ?? 0,
  };
  return told.map(({ intervention, severity, rule, text, output }): Event => {
    const feedback = { iteration, text, ...(output !== undefined && { output: output.slice(-OUTPUT_KEPT) }) };
    const about = { run: open.run, task: open.task, iteration, agent };
    const chosen = { intervention, severity, rule, feedback, details, isFedBack, leads };
    return { type: "intervention.chosen", ...about, ...chosen };
  });
}

/** What follows when an agent does the same wrong thing again and again. */
function escalate({ state, run, open, about, context }: Judged): readonly Event[] {
  const { interventions, fallbackAgents } = run.settings;
  const { watched, suspended } = taskState(state, open.task);
  const escalation = escalationOf(watched, interventions);
  if (escalation === null || context.task?.loops === false) return [];
  const { what, times } = escalation;
  const often = times === 1 ? "once" : times === 2 ? "twice" : `${times} times`;
  const why = `${what}, ${often} in the last ${interventions.window} iterations of this task`;
  if (escalation.to === "reinforce")
    return interventionEvents(run, open, [reinforcement(times, why)], { leads: true });
  const { agent } = open;
  const successor = fallbackAgents.find((name) => name !== agent && !suspended.includes(name)) ?? null;
  const suspension: Event = { ...about, type: "agent.suspended", agent, successor, why };
  if (successor !== null) return [suspension];
  const reason = `the agent ${agent} was suspended for manual review: ${why}`;
  return [suspension, { ...about, type: "task.blocked", reason }];
}

function reinforcement(times: number, why: string): Correction {
  const again = times === 1 ? "This must not happen again" : "It happened again";
  const last = times === 1 ? "" : " Once more, and you are taken off this task.";
  const text = `${again}: ${why}. See your change in \`git status\` before you claim; never make an edit only to have one.${last}`;
  return { intervention: "agent_reinforced", severity: "critical", rule: "threshold", text };
}
