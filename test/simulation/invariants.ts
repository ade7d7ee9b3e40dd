import type { EventOf, EventType, Recorded } from "../../src/core/events.ts";
import type { Settings } from "../../src/core/settings.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { checkMessages } from "./message-invariants.ts";
import { checkStoryHistory, hasReviewCycle } from "./story-invariants.ts";
import { checkVerdicts } from "./verdict-invariants.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import { taskState } from "../../src/core/state.ts";
import { statusOf } from "../../src/core/loop/task-status.ts";
import { MAIN, type World } from "./world.ts";

/** Compares what was recorded in the end with what is really so. */
export function checkHistory(world: World, facts: DurableFacts, settings: Settings): void {
  const events = facts.all;
  checkNumbers(world, events);
  checkFacts(world, events, settings);
  checkRest(world, events);
}

/** What must hold whoever recorded it, and whether or not the run has ended. */
export function checkFacts(world: World, events: readonly Recorded[], settings: Settings): void {
  checkRuns(world, events);
  checkCompletions(world, events);
  if (hasReviewCycle(world, settings)) checkStoryHistory(world, events);
  else checkStages(world, events, settings);
  checkLimits(world, events, settings);
  checkStuckTasks(world, events, settings);
  // Each stage of a pipeline is an attempt of its own.
  if (settings.stages === undefined) checkSingleAttempts(world, events);
  checkSuspensions(world, events, settings);
  checkMessages(world, events);
  checkAgentLimits(world, events);
  checkCalls(world, events, settings);
  checkBreaker(world, events, settings);
  checkVerdicts(world, events);
  for (const { answer } of of(events, "question.answered")) {
    // A person who answers below a forged line has seen it.
    if (!/this|I looked/.test(answer)) world.violate("an agent's answer was taken for a person's");
  }
}

function checkRest(world: World, events: readonly Recorded[]): void {
  const ended = of(events, "run.ended").at(-1);
  // Whoever asks a run to stop that is over, or tells it something, comes too late.
  const last = events.findLast((event) => !isPersons(event));
  const rested = ended !== undefined && last === ended;
  if (!rested) world.violate("the last run did not end");
  if (world.livingProcesses.length > 0)
    world.violate(`${world.livingProcesses.length} agent processes were left alive`);
  if (world.isDirty) world.violate("work was left uncommitted");
  if (world.trials.size > 0) world.violate("a checkout of one commit was left behind");
  checkDone(world, events);
  checkOperatorsBranch(world, events);
}

/** Work that nobody accepted is not on the operator's branch, but for that of a task which may go on there. */
function checkOperatorsBranch(world: World, events: readonly Recorded[]): void {
  const state = evolveAll(events);
  const files = world.branches.files(world.branches.tip(MAIN));
  for (const { id, character } of world.tasks) {
    const { work, completion, worktree, workBase } = taskState(state, id);
    const hasWork = workBase !== null && (workBase.head !== workBase.base || workBase.changed.files > 0);
    const planned = state.plan?.tasks.find((task) => task.id === id);
    if (completion !== null || worktree !== null || planned === undefined || planned.done) continue;
    const isLeft = ["blocked", "undecided", "failed", "cancelled"].includes(statusOf(state, planned));
    if (work?.is === "in-place" && isLeft && hasWork)
      world.violate(`the work of ${id} was left on the branch`);
    const isAway = work === null || work.is === "aside";
    const isThere = [...files.keys()].some((name) => name === id || name.startsWith(`${id}.`));
    if (isAway && isThere && character !== "finds-it-done" && world.lanes === null)
      world.violate(`unaccepted work of ${id} is on the branch`);
  }
}

/** However a run ended or was killed, at most one task has unaccepted work on the operator's branch: the one under way. */
export function checkBetweenRuns(world: World, events: readonly Recorded[]): void {
  const state = evolveAll(events);
  const names = [...world.branches.files(world.branches.tip(MAIN)).keys()];
  const open = world.tasks.filter(({ id, character }) => {
    const { work, completion } = taskState(state, id);
    const isTicked = state.plan?.tasks.some((task) => task.id === id && task.done) === true;
    const isKnown =
      completion !== null || isTicked || work?.is === "staying" || character === "finds-it-done";
    return !isKnown && names.some((name) => name === id || name.startsWith(`${id}.`));
  });
  const most = world.lanes === null ? 1 : 0;
  if (open.length > most)
    world.violate(`unaccepted work of ${open.map(({ id }) => id).join()} is on the branch`);
}

/** A run that says that everything is done tells the truth. */
export function checkDone(world: World, events: readonly Recorded[]): void {
  const ended = of(events, "run.ended").at(-1);
  // A task that a person added after the last look is for the next run.
  const seen =
    of(events, "tasks.observed")
      .at(-1)
      ?.plan.tasks.map((task) => task.id) ?? [];
  const cancelled = of(events, "task.cancelled").filter(({ run }) => run === ended?.run);
  const wanted = seen.filter((id) => !cancelled.some(({ task }) => task === id));
  const isDone = wanted.every((id) => isShownDone(world, id) && world.countsAsDone(id));
  if (ended?.outcome === "completed" && !isDone)
    world.violate("the run says that everything is done, and it is not");
}

function isPersons(event: Recorded): boolean {
  const isReset = event.type === "breaker.moved" && event.run === null;
  return isReset || ["stop.requested", "steer.given", "task.cancelled"].includes(event.type);
}

/** Where branches are the result, marks come when somebody merges them. */
function isShownDone(world: World, id: string): boolean {
  return world.lanes?.endsOnBranches === true || world.isTicked(id);
}

/** A run that was interrupted goes on; it is not begun anew with fresh counters. */
function checkRuns(world: World, events: readonly Recorded[]): void {
  let open = false;
  for (const event of events) {
    if (event.type === "run.started" && open)
      world.violate("a run was begun although the one before had not ended");
    if (event.type === "run.started" || event.type === "run.resumed") open = true;
    if (event.type === "run.ended") open = false;
  }
}

/** Every iteration has a number of its own, and was started, ended, observed and judged exactly once. */
function checkNumbers(world: World, events: readonly Recorded[]): void {
  for (const type of [
    "iteration.started",
    "iteration.ended",
    "evidence.collected",
    "verdict.reached",
  ] as const) {
    const numbers = of(events, type).map((event) => event.iteration);
    if (new Set(numbers).size !== numbers.length)
      world.violate(`${type} was recorded twice for one iteration`);
    const expected = of(events, "iteration.started").length;
    if (numbers.length !== expected)
      world.violate(`${expected} iterations started, but ${type} is there ${numbers.length} times`);
  }
  const started = of(events, "iteration.started").map((event) => event.iteration);
  if (started.some((number, index) => number !== index + 1))
    world.violate("iteration numbers have gaps or go back");
  for (const number of world.runsOfIteration.keys()) {
    if (!started.includes(number)) world.violate(`iteration ${number} ran and is not in the history`);
  }
}

function checkCompletions(world: World, events: readonly Recorded[]): void {
  // What does not go together with the base is to do again.
  const refused = of(events, "merge.failed").map((event) => event.task);
  const accepted = of(events, "task.completed").map((event) => event.task);
  const completed = withoutEach(accepted, refused);
  if (new Set(completed).size !== completed.length) world.violate("a task was completed twice");
  for (const id of completed) {
    if (world.lanes === null && !world.countsAsDone(id)) world.violate(`${id} was accepted, and is not done`);
  }
  for (const { id } of world.tasks) {
    if (!world.truth(id).isListed) world.violate(`${id} is gone from the list, and no person took it out`);
    if (world.isTicked(id) && !completed.includes(id))
      world.violate(`${id} is ticked, and nobody accepted it`);
  }
}

function withoutEach(items: readonly string[], taken: readonly string[]): readonly string[] {
  const left = [...items];
  for (const item of taken) left.splice(left.indexOf(item), 1);
  return left;
}

const SENDS_BACK: ReadonlySet<EventType> = new Set(["stage.objected", "merge.failed"]);

/** With a pipeline a task is complete when its last stage says so, after all others since it was last sent back. */
function checkStages(world: World, events: readonly Recorded[], { stages = [] }: Settings): void {
  const names = stages.map(({ name }) => name);
  if (names.length === 0) return;
  for (const { task, iteration, position } of of(events, "task.completed")) {
    const before = events.slice(0, position);
    const about = before.filter((event) => "task" in event && event.task === task);
    const begun = of(about, "iteration.started").find((event) => event.iteration === iteration);
    const objection = about.findLastIndex(({ type }) => SENDS_BACK.has(type));
    const passed = of(about.slice(objection + 1), "stage.passed").map(({ stage }) => stage);
    const way = [...passed, begun?.stage ?? ""];
    if (way.join() !== names.join())
      world.violate(`${task} was completed after ${way.join(", ")}, and its way is ${names.join(", ")}`);
  }
}

/** No run starts more than it may, and none goes on when it is stuck. */
function checkLimits(world: World, events: readonly Recorded[], settings: Settings): void {
  const { maxIterations, maxStuck } = settings.limits;
  const free = freeIterations(events);
  let counted = 0;
  let stuck = 0;
  for (const event of events) {
    if (event.type === "run.started") [counted, stuck] = [0, 0];
    if (event.type === "agent.suspended" && event.successor !== null) stuck = 0;
    if (event.type === "iteration.started" && !free.has(event.iteration)) counted += 1;
    if (event.type === "iteration.started" && maxStuck > 0 && stuck >= maxStuck && !settings.keepGoing) {
      world.violate(`iteration ${event.iteration} began although the run was stuck`);
    }
    if (event.type === "verdict.reached" && !free.has(event.iteration)) {
      stuck =
        event.madeProgress || event.verdict === "accepted"
          ? 0
          : stuck + (countsAsStuck(events, event) ? 1 : 0);
    }
    if (counted > maxIterations)
      world.violate(`the run began ${counted} iterations of at most ${maxIterations}`);
  }
}

/** In a run that keeps going, a task without progress waits for a person, over all runs. A single attempt fails anew in each. */
function checkStuckTasks(world: World, events: readonly Recorded[], settings: Settings): void {
  const { maxStuck } = settings.limits;
  if (maxStuck === 0 || !settings.keepGoing) return;
  const free = freeIterations(events);
  const stuck = new Map<string, number>();
  for (const event of events) {
    if (!("task" in event) || event.task === null || !world.truth(event.task).loops) continue;
    const { task } = event;
    if (STARTS_ANEW.has(event.type)) stuck.set(task, 0);
    const count = stuck.get(task) ?? 0;
    if (event.type === "iteration.started" && count >= maxStuck)
      world.violate(`iteration ${event.iteration} began although ${task} was stuck`);
    if (event.type !== "verdict.reached" || free.has(event.iteration)) continue;
    const isProgress = event.madeProgress || event.verdict === "accepted";
    if (isProgress || countsAsStuck(events, event)) stuck.set(task, isProgress ? 0 : count + 1);
  }
}

const STARTS_ANEW: ReadonlySet<EventType> = new Set([
  "task.unblocked",
  "task.reset",
  "task.undone",
  "agent.suspended",
  "stage.passed",
  "stage.objected",
  "story.settled",
  "merge.failed",
  "task.completed",
]);

/** Never more calls in a clock hour than there may be. */
function checkCalls(world: World, events: readonly Recorded[], { limits }: Settings): void {
  if (limits.callsPerHour === 0) return;
  const calls = new Map<number, number>();
  for (const { at } of [...of(events, "iteration.started"), ...of(events, "reader.asked")]) {
    const hour = Math.floor(at / 3_600_000);
    calls.set(hour, (calls.get(hour) ?? 0) + 1);
  }
  for (const count of calls.values())
    if (count > limits.callsPerHour)
      world.violate(`${count} calls in an hour of at most ${limits.callsPerHour}`);
}

/** Too many iterations in vain, over all runs, let no other begin before the breaker had a new chance. */
function checkBreaker(world: World, events: readonly Recorded[], settings: Settings): void {
  const { noProgress } = settings.breaker;
  if (noProgress === 0 || settings.keepGoing) return;
  const free = freeIterations(events);
  let inVain = 0;
  for (const event of events) {
    if (event.type === "agent.suspended" && event.successor !== null) inVain = 0;
    if (event.type === "breaker.moved" && event.from === "OPEN") inVain = 0;
    if (event.type === "iteration.started" && inVain >= noProgress)
      world.violate(`iteration ${event.iteration} began after ${inVain} in vain`);
    if (event.type !== "verdict.reached") continue;
    if (event.madeProgress || event.verdict === "accepted") inVain = 0;
    else if (!free.has(event.iteration) && countsAsStuck(events, event)) inVain += 1;
  }
}

/** An agent that claimed falsely too often is not given the same task again, unless a person says so. */
function checkSuspensions(world: World, events: readonly Recorded[], settings: Settings): void {
  const { thresholdFalseCompletion: threshold, window } = settings.interventions;
  if (threshold === 0) return;
  const claimed = new Map(of(events, "iteration.ended").map((event) => [event.iteration, event.report]));
  const begun = new Map(of(events, "iteration.started").map((event) => [event.iteration, event]));
  const behaviour = new Map<string, { agent: string; isFalse: boolean }[]>();
  // A gate that it seems to have turned green speaks for a claim without a file.
  const verdicts = of(events, "verdict.reached").filter(({ verdict }) => verdict === "accepted");
  const accepted = new Set(verdicts.map(({ iteration }) => iteration));
  const lost = lostWithMachine(events);
  for (const event of events) {
    if (event.type === "task.unblocked") behaviour.delete(event.task);
    const isKept = event.type === "evidence.collected" && !lost.has(event.iteration);
    if (isKept && world.truth(event.task).loops) {
      const report = claimed.get(event.iteration);
      if (report?.ending.is !== "exited" || report.failure !== null) continue;
      if (report.claim.is === "blocked" || report.claim.is === "undecided") continue;
      const { agent = "", stage } = begun.get(event.iteration) ?? {};
      const claims = report.claim.is === "complete" && stage !== "review";
      const isIdle = event.evidence.changedSinceTaskBegan.files === 0 && world.truth(event.task).needs > 0;
      const isFalse = claims && isIdle && !accepted.has(event.iteration);
      behaviour.set(event.task, [...(behaviour.get(event.task) ?? []), { agent, isFalse }]);
    }
    if (event.type !== "iteration.started") continue;
    const own = (behaviour.get(event.task) ?? []).slice(-window).filter(({ agent }) => agent === event.agent);
    if (own.at(-1)?.isFalse === true && own.filter(({ isFalse }) => isFalse).length > threshold)
      world.violate(`${event.agent} got ${event.task} again after too many false claims`);
  }
}

/** Nobody calls an agent again before the moment at which it said that its limit ends. */
function checkAgentLimits(world: World, events: readonly Recorded[]): void {
  const agents = new Map(of(events, "iteration.started").map((event) => [event.iteration, event.agent]));
  const failures = new Map(
    of(events, "iteration.ended").map((event) => [event.iteration, event.report.failure]),
  );
  const lost = lostWithMachine(events);
  const until = new Map<string, number>();
  for (const event of events) {
    // Before the verdict nobody beside it has heard of it.
    const failure =
      event.type === "verdict.reached" && !lost.has(event.iteration) ? failures.get(event.iteration) : null;
    if (event.type === "verdict.reached" && failure?.class === "limit")
      until.set(agents.get(event.iteration) ?? "", failure.resetsAt ?? 0);
    if (event.type === "reader.answered" && event.reading.limitedUntil != null)
      until.set(event.reading.agent, event.reading.limitedUntil);
    const isCall = event.type === "iteration.started" || event.type === "reader.asked";
    if (isCall && event.at < (until.get(event.agent) ?? 0))
      world.violate(`${event.agent} was called although it is limited`);
  }
}

/** A task without a loop is tried once in a run, unless somebody else spoilt the attempt. */
function checkSingleAttempts(world: World, events: readonly Recorded[]): void {
  const ended = new Map(of(events, "iteration.ended").map((event) => [event.iteration, event.report]));
  const lost = lostWithMachine(events);
  const asked = new Set(of(events, "question.asked").map(({ iteration }) => iteration));
  const tried = new Map<string, number>();
  for (const event of events) {
    if (event.type === "run.started") tried.clear();
    if (event.type === "merge.failed") tried.delete(event.task);
    if (event.type !== "iteration.started" || world.truth(event.task).loops) continue;
    const report = ended.get(event.iteration);
    // One of which nobody saw the end is given up with its worker.
    const isSpoilt =
      lost.has(event.iteration) ||
      report === undefined ||
      ["interrupted", "stopped"].includes(report.ending.is);
    if (isSpoilt || ["transient", "limit"].includes(report?.failure?.class ?? "")) continue;
    // Whoever asks may get an answer, and try then; so may one whose claim a person has to look at.
    if (report?.claim.is === "blocked" || asked.has(event.iteration)) continue;
    tried.set(event.task, (tried.get(event.task) ?? 0) + 1);
    if ((tried.get(event.task) ?? 0) > 1) world.violate(`${event.task} was tried twice in one run`);
  }
}

/** Iterations whose agent had ended when their machine vanished, with all that it had not brought to the others. */
function lostWithMachine(events: readonly Recorded[]): ReadonlySet<number> {
  const ended = new Map<string, number>();
  const lost = new Set<number>();
  for (const event of events) {
    if (event.type === "iteration.ended") ended.set(event.task, event.iteration);
    if (event.type === "evidence.collected") ended.delete(event.task);
    const iteration = event.type === "task.taken" ? ended.get(event.task) : undefined;
    if (iteration !== undefined) lost.add(iteration);
  }
  return lost;
}

/** Transient failures are retried, not counted. */
function freeIterations(events: readonly Recorded[]): ReadonlySet<number> {
  const isRefused = ({ report: { failure } }: EventOf<"iteration.ended">): boolean =>
    failure?.class === "transient" || failure?.class === "limit";
  const ended = of(events, "iteration.ended").filter(isRefused);
  return new Set(ended.map((event) => event.iteration));
}

function countsAsStuck(events: readonly Recorded[], verdict: EventOf<"verdict.reached">): boolean {
  if (["blocked", "decide", "challenged"].includes(verdict.verdict)) return false;
  const ended = of(events, "iteration.ended").find((event) => event.iteration === verdict.iteration);
  return ended?.report.ending.is === "exited" && !lostWithMachine(events).has(verdict.iteration);
}

function of<Type extends EventType>(events: readonly Recorded[], type: Type): Recorded<EventOf<Type>>[] {
  return events.filter((event): event is Recorded<EventOf<Type>> => event.type === type);
}
