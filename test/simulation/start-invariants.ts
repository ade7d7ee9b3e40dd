import type { AgentRequest } from "../../src/engine/ports.ts";
import type { DurableFacts } from "./durable-facts.ts";
import { isToldToMend } from "./lane-agents.ts";
import { branchOf } from "./lane-truth.ts";
import type { Crew } from "./worker-truth.ts";
import { hasLeftovers, type World } from "./world.ts";

export function checkStart(world: World, facts: DurableFacts, request: AgentRequest): void {
  const { iteration, task, prompt, root } = request;
  checkPlace(world, request);
  if (hasLeftovers(world.checkoutAt(root)))
    world.violate(`iteration ${iteration} began on changes that are not its own`);
  if (!facts.started(iteration))
    world.violate(`iteration ${iteration} ran before it was recorded as started`);
  const runs = (world.runsOfIteration.get(iteration) ?? 0) + 1;
  world.runsOfIteration.set(iteration, runs);
  if (runs > 1) world.violate(`the number ${iteration} was used for ${runs} agent processes`);
  const rejected = facts.lastVerdict(task) === "rejected";
  if (rejected && !prompt.includes("DO NOT IGNORE"))
    world.violate(`${task} was not told why it was rejected`);
  if (facts.lastVerdict(task) === "challenged" && !prompt.includes("Ralph doubts it"))
    world.violate(`${task} was not told what its claim makes one doubt`);
  if (facts.isToMend(task) && !isToldToMend(request))
    world.violate(`${task} was not told that its merge failed`);
  for (const id of world.truth(task).dependsOn) {
    if (!world.countsAsDone(id))
      world.violate(`${task} was begun before ${id}, which it depends on, was done`);
  }
  if (facts.isAccepted(task)) world.violate(`${task} was worked on after it was accepted`);
}

/** Alone where it works, and with no more beside it than there are lanes. */
function checkPlace(world: World, request: AgentRequest): void {
  if (world.crew !== null) return checkWorkersPlace(world, world.crew, request);
  const { iteration, task, root } = request;
  const alive = world.livingProcesses;
  if (alive.some((process) => process.root === root))
    world.violate(`iteration ${iteration} began while another agent was alive`);
  if (alive.length >= (world.lanes?.count ?? 1))
    world.violate(`iteration ${iteration} began beside ${alive.length} others`);
  if (root !== world.lanes?.worktrees.get(task)?.root)
    world.violate(`iteration ${iteration} of ${task} works in ${root}`);
}

/** On a machine of several: where its worker takes the task to be, from what the remote has, in one of its lanes. */
function checkWorkersPlace(world: World, crew: Crew, { iteration, task, root }: AgentRequest): void {
  const machine = crew.machineOf(root);
  if (machine === undefined || root !== machine.rootOf(task))
    return world.violate(`iteration ${iteration} of ${task} works in ${root}`);
  const alive = world.livingProcesses.filter((process) => machine.has(process.root));
  if (alive.some((process) => process.root === root))
    world.violate(`iteration ${iteration} began while another agent was alive in ${root}`);
  if (alive.length >= machine.lanes)
    world.violate(`iteration ${iteration} began on ${machine.id} beside ${alive.length} others`);
  const missing = (crew.labels.get(task) ?? []).filter((label) => !machine.labels.includes(label));
  if (missing.length > 0)
    world.violate(`iteration ${iteration} began on ${machine.id}, which has no ${missing.join(", ")}`);
  const pushed = world.branches.tip(branchOf(task));
  if (pushed !== world.checkoutAt(root).head)
    world.violate(`iteration ${iteration} began at another commit than what was pushed of ${task}`);
}
