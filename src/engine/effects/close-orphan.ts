import type { EffectOf } from "../../core/loop/effects.ts";
import type { Journal } from "../journal.ts";
import { openIteration } from "../open-iteration.ts";
import type { Ports } from "../ports.ts";

/** Records an iteration as interrupted: nobody saw how its agent ended. */
export async function closeOrphan(
  effect: EffectOf<"close-orphan">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const open = openIteration(journal.state, effect.iteration);
  const report = await ports.agents.recoverReport(open.number, open.startedAt);
  await journal.record({
    type: "iteration.ended",
    run: open.run,
    task: open.task,
    iteration: open.number,
    report,
  });
}
