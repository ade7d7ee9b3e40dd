import type { Recorded } from "../events.ts";
import type { State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import { isoTime, type Instant } from "../time.ts";

/** A message of the operator's; the names are part of the public contract. */
export interface MessageEntry {
  readonly id: string;
  /** Null: whatever task comes next. */
  readonly task: string | null;
  readonly text: string;
  readonly given_at: string;
  /** `working`: an agent has it, and its iteration has no verdict yet. `dropped`: its task was reset before. */
  readonly state: "waiting" | "working" | "used" | "dropped";
  readonly used: readonly MessageUse[];
}

export interface MessageUse {
  readonly iteration: number;
  readonly task: string;
  readonly how: "prompt" | "message";
  readonly at: string;
}

/** Those that an agent may still work from, the oldest first; for a task that is done it is too late. */
export function waitingMessages(state: State): readonly MessageEntry[] {
  const planned = state.plan?.tasks ?? [];
  const done = new Set(planned.filter((task) => statusOf(state, task) === "done").map(({ id }) => id));
  return unsettled(state).filter(({ task }) => task === null || !done.has(task));
}

function unsettled({ steers }: State): readonly MessageEntry[] {
  return steers.map(({ id, task, text, givenAt, carriedIn }) => ({
    ...given(id, task, text, givenAt),
    state: carriedIn === null ? "waiting" : "working",
    used: [],
  }));
}

/** All of them, the oldest first; `events` are those of steering. */
export function allMessages(events: readonly Recorded[], state: State): readonly MessageEntry[] {
  const open = new Map(unsettled(state).map((message) => [message.id, message.state]));
  const uses = new Map<string, MessageUse[]>();
  for (const event of events) {
    if (event.type !== "steer.used") continue;
    const { id, iteration, task, how, at } = event;
    uses.set(id, [...(uses.get(id) ?? []), { iteration, task, how, at: isoTime(at) }]);
  }
  return events.flatMap((event): MessageEntry[] => {
    if (event.type !== "steer.given") return [];
    const { id, task, text, at } = event;
    const used = uses.get(id) ?? [];
    return [{ ...given(id, task, text, at), state: open.get(id) ?? settled(used), used }];
  });
}

function settled(used: readonly MessageUse[]): "used" | "dropped" {
  return used.length > 0 ? "used" : "dropped";
}

function given(
  id: string,
  task: string | null,
  text: string,
  at: Instant,
): Pick<MessageEntry, "id" | "task" | "text" | "given_at"> {
  return { id, task, text, given_at: isoTime(at) };
}
