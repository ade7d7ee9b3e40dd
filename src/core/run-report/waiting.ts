import { taskState, type State } from "../loop/state.ts";
import { asArgument, type BlockedTask } from "../projections/blocked.ts";
import { inboxOf, type InboxItem } from "../projections/inbox.ts";

/** Something that waits for a person, and what to type. */
export interface Waiting {
  readonly task: string;
  readonly is: "question" | "blocked" | "merge";
  readonly text: string;
  /** Options of a question, its default; what to do before the command. Empty: nothing more to say. */
  readonly more: string;
  readonly command: string;
}

export function waitingForPerson(state: State, blocked: readonly BlockedTask[]): readonly Waiting[] {
  // Workers hear of it and go on by themselves.
  const then = state.run?.settings.shared === true ? "" : " && ralph run";
  const items = inboxOf(state).map((item) =>
    item.kind === "decide"
      ? questionOf(item, then)
      : blockedOf(
          item,
          blocked.find(({ id }) => id === item.task),
          then,
        ),
  );
  return [...items, ...heldMerges(state)];
}

function questionOf({ task, text, options, default: answer, deadline }: InboxItem, then: string): Waiting {
  const choice = options.length === 0 ? "" : `Options: ${options.join(", ")}.`;
  const otherwise =
    answer === null || deadline === null ? "" : `From ${deadline} on the answer is "${answer}".`;
  return {
    task,
    is: "question",
    text,
    more: [choice, otherwise].filter((part) => part !== "").join(" "),
    command: `ralph decide ${asArgument(task)} ${asArgument(options[0] ?? "your answer")}${then}`,
  };
}

function blockedOf({ task, text }: InboxItem, help: BlockedTask | undefined, then: string): Waiting {
  const first = help?.first ?? null;
  return {
    task,
    is: "blocked",
    text: help?.why ?? text,
    more: first === null ? "" : `First: ${first}.`,
    command: `${help?.command ?? `ralph unblock ${asArgument(task)}`}${then}`,
  };
}

function heldMerges(state: State): readonly Waiting[] {
  return Object.keys(state.tasks).flatMap((task): readonly Waiting[] => {
    const { merge, blockedReason } = taskState(state, task);
    if (merge?.is !== "held" || blockedReason !== null) return [];
    const command = state.run?.settings.shared === true ? `ralph why ${asArgument(task)}` : "ralph run";
    return [{ task, is: "merge", text: merge.why, more: "First: clear the way.", command }];
  });
}
