import type { EventOf, Recorded } from "../events.ts";
import { isFailing, type GateOutcome } from "../report/checked-gate.ts";
import type { Leftovers } from "../report/evidence.ts";
import { leftoversOf, taskState, withLeftovers, type State } from "./state.ts";

export function baselineMeasured(state: State, event: Recorded<EventOf<"baseline.measured">>): State {
  const task = taskState(state, event.task);
  const measured = { ...task, baseline: event.gates, failingGates: failingIn(event.gates) };
  const known: State = {
    ...state,
    tasks: { ...state.tasks, [event.task]: measured },
    knownGates: { head: event.head, gates: event.gates, settings: gatesKey(state) },
  };
  return withLeftovers(known, event.task, withGateLeftovers(leftoversOf(state, event.task), event.leftovers));
}

/** Our mark changes nothing that a gate could mind. */
export function gatesKnownAfterMark(state: State, event: Recorded<EventOf<"task.marked">>): State {
  const { knownGates } = state;
  const isNext = event.commit !== null && knownGates !== null && knownGates.head === event.parent;
  return isNext ? { ...state, knownGates: { ...knownGates, head: event.commit } } : state;
}

export function failingIn(gates: readonly GateOutcome[]): readonly string[] {
  return gates.filter(({ status }) => isFailing(status)).map(({ name }) => name);
}

export function gatesKey({ run }: State): string {
  return JSON.stringify(run?.settings.gates ?? []);
}

/** What is known of the gates at a commit, or null when they have to be asked. */
export function gatesKnownAt(state: State, head: string | null): readonly GateOutcome[] | null {
  const { knownGates } = state;
  if (knownGates === null || head === null) return null;
  return knownGates.head === head && knownGates.settings === gatesKey(state) ? knownGates.gates : null;
}

/** Gates that ran twice since the last look have run from the first to the second. */
export function withGateLeftovers(before: Leftovers, now: Leftovers): Leftovers {
  const { gatesRan: earlier } = before;
  const { gatesRan } = now;
  if (earlier === null || gatesRan === null) return { ...now, gatesRan: gatesRan ?? earlier };
  return { ...now, gatesRan: { after: earlier.after, upTo: gatesRan.upTo } };
}
