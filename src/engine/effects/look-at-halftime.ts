import { midStreamCorrection } from "../../core/interventions/mid-stream.ts";
import type { EffectOf } from "../../core/loop/effects.ts";
import { interventionEvents } from "../../core/loop/escalate.ts";
import type { Journal } from "../journal.ts";
import { openIteration } from "../open-iteration.ts";
import type { Ports } from "../ports.ts";
import { workspaceFor } from "../workspace-for.ts";
import { watchRequest } from "../watch-request.ts";

/** Tells an agent that has not written anything by half of its time; if that fails, the next prompt does. */
export async function lookAtHalftime(
  effect: EffectOf<"look-at-halftime">,
  ports: Ports,
  journal: Journal,
): Promise<void> {
  const { state } = journal;
  const open = openIteration(state, effect.iteration);
  if (state.run === null) return;
  const about = { run: open.run, task: open.task, iteration: open.number };
  const wroteFiles = await workspaceFor(ports, state, open.task).hasWritten(watchRequest(state, open, ports));
  const passed = { ...about, type: "halftime.passed", wroteFiles } as const;
  if (wroteFiles) return journal.record(passed);
  const minutes = (ports.clock.now() - open.startedAt) / 60_000;
  const correction = midStreamCorrection(minutes);
  const isTold = await ports.agents.send(open.number, correction.text);
  const chosen = interventionEvents(state.run, open, [correction], { isFedBack: !isTold });
  await journal.record(passed, ...chosen);
}
