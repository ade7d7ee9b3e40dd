import type { EventOf, EventType, Recorded } from "../../src/core/events.ts";
import { evolveAll } from "../../src/core/loop/evolve.ts";
import type { World } from "./world.ts";

/** What the operator says reaches an agent that works from it, and what is called used has reached one. */
export function checkMessages(world: World, events: readonly Recorded[]): void {
  for (const used of of(events, "steer.used")) {
    const text = of(events, "steer.given").find(({ id }) => id === used.id)?.text ?? "";
    const heard = used.how === "prompt" ? world.prompts : world.told;
    if (!(heard.get(used.iteration) ?? "").includes(text))
      world.violate(`iteration ${used.iteration} is said to have heard a message, and has not`);
  }
  for (const given of of(events, "steer.given")) checkNotLost(world, events, given);
}

/** The first agent that could work from it has it, if nobody was told it before. */
function checkNotLost(
  world: World,
  events: readonly Recorded[],
  given: Recorded<EventOf<"steer.given">>,
): void {
  const first = of(events, "iteration.started").find(
    ({ position, task, iteration }) =>
      position > given.position &&
      (given.task === null || given.task === task) &&
      hasWorked(events, iteration) &&
      !isCarriedBeside(world, events, given, position),
  );
  if (first === undefined) return;
  const isKnown = of(events, "steer.used").some(
    ({ id, position }) => id === given.id && position < first.position,
  );
  if (!isKnown && !(world.prompts.get(first.iteration) ?? "").includes(given.text))
    world.violate(`iteration ${first.iteration} should have had a message in its prompt, and had not`);
}

/** Whether another agent that is at work by then has it already. */
function isCarriedBeside(
  world: World,
  events: readonly Recorded[],
  given: Recorded<EventOf<"steer.given">>,
  by: number,
): boolean {
  const { iterations } = evolveAll(events.slice(0, by - 1));
  const open = of(events.slice(0, by - 1), "iteration.started").filter(({ iteration }) =>
    iterations.some(({ number }) => number === iteration),
  );
  // An agent that was about to start would have had it.
  return open.some(
    ({ iteration, position, task }) =>
      position > given.position &&
      (given.task === null || given.task === task) &&
      (world.prompts.get(iteration) ?? given.text).includes(given.text),
  );
}

function hasWorked(events: readonly Recorded[], number: number): boolean {
  const report = of(events, "iteration.ended").find(({ iteration }) => iteration === number)?.report;
  if (report === undefined) return false;
  const { ending, failure } = report;
  const wasCutOff = ending.is === "interrupted" || ending.is === "stopped";
  return !wasCutOff && (failure === null || failure.class === "agent");
}

function of<Type extends EventType>(
  events: readonly Recorded[],
  type: Type,
): readonly Recorded<EventOf<Type>>[] {
  return events.filter((event) => event.type === type) as unknown as readonly Recorded<EventOf<Type>>[];
}
