import type { EventOf, Recorded } from "../events.ts";
import { isFailing, type GateOutcome } from "../report/checked-gate.ts";
import type { Leftovers } from "../report/evidence.ts";
import { leftoversOf, taskState, withLeftovers, type State } from "./state.ts";

export function baselineMeasured(state: State, event: Recorded<EventOf<"baseline.measured">>): State {
  const task = taskState(state, event.task);
  const measured = { ...task, baseline: event.gates, failingGates: failingIn(event.gates) };
  const known = { ...state, tasks: { ...state.tasks, [event.task]: measured } };
  return withLeftovers(
    gatesKnown(known, event.head, event.gates),
    event.task,
    withGateLeftovers(leftoversOf(state, event.task), event.leftovers),
  );
}

/** Our mark changes nothing that a gate could mind. */
export function gatesKnownAfterMark(state: State, event: Recorded<EventOf<"task.marked">>): State {
  const known = gatesKnownAt(state, event.parent);
  return known === null || event.commit === null ? state : gatesKnown(state, event.commit, known);
}

/** Side by side many commits are worked from; in place only the last one is. */
const COMMITS_KNOWN = 20;

/** The gates as they are at a commit; null: nobody can tell any longer. */
export function gatesKnown(state: State, head: string | null, gates: readonly GateOutcome[] | null): State {
  const now = gates === null ? [] : [{ head, gates, settings: gatesKey(state) }];
  if (state.run?.settings.worktrees == null) return { ...state, knownGates: now };
  const others = state.knownGates.filter((known) => known.head !== head);
  return { ...state, knownGates: [...now, ...others].slice(0, COMMITS_KNOWN) };
}

export function failingIn(gates: readonly GateOutcome[]): readonly string[] {
  return gates.filter(({ status }) => isFailing(status)).map(({ name }) => name);
}

export function gatesKey({ run }: State): string {
  return JSON.stringify(run?.settings.gates ?? []);
}

/** What is known of the gates at a commit, or null when they have to be asked. */
export function gatesKnownAt(state: State, head: string | null): readonly GateOutcome[] | null {
  if (head === null) return null;
  const settings = gatesKey(state);
  const found = state.knownGates.find((known) => known.head === head && known.settings === settings);
  return found?.gates ?? null;
}

/** Gates that ran twice since the last look have run from the first to the second. */
export function withGateLeftovers(before: Leftovers, now: Leftovers): Leftovers {
  const { gatesRan: earlier } = before;
  const { gatesRan } = now;
  if (earlier === null || gatesRan === null) return { ...now, gatesRan: gatesRan ?? earlier };
  return { ...now, gatesRan: { after: earlier.after, upTo: gatesRan.upTo } };
}
