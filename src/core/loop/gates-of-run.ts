import type { GateSettings, Settings } from "../settings.ts";
import { type RunState, isOpen, type State } from "./state.ts";
import { sameSource } from "../plan/task.ts";

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
  const isSame = JSON.stringify(before) === JSON.stringify(settings.gates);
  // A command of which a part was taken out cannot be run.
  const isWhole = !JSON.stringify(before).includes("[redacted]");
  return wasInterrupted && !isSame && isWhole ? before : null;
}
