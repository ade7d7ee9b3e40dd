import type { AdvanceRequest } from "../../src/engine/parallel-ports.ts";
import type { Checkout } from "./checkout.ts";
import { CHECKLIST, idsIn, marksIn } from "./checklist-text.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { linesOf, SHARED, type LaneTruth } from "./lane-truth.ts";
import { MAIN, type World } from "./world.ts";

/** Asked at the very moment at which the base moves. */
export function checkMove(
  world: World,
  lanes: LaneTruth,
  facts: DurableFacts,
  { from, to }: AdvanceRequest,
): void {
  const { branches } = world;
  const prepared = facts.preparedMerge;
  if (prepared === null || prepared.from !== from || prepared.to !== to)
    return world.violate("the base moved, and nobody had recorded where to");
  const { task } = prepared;
  const [before, after] = [branches.files(from), branches.files(to)];
  if (!branches.contains(to, from)) world.violate(`${to} does not continue the base at ${from}`);
  if (!facts.isAccepted(task)) world.violate(`${task} was merged, and is not accepted`);
  if (lanes.merged.includes(task)) world.violate(`${task} was merged twice`);
  lanes.merged.push(task);
  const isRight = world.isDoneIn(after, task) && (!world.isTrulyRed(after) || world.isTrulyRed(before));
  if (!isRight && !world.isAgreed(task)) world.violate(`the base got ${task} without its work, or red`);
  if (marksIn(after).join() !== idsMarked(before, task).join())
    world.violate(`the base got ${task} with the marks of ${marksIn(after).join()}`);
  for (const line of linesOf(before.get(SHARED)))
    if (!linesOf(after.get(SHARED)).includes(line))
      world.violate(`with ${task} the base lost what ${line} wrote`);
  for (const [name, text] of before)
    if (!isOwn(name, task) && after.get(name) !== text)
      world.violate(`with ${task} the base got another ${name}`);
}

function idsMarked(files: ReadonlyMap<string, string>, task: string): readonly string[] {
  const marks = marksIn(files);
  return idsIn(files).filter((id) => id === task || marks.includes(id));
}

/** Files that a task may change: the common ones, its own, and those that join it with others. */
function isOwn(name: string, task: string): boolean {
  return name === SHARED || name === CHECKLIST || name.split(/[.+]/).includes(task);
}

/** What only lies there must not go with it, and neither must what the base has not got. */
export function checkRemoval(world: World, facts: DurableFacts, task: string, worktree: Checkout): void {
  const isOver = facts.has("task.merged", task) || facts.has("task.proposed", task);
  if (!isOver) world.violate(`the worktree of ${task} was removed before its merge`);
  const lost = worktree.uncommitted();
  if (lost.length > 0) world.violate(`${lost.join()} of ${task} went with its worktree`);
}

/** Nobody but the person touches what the person has not committed, and every commit of theirs stays. */
export function checkPerson(world: World, { uncommitted }: LaneTruth): void {
  const { branches, repository } = world;
  const tip = branches.tip(MAIN);
  for (const commit of branches.by("person"))
    if (!branches.contains(tip, commit)) world.violate(`the person's commit ${commit} is not on the base`);
  const shown = (changes: Iterable<readonly [string, string | undefined]>): string =>
    JSON.stringify([...changes]);
  const now = repository.uncommitted().map((name) => [name, repository.files.get(name)] as const);
  if (shown(now) !== shown(uncommitted))
    world.violate(`the person left ${shown(uncommitted)} uncommitted, and there is ${shown(now)}`);
}
