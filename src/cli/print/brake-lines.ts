import type { EventOf, Recorded } from "../../core/events.ts";
import { dollars } from "../../core/limits/budget.ts";
import { isoTime } from "../../core/time.ts";
import type { Style } from "./style.ts";

/** What holds a run up, and what lets it go on. */
export function brakeLines(event: Recorded, style: Style): readonly string[] {
  switch (event.type) {
    case "wait.started":
      return [`  ${style.dim(`… waiting until ${isoTime(event.until)}: ${event.why}`)}`];
    case "retry.requested":
      return [style.dim("  … trying again at once")];
    case "breaker.moved":
      return [breakerLine(event, style)];
    case "budget.neared":
      return [budgetLine(event, style)];
    case "stop.requested":
      return [
        style.dim(
          event.urgency === "now" ? "stopping: the agent is asked to end" : "stopping after this iteration",
        ),
      ];
    default:
      return [];
  }
}

function breakerLine({ to, reason }: EventOf<"breaker.moved">, style: Style): string {
  switch (to) {
    case "CLOSED":
      return `  ${style.good("✔ breaker")}   closed: ${reason}`;
    case "HALF_OPEN":
      return style.ask(`  ! breaker   half open: ${reason}; without progress now it opens again`);
    case "OPEN":
      return `  ${style.bad("■ breaker")}   open: ${reason}`;
  }
}

function budgetLine({ budget, spentUsd, budgetUsd }: EventOf<"budget.neared">, style: Style): string {
  const whose = budget === "run" ? "this run" : "a day";
  return style.ask(`  ! ${dollars(spentUsd)} of the ${dollars(budgetUsd)} for ${whose} are spent`);
}
