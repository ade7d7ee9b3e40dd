import type { EventOf } from "../../core/events.ts";
import type { Style } from "./style.ts";

/** How a task passes from one worker to another. Who takes up what nobody had is no news. */
export function fleetLines(event: EventOf<"task.taken" | "task.dropped">, style: Style): readonly string[] {
  if (event.type === "task.dropped")
    return [`  ${style.ask("↷ dropped")}   ${event.task}: ${event.worker} could not go on: ${event.why}`];
  if (event.from === null) return [];
  const who =
    event.from === event.worker
      ? `${event.worker} is back`
      : `${event.from} vanished, ${event.worker} goes on`;
  return [`  ${style.ask("↷ taken")}     ${event.task}: ${who}`];
}
