import type { Event, EventOf } from "../events.ts";
import { sameSource, type Plan } from "../plan.ts";
import { REDACTED } from "../secret-shapes.ts";
import type { GateSettings, Settings } from "../settings.ts";
import type { Instant } from "../time.ts";
import { endingOf } from "./outcome.ts";
import { restOf } from "./decide.ts";
import { evolveWith } from "./evolve.ts";
import { isOpen, type RunState, type State } from "../state.ts";

/** Tasks on their way to workers that share them. */
export interface Submitted extends Pick<EventOf<"run.started">, "run" | "settings" | "pid" | "version"> {
  readonly plan: Plan;
  /** Where the base stands. */
  readonly head: string | null;
}

export type Submission =
  /** A run begins with them. */
  | { readonly is: "begun"; readonly events: readonly Event[] }
  /** The run that is under way takes them up; its settings stay. */
  | { readonly is: "added"; readonly events: readonly Event[] }
  /** Everything is known already, and done or on its way. */
  | { readonly is: "known" }
  /** Workers are busy with other tasks. */
  | { readonly is: "refused"; readonly run: RunState };

/** What follows from giving tasks to the workers. To do it twice changes nothing. */
export function submission(state: State, submitted: Submitted, now: Instant): Submission {
  const { run } = state;
  const events = beginning(state, submitted, now);
  const then = evolveWith(state, events, now);
  const isComplete =
    then.run !== null &&
    then.plan !== null &&
    endingOf(then, then.run, then.plan, now)?.outcome === "completed";
  if (isComplete && state.plan !== null) return { is: "known" };
  if (!isOpen(run)) return { is: "begun", events };
  const rest = restOf(state, now);
  const isSame = sameSource(run.settings.source, submitted.settings.source);
  if (rest === null && !isSame) return { is: "refused", run };
  // Whoever submits again has cleared the way of what is held.
  const isHeld = Object.values(state.tasks).some(({ merge }) => merge?.is === "held");
  const isKnown = isSame && equal(state.plan, submitted.plan) && !(rest !== null && isHeld);
  const waitsForPerson = rest?.outcome === "blocked" || rest?.outcome === "undecided";
  if (rest !== null && !(isKnown && waitsForPerson && equal(run.settings, submitted.settings)))
    return { is: "begun", events };
  return isKnown
    ? { is: "known" }
    : { is: "added", events: [{ type: "tasks.observed", run: run.id, plan: submitted.plan }] };
}

function beginning(state: State, submitted: Submitted, now: Instant): readonly Event[] {
  const { plan, ...started } = submitted;
  const rest = restOf(state, now) ?? { outcome: "stopped", reason: "other tasks were submitted" };
  return [
    ...(isOpen(state.run) ? [{ ...rest, type: "run.ended", run: state.run.id } as const] : []),
    { type: "run.started", ...started },
    { type: "tasks.observed", run: started.run, plan },
  ];
}

function equal(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * The gates of a run that somebody else submitted. Those that this machine's configuration knows by the same name and
 * command are taken from there: the log has no secrets, so what they need in their environment is only here.
 */
export function gatesOfRun(
  run: RunState | null,
  own: readonly GateSettings[],
  redact: (text: string) => string,
): readonly GateSettings[] {
  return (run?.settings.gates ?? []).map(
    (gate) => own.find(({ name, command }) => name === gate.name && redact(command) === gate.command) ?? gate,
  );
}

/**
 * The gates that a run goes on with although the configuration names others by now: it died while an agent ran, and
 * what an agent may have written there counts for nothing. Null: those of the configuration.
 */
export function gatesToKeep(state: State, settings: Settings): readonly GateSettings[] | null {
  const { run } = state;
  if (!isOpen(run) || !sameSource(run.settings.source, settings.source)) return null;
  const before = run.settings.gates;
  const wasInterrupted = state.iterations.some(({ phase }) => phase.is === "running");
  const isSame = equal(before, settings.gates);
  // A command of which a part was taken out cannot be run.
  const isWhole = !JSON.stringify(before).includes(REDACTED);
  return wasInterrupted && !isSame && isWhole ? before : null;
}
