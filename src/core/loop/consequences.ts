import type { Event, EventOf, Recorded } from "../events.ts";
import { corrections } from "../interventions/corrections.ts";
import { EXHAUSTED_RUNS_MAX, retryAt } from "../limits/iteration-timeout.ts";
import { withoutProgress } from "../limits/breaker.ts";
import { dollars } from "../limits/budget.ts";
import { exitRule } from "../limits/exit-rules.ts";
import type { Task, TaskId } from "../plan/task.ts";
import type { Claim, Failure } from "../report/agent-report.ts";
import { madeProgress } from "../report/evidence.ts";
import { withEdits, editsBack, editsBySignal, reviewCapOf, reviewOf } from "../review/story-review.ts";
import { isReading, stageAfter, stageBefore, stageOf } from "../stages/stages.ts";
import type { Instant } from "../time.ts";
import { certify, type Certificate } from "../verdict/certificate.ts";
import type { Verdict } from "../verdict/verdict.ts";
import { breakerMoves } from "./brakes.ts";
import { acceptanceQuestion } from "./task-status.ts";
import { evolveAll } from "./evolve.ts";
import {
  exitSignalOf,
  isOpenEnded,
  judgeIteration,
  wasCutOff,
  type Judgement,
  type JudgeablePhase,
  pluginExit,
} from "./judge-iteration.ts";
import { iterationLimit, promiseFor } from "./agent-for.ts";
import { DEADLINE_MAX_MS } from "./outcome.ts";
import { taskState, workBase, type OpenIteration, type RunState, type State } from "./state.ts";
import { steersUsed } from "./steer.ts";
import {
  type Correction,
  type InterventionDetails,
  escalationOf,
  type Escalation,
} from "../interventions/intervention.ts";

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
  const judgement = judgeIteration(state, run, open, phase);
  const { verdict, claimed, findings, gates, objection } = judgement;
  const about = { run: open.run, task: open.task, iteration: open.number };
  const failing = taskState(state, open.task).failingGates;
  const turnedGreen = (gates ?? [])
    .filter((gate) => gate.status === "passed" && failing.includes(gate.name))
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
    exitSignal: isOpenEnded(run) ? exitSignalOf(open, phase, verdict) : null,
  };
  const promise = promiseFor(task, run.settings, stageOf(run.settings, task, open.stage));
  const told = corrections({
    task: open.task,
    stage: open.stage,
    iteration: open.number,
    verdict,
    claimed,
    objection,
    report,
    evidence,
    findings,
    gates,
    isOpenEnded: isOpenEnded(run) && evidence.isPlanTicked !== true,
    challenged: taskState(state, open.task).challenged,
    context: judgement.context,
    base: workBase(state, open.task),
    promiseTag: `<promise>${promise}</promise>`,
  });
  const used = steersUsed(state.steers, open, report);
  const judged = [reached, ...used, ...interventionEvents(run, open, told)];
  const escalated = escalate(after(state, judged, now), run, open, task);
  const events = [...judged, ...escalated.events];
  const consequences = escalated.isHandled
    ? []
    : taskConsequences(after(state, events, now), run, open, judgement, phase, now);
  const all = [...events, ...consequences, ...settled(open, judgement)];
  const isProgress = reached.madeProgress || verdict.ruling === "accepted";
  // The head of a task's own branch says nothing of what a person does on the base.
  const head = taskState(state, open.task).worktree === null ? evidence.headAfter : null;
  return [...all, ...breakerMoves(after(state, all, now), run, isProgress, head)];
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
const UNKNOWN_LIMIT_MS = 15 * 60_000;
/** A moment further back or ahead is a mistake: nobody knows then how long it lasts. */
const JUST_PASSED_MS = 2 * 60_000;
const LONGEST_LIMIT_MS = 40 * 24 * 60 * 60_000;
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
  now: Instant,
): readonly Event[] {
  const about = { run: open.run, task: open.task, iteration: open.number };
  const { report } = phase;
  const { verdict } = judgement;
  if (isOpenEnded(run)) {
    const rule = exitRule(taskState(state, open.task).exitSignals);
    const isTicked = verdict.ruling === "accepted" && phase.evidence.isPlanTicked === true;
    if (rule === "complete" || isTicked) return [completion(state, open, judgement)];
    const asked = pluginExit(judgement);
    if (asked?.ends === "complete") return [completion(state, open, judgement)];
    if (asked !== null || rule === "only-tests") {
      const reason = asked?.because ?? "three iterations in a row only ran tests";
      return [{ ...about, type: "task.failed", reason, stage: open.stage, lastOutput: report.finalText }];
    }
  } else if (verdict.ruling === "accepted") return passed(state, run, open, judgement);
  if (judgement.objection !== null) return objected(state, run, open, judgement);
  if (verdict.ruling === "blocked") {
    const reason = report.claim.is === "blocked" ? report.claim.reason : reasonsOf(verdict);
    return [{ ...about, type: "task.blocked", reason }];
  }
  if (verdict.ruling === "decide") {
    if (report.claim.is !== "undecided")
      return [acceptanceQuestion(run, open, judgement, certificateOf(state, open, judgement))];
    const isCircling = taskState(state, open.task).tookDefault;
    const brake = isCircling ? brakeOnTask(state, run, open.task) : null;
    if (brake !== null) return [{ ...about, type: "task.blocked", ...brake }];
    const asked = questionIn(report.claim, now);
    return [{ ...about, ...asked }, ...exhaustion(state, run, open, verdict, phase)];
  }
  const task = planned(state, open.task);
  if (!stageOf(run.settings, task, open.stage).loops || task?.loops === false)
    return failedAttempt(open, verdict, phase);
  const blockedBy = brakeOnTask(state, run, open.task);
  if (blockedBy !== null) return [{ ...about, type: "task.blocked", ...blockedBy }];
  return exhaustion(state, run, open, verdict, phase);
}

/** What becomes of its story: a step further if the signal counts, else all stays as it was before. */
function settled(open: OpenIteration, { context, verdict, objection }: Judgement): readonly Event[] {
  const review = reviewOf(context.settings, context.task);
  if (review === null) return [];
  const counts = verdict.ruling === "accepted" || objection !== null;
  const edits = counts ? editsBySignal(context) : editsBack(context);
  if (edits.length === 0) return [];
  const about = { run: open.run, task: open.task, iteration: open.number };
  const from = review.reviewStatus;
  const to = withEdits(review, edits).reviewStatus;
  return [{ ...about, type: "story.settled", from, to, edits }];
}

/** On to the next stage; the last one completes the task. */
function passed(state: State, run: RunState, open: OpenIteration, judgement: Judgement): readonly Event[] {
  if (reviewOf(run.settings, judgement.context.task) !== null)
    return isReading(run.settings, open.stage) ? [completion(state, open, judgement)] : [];
  const next = stageAfter(run.settings, open.stage);
  if (next === null) return [completion(state, open, judgement)];
  const about = { run: open.run, task: open.task, iteration: open.number };
  return [{ ...about, type: "stage.passed", stage: open.stage, next: next.name }];
}

/** Back to the first stage; when it has been back too often, a person decides first how to go on. */
function objected(
  state: State,
  run: RunState,
  open: OpenIteration,
  { context, objection: findings }: Judgement,
): readonly Event[] {
  // The story itself carries the findings back.
  if (reviewOf(run.settings, context.task) !== null || findings === null) return [];
  const about = { run: open.run, task: open.task, iteration: open.number };
  const cap = reviewCapOf(run.settings);
  const to = stageBefore(run.settings, open.stage).name;
  const back: Event = { ...about, type: "stage.objected", stage: open.stage, to, findings };
  if (taskState(state, open.task).rounds < cap) return [back];
  const times = cap === 1 ? "once" : `${cap} times`;
  const question = `The ${open.stage} has sent this back ${times}, and still objects: ${findings} What is to be done?`;
  const asked = { type: "question.asked", question, options: [], default: null, deadlineAt: null } as const;
  return [back, { ...about, ...asked }];
}

function questionIn(
  { question, options, default: answer = null, deadlineMs = null }: Extract<Claim, { is: "undecided" }>,
  now: Instant,
) {
  const deadlineAt = deadlineMs === null ? null : now + Math.min(deadlineMs, DEADLINE_MAX_MS);
  return { type: "question.asked", question, options, default: answer, deadlineAt } as const;
}

function completion(state: State, open: OpenIteration, judgement: Judgement): Event {
  const about = { run: open.run, task: open.task, iteration: open.number };
  const commit = judgement.context.evidence.headAfter;
  return { ...about, type: "task.completed", commit, certificate: certificateOf(state, open, judgement) };
}

function certificateOf(state: State, open: OpenIteration, judgement: Judgement): Certificate {
  const { footing, allIterations, spend } = taskState(state, open.task);
  const about = {
    agent: open.agent,
    base: footing?.base ?? null,
    iterations: allIterations,
    costUsd: spend.usd,
  };
  return certify(judgement.context, judgement.verdict.concerns, judgement.findings, about);
}

/** A single attempt has one chance, unless the agent had no part in losing it. */
function failedAttempt(open: OpenIteration, verdict: Verdict, { report }: JudgeablePhase): readonly Event[] {
  const isAgents = report.failure === null || report.failure.class === "agent";
  if (wasCutOff(report) || !isAgents) return [];
  const about = { run: open.run, task: open.task, iteration: open.number };
  const said = { stage: open.stage, lastOutput: report.finalText };
  return [{ ...about, type: "task.failed", reason: reasonsOf(verdict), ...said }];
}

type Block = Pick<EventOf<"task.blocked">, "reason" | "isStuck">;

function brakeOnTask(state: State, run: RunState, id: TaskId): Block | null {
  const task = taskState(state, id);
  const { limits, breaker, keepGoing } = run.settings;
  const { maxAttempts, maxStuck, budget } = limits;
  if (budget.task !== null && (task.spend.usd ?? 0) >= budget.task)
    return {
      reason: `it has cost ${dollars(task.spend.usd ?? 0)}, and a task may cost ${dollars(budget.task)}`,
    };
  const failures = stopsRun(state, run) ? task.attempts : task.failures;
  const isStuck = [maxStuck, breaker.noProgress].some((most) => most > 0 && task.stuckCount >= most);
  if (keepGoing && isStuck) return { reason: withoutProgress(task.stuckCount), isStuck: true };
  if (maxAttempts === 0 || Math.max(failures, task.attempts) < maxAttempts) return null;
  return { reason: failures === 1 ? "1 failed iteration" : `${failures} failed iterations in a row` };
}

/** Where the lack of progress ends the whole run, the task is left as it is. */
function stopsRun({ breaker, run: now }: State, { settings }: RunState): boolean {
  const { limits, breaker: brake, keepGoing } = settings;
  const isStuck = limits.maxStuck > 0 && (now?.stuckCount ?? 0) >= limits.maxStuck;
  const opens = brake.noProgress > 0 && breaker.noProgress >= brake.noProgress;
  return !keepGoing && (isStuck || opens);
}

function reasonsOf({ reasons }: Verdict): string {
  return reasons.map(({ sentence }) => sentence).join("; ");
}

function exhaustion(
  state: State,
  run: RunState,
  open: OpenIteration,
  verdict: Verdict,
  { report }: JudgeablePhase,
): readonly Event[] {
  const task = planned(state, open.task);
  const used = taskState(state, open.task).iterations;
  const stage = stageOf(run.settings, task, open.stage);
  if (task === undefined || used < iterationLimit(state, task, run.settings, stage)) return [];
  const about = { run: open.run, task: open.task, iteration: open.number };
  const many = used === 1 ? "its 1 iteration is" : `its ${used} iterations are`;
  const reason = `${many} used up; the last one: ${reasonsOf(verdict)}`;
  const said = { stage: open.stage, lastOutput: report.finalText };
  const exhausted: Event = { ...about, type: "task.exhausted", iterations: used, reason, ...said };
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

/** More of a gate's output than a prompt ever shows. */
const OUTPUT_KEPT = 4_000;

export function interventionEvents(
  run: RunState,
  open: OpenIteration,
  told: readonly Correction[],
  { isFedBack = run.settings.interventions.enabled, leads = false } = {},
): readonly Event[] {
  return told.map(({ intervention, severity, rule, text, output }): Event => ({
    type: "intervention.chosen",
    run: open.run,
    task: open.task,
    iteration: open.number,
    agent: open.agent,
    intervention,
    severity,
    rule,
    feedback: {
      iteration: open.number,
      text,
      ...(output !== undefined && { output: output.slice(-OUTPUT_KEPT) }),
    },
    details: detailsOf(open),
    isFedBack,
    leads,
  }));
}

function detailsOf({ phase }: OpenIteration): InterventionDetails {
  const report = "report" in phase ? phase.report : null;
  return {
    returnCode: report?.ending.is === "exited" ? report.ending.code : null,
    claimedCompletion: report?.claim.is === "complete",
    filesWritten: "evidence" in phase ? phase.evidence.changed.files : 0,
    evidenceCount: report?.signals?.citations.length ?? 0,
  };
}

export interface Escalated {
  readonly events: readonly Event[];
  /** The task is settled by it: no other brake is asked. */
  readonly isHandled: boolean;
}

/** What follows when an agent does the same wrong thing again and again; `state` is the one after the verdict. */
function escalate(state: State, run: RunState, open: OpenIteration, task: Task | undefined): Escalated {
  const { interventions } = run.settings;
  const escalation = escalationOf(taskState(state, open.task).watched, interventions);
  if (escalation === null || task?.loops === false) return { events: [], isHandled: false };
  const words = `${escalation.what}, ${times(escalation.times)} in the last ${interventions.window} iterations of this task`;
  if (escalation.to === "suspend") return suspension(state, run, open, words);
  return {
    events: interventionEvents(run, open, [reinforcement(escalation, words)], { leads: true }),
    isHandled: false,
  };
}

function reinforcement({ times: count }: Escalation, words: string): Correction {
  const again = count === 1 ? "This must not happen again" : "It happened again";
  const last = count === 1 ? "" : " Once more, and you are taken off this task.";
  const text = `${again}: ${words}. See your change in \`git status\` before you claim; never make an edit only to have one.${last}`;
  return { intervention: "agent_reinforced", severity: "critical", rule: "threshold", text };
}

function suspension(state: State, run: RunState, open: OpenIteration, words: string): Escalated {
  const about = { run: open.run, task: open.task, iteration: open.number };
  const { suspended } = taskState(state, open.task);
  const successor =
    run.settings.fallbackAgents.find((name) => name !== open.agent && !suspended.includes(name)) ?? null;
  const suspendedEvent: Event = {
    ...about,
    type: "agent.suspended",
    agent: open.agent,
    successor,
    why: words,
  };
  if (successor !== null) return { events: [suspendedEvent], isHandled: false };
  const reason = `the agent ${open.agent} was suspended for manual review: ${words}`;
  return { events: [suspendedEvent, { ...about, type: "task.blocked", reason }], isHandled: true };
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}
