import { mergedBranch } from "../../src/core/text.ts";
import type { EventOf, EventType, Outcome, Recorded } from "../../src/core/events.ts";
import type { Checkout } from "./checkout.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { marksIn } from "./checklist-text.ts";
import { branchOf, type LaneTruth } from "./lane-truth.ts";
import { checkPerson } from "./merge-invariants.ts";
import { MAIN, type World } from "./world.ts";

/** At rest: what became of everybody's work, on the base and beside it. */
export function checkLanes(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  outcome: Outcome | null,
): void {
  checkNothingLost(world);
  for (const [task, worktree] of lanes.worktrees) checkWorktree(world, lanes, facts, task, worktree);
  checkMerges(world, lanes, facts, outcome);
}

/** What became of accepted work, wherever it was done. */
export function checkMerges(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  outcome: Outcome | null,
): void {
  checkPerson(world, lanes);
  for (const { id } of world.tasks) if (facts.isAccepted(id)) checkAccepted(world, lanes, facts, id, outcome);
  const marks = marksIn(world.branches.files(world.branches.tip(MAIN)));
  for (const id of marks)
    if (!lanes.merged.includes(id)) world.violate(`${id} is marked on the base, and was not merged`);
  for (const id of lanes.merged)
    if (!marks.includes(id)) world.violate(`${id} was merged, and lost its mark`);
  checkMergeEvents(world, lanes, facts.all);
  checkCancelled(world, facts.all);
  // Workers have their own, and a run that they share has enough for all.
  if (world.crew === null) checkLaneNumbers(world, lanes, facts.all);
  checkBudget(world, facts.all);
  checkChances(world, lanes, facts.all);
}

/** What an agent has committed can be found again. */
function checkNothingLost(world: World): void {
  const { branches } = world;
  const tips = branches.names.map((name) => branches.tip(name));
  for (const commit of branches.by("agent"))
    if (!tips.some((tip) => branches.contains(tip, commit)))
      world.violate(`the agent's commit ${commit} is on no branch`);
}

/** Accepted work is on the base; or its branch has it, and somebody was told why it waits. */
function checkAccepted(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  id: string,
  outcome: Outcome | null,
): void {
  const { branches } = world;
  if (lanes.merged.includes(id)) {
    if (!facts.has("task.merged", id)) world.violate(`${id} is on the base, and nobody recorded it`);
    if (!world.isTrulyDone(id) && !world.isAgreed(id)) world.violate(`the base has lost the work of ${id}`);
    return;
  }
  if (!world.isAgreed(id) && !world.isDoneIn(branches.files(branches.tip(branchOf(id))), id))
    world.violate(`${id} was accepted, and its work is neither on the base nor on its branch`);
  const last = facts.lastAbout(id, SAID_OF_MERGE);
  if (last === "task.proposed" && !lanes.proposed.has(branchOf(id)))
    world.violate(`the log says that ${id} is proposed, and there is no pull request`);
  // Of work that needed no change there is nothing to merge.
  const isWaiting =
    ["merge.held", "task.proposed", "task.merged"].includes(last ?? "") || lanes.merge === "none";
  // The next run brings it.
  const isSaid = isWaiting || facts.has("task.cancelled", id);
  if (!isSaid && outcome !== "stopped")
    world.violate(`${id} was accepted and not merged, and nobody says why`);
}

const SAID_OF_MERGE = [
  "merge.held",
  "merge.prepared",
  "merge.overtaken",
  "task.proposed",
  "task.merged",
] as const;

/** A worktree whose work is on the base, or proposed, stays only for what nobody has committed in it. */
function checkWorktree(
  world: World,
  { merged }: LaneTruth,
  facts: DurableFacts,
  task: string,
  worktree: Checkout,
): void {
  const isKept = worktree.uncommitted().length > 0;
  if (facts.has("task.proposed", task) && !isKept)
    world.violate(`the worktree of ${task} is still there, and it is proposed`);
  if (merged.includes(task) && !isKept)
    world.violate(`the worktree of ${task} is still there, and it is merged`);
  if (!merged.includes(task) && world.branches.tip(mergedBranch(branchOf(task))) !== null)
    world.violate(`the branch of ${task} is called merged, and is not`);
}

/** One at a time, each as it was recorded before, and none twice. */
function checkMergeEvents(world: World, lanes: LaneTruth, events: readonly Recorded[]): void {
  let open: EventOf<"merge.prepared"> | null = null;
  for (const event of events) {
    if (event.type === "merge.prepared") {
      if (open !== null)
        world.violate(`${event.task} was prepared while ${open.task} was on its way to the base`);
      open = event;
    }
    if (open === null) continue;
    const isSettled = ["merge.overtaken", "merge.held", "task.merged"].includes(event.type);
    if (isSettled && "task" in event && event.task === open.task) open = null;
  }
  const moved = of(events, "task.merged").filter(({ from, to }) => from !== to);
  const merged = moved.map(({ task }) => task);
  if (merged.join() !== lanes.merged.join())
    world.violate(`the log says that ${merged.join()} were merged, and ${lanes.merged.join()} were`);
}

/** A lane is a place for one task at a time. */
function checkLaneNumbers(world: World, { count }: LaneTruth, events: readonly Recorded[]): void {
  const taken = new Map<number, number>();
  for (const event of events) {
    if (event.type === "verdict.reached") taken.delete(event.iteration);
    if (event.type !== "iteration.started") continue;
    const { iteration, lane } = event;
    if ([...taken.values()].includes(lane) || lane < 1 || lane > count)
      world.violate(
        `iteration ${iteration} began in lane ${lane}, and others are in ${[...taken.values()].join()}`,
      );
    taken.set(iteration, lane);
  }
}

/** Each iteration costs a dollar, also one that is still under way. */
function checkBudget(world: World, events: readonly Recorded[]): void {
  let [begun, isCostKnown, budget] = [0, false, Infinity];
  for (const event of events) {
    if (event.type === "run.started")
      [begun, isCostKnown, budget] = [0, false, event.settings.limits.budget.run ?? Infinity];
    if (event.type === "iteration.ended") isCostKnown ||= event.report.usage.costUsd !== null;
    if (event.type !== "iteration.started") continue;
    begun += 1;
    if (isCostKnown && begun > budget)
      world.violate(`the run began ${begun} iterations at a dollar each, and has a budget of ${budget}`);
  }
}

/** An open breaker takes nothing for a person's commit but one. */
function checkChances(world: World, { committedAt }: LaneTruth, events: readonly Recorded[]): void {
  const moves = of(events, "breaker.moved");
  for (const [index, { reason, at }] of moves.entries()) {
    const openedAt = moves[index - 1]?.at ?? 0;
    if (reason === "somebody committed" && !committedAt.some((moment) => moment >= openedAt && moment <= at))
      world.violate("the breaker got a new chance by a commit, and nobody had committed");
  }
}

/** What a person has cancelled is not begun again in the same run. */
function checkCancelled(world: World, events: readonly Recorded[]): void {
  for (const { task, run, position } of of(events, "task.cancelled"))
    if (
      of(events, "iteration.started").some(
        (one) => one.task === task && one.run === run && one.position > position,
      )
    )
      world.violate(`${task} was begun again after it was cancelled`);
}

function of<Type extends EventType>(events: readonly Recorded[], type: Type): Recorded<EventOf<Type>>[] {
  return events.filter((event): event is Recorded<EventOf<Type>> => event.type === type);
}
