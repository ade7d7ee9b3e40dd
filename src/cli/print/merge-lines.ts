import type { EventOf } from "../../core/events.ts";
import { few } from "../../core/few.ts";
import { taskState, type State } from "../../core/loop/state.ts";
import { redGates } from "../../core/report/checked-gate.ts";
import type { Style } from "./style.ts";

type MergeEvent = EventOf<
  "worktree.failed" | "checkout.changed" | "merge.failed" | "merge.held" | "task.merged" | "task.proposed"
>;

/** What becomes of accepted work that was done in a worktree. */
export function mergeLines(event: MergeEvent, state: State, style: Style): readonly string[] {
  const base = taskState(state, event.task).worktree?.base ?? "the base";
  switch (event.type) {
    case "worktree.failed":
      return [`  ${style.bad("■ blocked")}   ${event.task}: its worktree could not be set up: ${event.why}`];
    case "checkout.changed":
      return [style.ask(`  ! ${strayedInWords(event)}`)];
    case "task.proposed":
      return [`  ${style.good("⇒ proposed")}  ${event.task}: ${event.url}`];
    case "task.merged":
      return [`  ${style.good("⇒ merged")}    ${event.task} into ${base}, ${event.to.slice(0, 7)}`];
    case "merge.held":
      return [`  ${style.ask("! waits")}     ${event.task}: ${event.why}`];
    case "merge.failed":
      return [`  ${style.ask("← back")}      ${event.task}: ${whyNot(event)}`];
  }
}

function strayedInWords({ task, beside, head, paths }: EventOf<"checkout.changed">): string {
  const moved = head === null ? [] : [`HEAD is at ${head.slice(0, 7)} now`];
  const what = [...moved, ...(paths.length === 0 ? [] : [few(paths)])].join(", ");
  const who = few([task, ...beside]);
  return `your checkout changed while ${who} ran: ${what}. If that was not you, an agent has left its worktree`;
}

function whyNot({ base, conflicts, gates }: EventOf<"merge.failed">): string {
  if (conflicts.length > 0) return `it does not merge into ${base}: conflicts in ${few(conflicts)}`;
  const red = redGates(gates).map(({ name }) => name);
  return `merged into ${base} it does not pass: ${few(red)}`;
}
