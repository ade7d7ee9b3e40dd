import type { EventOf, EventType, Recorded } from "../../src/core/events.ts";
import { evolve } from "../../src/core/loop/evolve.ts";
import { EMPTY_STATE, taskState, type State } from "../../src/core/state.ts";
import { isReading } from "../../src/core/loop/stages.ts";
import type { World } from "./world.ts";

/** Who is believed about a claim, and what it costs to doubt one. */
export function checkVerdicts(world: World, events: readonly Recorded[]): void {
  checkOldChecks(world, events);
  checkChallenges(world, events);
  if (world.stories === null) checkRejections(world, events);
  checkReaders(world, events);
  checkSpend(world, events);
}

/** Work that the old checks object to is accepted only if somebody other than the agent agrees. */
function checkOldChecks(world: World, events: readonly Recorded[]): void {
  const markers = new Map(
    of(events, "iteration.started").map(({ iteration, marker }) => [iteration, marker]),
  );
  for (const { id } of world.tasks) {
    const last = events.findLast(
      (event) =>
        ["task.completed", "merge.failed"].includes(event.type) && "task" in event && event.task === id,
    );
    const isRed =
      last?.type === "task.completed" && world.oldChecksRed.get(markers.get(last.iteration) ?? "") === true;
    if (isRed && !world.isAgreed(id))
      world.violate(`${id} was accepted though the old checks fail, and nobody but its agent agreed`);
  }
}

/** The task whose loop begins anew with it, so that a doubt may come up again. */
function begunAnew(event: Recorded): string | null {
  if (event.type === "story.settled") return event.from === event.to ? null : event.task;
  const isReset = ["stage.passed", "stage.objected", "task.completed", "merge.failed"].includes(event.type);
  return isReset && "task" in event ? event.task : null;
}

/** A doubt is put to an agent once, costs no attempt, and counts for no brake. */
function checkChallenges(world: World, events: readonly Recorded[]): void {
  const asked = new Map<string, Set<string>>();
  let state = EMPTY_STATE;
  for (const event of events) {
    const before = state;
    state = evolve(state, event);
    asked.delete(begunAnew(event) ?? "");
    if (event.type !== "verdict.reached" || event.verdict !== "challenged") continue;
    const known = asked.get(event.task) ?? new Set();
    for (const { rule } of event.reasons) {
      if (rule === "reader") continue;
      if (known.has(rule)) world.violate(`${event.task} was asked about ${rule} twice`);
      known.add(rule);
    }
    asked.set(event.task, known);
    if (countsOf(state, event.task).some((count, at) => count > (countsOf(before, event.task)[at] ?? 0)))
      world.violate(`the challenge in iteration ${event.iteration} was held against ${event.task}`);
  }
}

function countsOf(state: State, id: string): readonly number[] {
  const { attempts, failures, stuckCount, timeouts } = taskState(state, id);
  const { noProgress, triedWithoutProgress } = state.breaker;
  return [
    attempts,
    failures,
    stuckCount,
    timeouts,
    noProgress,
    triedWithoutProgress,
    state.run?.stuckCount ?? 0,
  ];
}

/** Finished work that nothing speaks against is not rejected: a reader that fails is none, a doubt is asked first. */
function checkRejections(world: World, events: readonly Recorded[]): void {
  const challenged = new Set<string>();
  for (const event of events) {
    challenged.delete(begunAnew(event) ?? "");
    if (event.type !== "verdict.reached") continue;
    const { task, iteration, verdict } = event;
    const isAskedBefore = challenged.has(task);
    if (verdict === "challenged") challenged.add(task);
    if (verdict !== "rejected" || isAskedBefore || world.doneWhenEnded.get(iteration) !== true) continue;
    const about = events.filter((one) => "iteration" in one && one.iteration === iteration);
    if (isReading({}, of(about, "iteration.started")[0]?.stage ?? "") || isObjectedTo(world, task, about))
      continue;
    const why = event.reasons.map(({ sentence }) => sentence).join("; ");
    world.violate(`iteration ${iteration} of ${task} was rejected though it was done: ${why}`);
  }
}

/** By facts, or by a reader. */
function isObjectedTo(world: World, task: string, about: readonly Recorded[]): boolean {
  const evidence = of(about, "evidence.collected")[0]?.evidence;
  const isIdle = evidence?.changedSinceTaskBegan.files === 0 && world.truth(task).needs > 0;
  const gates = [
    ...of(about, "gates.checked").flatMap((one) => one.gates),
    ...of(about, "old-checks.ran").flatMap(({ oldChecks }) => oldChecks.gates),
  ];
  const review = of(about, "reader.answered")[0]?.reading.review;
  return (
    isIdle ||
    (evidence?.putBack.length ?? 0) > 0 ||
    gates.some(({ status }) => status !== "passed") ||
    review?.criteria.some(({ answer }) => answer === "not_met") === true ||
    review?.concerns.some(({ answer }) => answer === "real") === true
  );
}

/** A claim is read to its end once, and at its price. */
function checkReaders(world: World, events: readonly Recorded[]): void {
  const heard = of(events, "reader.answered").map(({ iteration }) => iteration);
  if (new Set(heard).size !== heard.length) world.violate("a claim was read twice, and both count");
  for (const { reading, iteration } of of(events, "reader.answered")) {
    const paid = world.readings.get(iteration) ?? null;
    if (reading.review !== null && reading.usage.costUsd !== paid)
      world.violate(
        `the reading of iteration ${iteration} cost ${paid}, and ${reading.usage.costUsd} is told`,
      );
    if ((reading.review === null) !== (reading.failure !== null))
      world.violate(`nobody says why the reading of iteration ${iteration} has no answer`);
  }
}

/** What agents and readers have cost is counted to their task. */
function checkSpend(world: World, events: readonly Recorded[]): void {
  const spent = new Map<string, number>();
  const add = (task: string, usd: number | null): void => {
    if (usd !== null) spent.set(task, (spent.get(task) ?? 0) + usd);
  };
  let state = EMPTY_STATE;
  for (const event of events) {
    state = evolve(state, event);
    if (event.type === "iteration.ended") add(event.task, event.report.usage.costUsd);
    if (event.type === "reader.answered") add(event.task, event.reading.usage.costUsd);
    if (event.type !== "task.completed") continue;
    const { usd } = taskState(state, event.task).spend;
    if ((usd ?? 0) !== (spent.get(event.task) ?? 0))
      world.violate(`${event.task} has cost ${spent.get(event.task)}, and ${usd} is counted`);
  }
}

function of<Type extends EventType>(events: readonly Recorded[], type: Type): Recorded<EventOf<Type>>[] {
  return events.filter((event): event is Recorded<EventOf<Type>> => event.type === type);
}
