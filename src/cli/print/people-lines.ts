import type { EventOf, Recorded } from "../../core/events.ts";
import type { State } from "../../core/loop/state.ts";
import { statusOf } from "../../core/loop/task-status.ts";
import { asArgument } from "../../core/projections/blocked.ts";
import type { Style } from "./style.ts";

/** What is told about questions, answers, letters and messages, below the iteration that they are about. */
export function peopleLines(event: Recorded, state: State, style: Style): readonly string[] {
  switch (event.type) {
    case "letter.disturbed":
      return [
        style.ask(
          `  ! ${event.file} changed while the agent ran: that is no answer. Save it again while none runs, or type: ${instead(event, state)}`,
        ),
      ];
    case "question.asked": {
      const answer = `ralph decide ${asArgument(event.task)} "${event.options[0] ?? "…"}"`;
      if (state.run?.settings.keepGoing !== true) return [];
      const meanwhile = hasOthers(state, event.task) ? "      the others go on meanwhile" : "";
      return [style.dim(`              → ${answer}${meanwhile}`)];
    }
    case "question.answered": {
      const why = event.by === "deadline" ? " (the default: nobody answered in time)" : "";
      return [`  ${style.good("✔ answered")}  ${event.task}: ${event.answer}${why}`];
    }
    case "task.unblocked":
      return [`  ${style.good("✔ unblocked")} ${event.task}: ${event.reason}`];
    case "steer.given":
      return [`  ${style.ask("✎ message")}   for ${event.task ?? "whatever comes next"}: ${event.text}`];
    case "steer.used": {
      const how = event.how === "message" ? "was told" : "had a message of yours in its prompt";
      return [style.dim(`              → iteration ${event.iteration} ${how}`)];
    }
    case "steer.deferred":
      return [style.dim("              → its agent takes no messages: the next prompt has it")];
    default:
      return [];
  }
}

function hasOthers(state: State, asking: string): boolean {
  const others = (state.plan?.tasks ?? []).filter(({ id }) => id !== asking);
  return others.some((task) => statusOf(state, task) === "todo");
}

/** The command that says the same as the letter. */
function instead({ task }: EventOf<"letter.disturbed">, state: State): string {
  const isBlocked = state.tasks[task]?.blockedReason != null;
  return isBlocked ? `ralph unblock ${asArgument(task)}` : `ralph decide ${asArgument(task)} "…"`;
}
