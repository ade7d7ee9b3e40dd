import type { EffectOf } from "../../core/loop/effects.ts";
import type { Journal } from "../journal.ts";
import { openIteration } from "../open-iteration.ts";
import type { Ports } from "../ports.ts";

/** Gives a message of the operator's to the running agent; if it takes none, the next prompt has it. */
export async function tellAgent(
  effect: EffectOf<"tell-agent">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const open = openIteration(journal.state, effect.iteration);
  const message = journal.state.steers.find(({ id }) => id === effect.steer);
  if (message === undefined) return;
  const isTold = await ports.agents.send(open.number, `Message from the operator: ${message.text}`);
  const about = { run: open.run, task: open.task, iteration: open.number, id: message.id };
  await journal.admit((state) => {
    // An iteration that is over by now takes nothing along: the message still waits.
    if (!state.iterations.some(({ number }) => number === open.number)) return null;
    return [isTold ? { ...about, type: "steer.used", how: "message" } : { ...about, type: "steer.deferred" }];
  });
}
