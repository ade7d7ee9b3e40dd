import type { GateSettings } from "../settings.ts";
import type { RunState } from "./state.ts";

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
