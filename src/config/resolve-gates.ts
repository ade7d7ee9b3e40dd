import { RalphError } from "../core/ralph-error.ts";
import type { GateSettings } from "../core/settings.ts";
import type { Config } from "./schema.ts";

const CHECK_TIMEOUT_MS = 600_000;

/** Those of the configuration, those of plugins, and what the command line or the list of tasks asks for. */
export function resolveGates(
  configured: Config["gates"],
  ofPlugins: readonly GateSettings[],
  checks: readonly string[],
): readonly GateSettings[] {
  const gates = checks.reduce(withCheck, [...configured.map(gateSettings), ...ofPlugins]);
  requireOwnNames(gates);
  return gates;
}

/** A gate that runs this very command becomes as strict as the check: nobody's tests need to run twice. */
function withCheck(gates: readonly GateSettings[], command: string): readonly GateSettings[] {
  const check = checkGate(command);
  const same = gates.find((gate) => runsTheSame(gate, check));
  if (same === undefined) return [...gates, check];
  const { required, onMissing, onBaseline } = check;
  return gates.map((gate) => (gate === same ? { ...gate, required, onMissing, onBaseline } : gate));
}

function runsTheSame(gate: GateSettings, check: GateSettings): boolean {
  return (
    gate.plugin === undefined &&
    gate.command.trim() === check.command.trim() &&
    gate.cwd === null &&
    Object.keys(gate.env).length === 0 &&
    gate.expect.exitCode === check.expect.exitCode
  );
}

function gateSettings(gate: Config["gates"][number]): GateSettings {
  return {
    name: gate.name,
    command: gate.command,
    timeoutMs: gate.timeout,
    required: gate.required,
    onMissing: gate.on_missing,
    cwd: gate.cwd ?? null,
    env: gate.env,
    kind: gate.kind ?? null,
    retries: gate.retries,
    expect: {
      exitCode: gate.expect.exit_code,
      outputContains: gate.expect.output_contains ?? null,
      outputNotContains: gate.expect.output_not_contains ?? null,
    },
    onBaseline: gate.on_baseline,
  };
}

function requireOwnNames(gates: readonly GateSettings[]): void {
  for (const { name, plugin } of gates) {
    if (plugin === undefined || gates.filter((other) => other.name === name).length === 1) continue;
    throw new RalphError(
      "config",
      `the gate "${name}" of the plugin "${plugin}" has the name of another gate`,
      {
        hint: "rename the one in the configuration, or the plugin's",
      },
    );
  }
}

function checkGate(command: string): GateSettings {
  if (command.trim() === "")
    throw new RalphError("usage", "--check is empty", {
      hint: 'name the command that must pass: --check "npm test"',
    });
  return {
    name: command,
    command,
    timeoutMs: CHECK_TIMEOUT_MS,
    required: true,
    onMissing: "fail",
    cwd: null,
    env: {},
    kind: null,
    retries: 0,
    expect: { exitCode: 0, outputContains: null, outputNotContains: null },
    onBaseline: "require",
  };
}
