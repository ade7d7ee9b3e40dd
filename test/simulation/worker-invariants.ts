import type { EventOf, EventType, Recorded } from "../../src/core/events.ts";
import { restOf } from "../../src/core/loop/decide.ts";
import { evolve, evolveAll } from "../../src/core/loop/evolve.ts";
import { EMPTY_STATE, isOpen, type State } from "../../src/core/state.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { checkDone, checkFacts } from "./invariants.ts";
import { checkMerges } from "./lane-invariants.ts";
import { isLocal } from "./worker-truth.ts";
import type { WorkerWorld } from "./worker-worlds.ts";
import type { World } from "./world.ts";

/** At rest, and when everybody has left: what became of the work that several shared. */
export function checkWorkers(
  around: WorkerWorld,
  facts: DurableFacts,
  states: ReadonlyMap<string, State>,
): void {
  const { world, lanes, settings } = around;
  const events = facts.all;
  const end = evolveAll(events);
  const outcome = restOf(end, world.time.now())?.outcome ?? null;
  checkFacts(world, events, settings);
  checkMerges(world, lanes, facts, outcome);
  if (!isOpen(end.run)) checkDone(world, events);
  checkIterations(world, events);
  checkOrdinals(world, events);
  checkAuthors(around, events);
  checkPushed(world, events);
  checkVanished(around, events);
  checkLeft(around, end);
  for (const [worker, state] of states) {
    const known = events.filter(({ position }) => position <= state.position);
    if (JSON.stringify(state) !== JSON.stringify(evolveAll(known)))
      world.violate(`what ${worker} took to be so differs from what the log says`);
  }
}

/**
 * Each iteration has a number of its own and is started, ended, observed and judged once. Only those over which the last
 * of too many workers vanished are not brought to their end: their task waits for a person then.
 */
function checkIterations(world: World, events: readonly Recorded[]): void {
  const started = of(events, "iteration.started").map(({ iteration }) => iteration);
  if (started.some((number, index) => number !== index + 1))
    world.violate("iteration numbers have gaps or go back");
  for (const number of world.runsOfIteration.keys())
    if (!started.includes(number)) world.violate(`iteration ${number} ran and is not in the history`);
  const givenUp = iterationsGivenUp(events);
  for (const type of ["iteration.ended", "evidence.collected", "verdict.reached"] as const) {
    const numbers = of(events, type).map(({ iteration }) => iteration);
    for (const number of started) {
      const times = numbers.filter((one) => one === number).length;
      const isRight = times === 1 || (times === 0 && givenUp.has(number));
      if (!isRight) world.violate(`${type} is there ${times} times for iteration ${number}`);
    }
  }
}

/** Those that were open before a hand-over, and are not after it. */
function iterationsGivenUp(events: readonly Recorded[]): ReadonlySet<number> {
  const givenUp = new Set<number>();
  let state = EMPTY_STATE;
  for (const event of events) {
    const before = state.iterations;
    state = evolve(state, event);
    if (event.type !== "task.taken" && event.type !== "task.dropped") continue;
    const open = new Set(state.iterations.map(({ number }) => number));
    for (const { number } of before) if (!open.has(number)) givenUp.add(number);
  }
  return givenUp;
}

/** What begins a loop anew. */
const RESETS: ReadonlySet<EventType> = new Set<EventType>([
  "run.started",
  "task.unblocked",
  "task.cancelled",
  "task.exhausted",
  "task.failed",
  "merge.failed",
  "stage.passed",
  "stage.objected",
]);

/** Killed in 4 of 30, the next is 5 of 30. */
function checkOrdinals(world: World, events: readonly Recorded[]): void {
  const last = new Map<string, EventOf<"iteration.started">>();
  const interrupted = new Set(
    of(events, "iteration.ended")
      .filter(({ report }) => report.ending.is === "interrupted")
      .map(({ iteration }) => iteration),
  );
  for (const event of events) {
    if (event.type === "run.started") last.clear();
    if (RESETS.has(event.type) && "task" in event && event.task !== null) last.delete(event.task);
    if (event.type !== "iteration.started") continue;
    const before = last.get(event.task);
    last.set(event.task, event);
    if (before === undefined) continue;
    const { ordinal } = event;
    const isNext = ordinal === before.ordinal + 1;
    const mustBeNext = interrupted.has(before.iteration) && before.maxIterations > 1;
    if (ordinal > before.ordinal + 1 || (mustBeNext && !isNext))
      world.violate(`iteration ${ordinal} of ${event.task} followed upon its iteration ${before.ordinal}`);
  }
}

/** Whoever has recorded something by a lease, nobody records anything by an earlier one, or by the same. */
function checkAuthors({ world, crew }: WorkerWorld, events: readonly Recorded[]): void {
  const last = new Map<string, { readonly number: number; readonly worker: string }>();
  for (const { position, type } of events) {
    const author = crew.authors.get(position);
    if (author === undefined) continue;
    const { worker, leases } = author;
    for (const { name, number } of leases) {
      const before = last.get(name);
      const isRight =
        before === undefined ||
        number > before.number ||
        (number === before.number && worker === before.worker);
      if (!isRight)
        world.violate(
          `${worker} recorded ${type} by lease ${number} of ${name}, after ${before.worker} by ${before.number}`,
        );
      last.set(name, { number, worker });
    }
  }
}

/** What was judged can be had by everybody. */
function checkPushed(world: World, events: readonly Recorded[]): void {
  const { branches } = world;
  const tips = branches.names.filter((name) => !isLocal(name)).map((name) => branches.tip(name));
  for (const { iteration, evidence } of of(events, "evidence.collected")) {
    const { headAfter } = evidence;
    if (headAfter !== null && !tips.some((tip) => branches.contains(tip, headAfter)))
      world.violate(`iteration ${iteration} ended at ${headAfter}, which only its machine has`);
  }
}

/** A little more than it takes: some workers gave it up before they were killed. */
const VANISHED_MAX = 5;

/** A task that brings down whoever works on it is not passed round for ever. */
function checkVanished({ world, crew }: WorkerWorld, events: readonly Recorded[]): void {
  const inARow = new Map<string, number>();
  const open = new Map<string, Recorded<EventOf<"iteration.started">>>();
  for (const event of events) {
    if (event.type === "task.unblocked") inARow.delete(event.task);
    if (event.type === "iteration.started") {
      open.set(event.task, event);
      if ((inARow.get(event.task) ?? 0) >= VANISHED_MAX)
        world.violate(`${event.task} was begun again after ${inARow.get(event.task)} workers vanished`);
    }
    if (event.type === "iteration.ended" && event.report.ending.is !== "interrupted") {
      open.delete(event.task);
      if (event.report.ending.is !== "stopped") inARow.delete(event.task);
    }
    if (event.type === "verdict.reached") open.delete(event.task);
    const begun = event.type === "task.taken" ? open.get(event.task) : undefined;
    if (event.type !== "task.taken" || begun === undefined) continue;
    open.delete(event.task);
    const isKilled = crew.killed.some(
      ({ worker, at }) => worker === begun.worker && at >= begun.at && at <= event.at,
    );
    if (isKilled) inARow.set(event.task, (inARow.get(event.task) ?? 0) + 1);
  }
}

/** Nobody is at work, and no agent either, wherever there was a worker to end it. */
function checkLeft({ world, crew }: WorkerWorld, end: State): void {
  const first = crew.machines[0];
  for (const process of world.livingProcesses)
    if (first?.has(process.root) === true)
      world.violate(`the agent of iteration ${process.iteration} was left alive`);
  if (world.violations.length === 0 && end.iterations.length > 0)
    world.violate(`${end.iterations.length} iterations were left open`);
}

function of<Type extends EventType>(events: readonly Recorded[], type: Type): Recorded<EventOf<Type>>[] {
  return events.filter((event): event is Recorded<EventOf<Type>> => event.type === type);
}
