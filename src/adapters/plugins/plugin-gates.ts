import type { GateResult } from "../../core/verdict/checked-gate.ts";
import type { GateSettings } from "../../core/settings.ts";
import type { Gates } from "../../engine/ports.ts";
import { askPlugin, PluginFailure, type PartName } from "./ask-plugin.ts";
import type { GateAnswer, PluginGate } from "./plugin.ts";

const TIMEOUT_MS = 600_000;
const TAIL_LENGTH = 8_000;

export interface GateFunction {
  readonly part: PartName;
  readonly gate: PluginGate;
  readonly settings: GateSettings;
}

export function gateFunction(part: PartName, gate: PluginGate): GateFunction {
  const settings: GateSettings = {
    name: part.name,
    command: `the plugin ${part.plugin}`,
    timeoutMs: gate.timeoutMs ?? TIMEOUT_MS,
    required: gate.required ?? true,
    onMissing: "fail",
    cwd: null,
    env: {},
    kind: gate.kind ?? null,
    retries: 0,
    expect: { exitCode: 0, outputContains: null, outputNotContains: null },
    onBaseline: "require",
    plugin: part.plugin,
  };
  return { part, gate, settings };
}

export interface PluginGatesOptions {
  readonly functions: readonly GateFunction[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly redact: (text: string) => string;
}

/** Gates of plugins are functions; all others are what they were. */
export function withPluginGates(gates: Gates, options: PluginGatesOptions): Gates {
  return {
    async check(wanted, marker, signal, root = options.cwd, prefix = []) {
      const results: GateResult[] = [];
      for (const gate of wanted) {
        if (signal.aborted) break;
        if (gate.plugin === undefined)
          results.push(...(await gates.check([gate], marker, signal, root, prefix)));
        else results.push(await runFunction(gate, root, signal, options));
      }
      return results;
    },
  };
}

async function runFunction(
  gate: GateSettings,
  root: string,
  signal: AbortSignal,
  { functions, env, redact }: PluginGatesOptions,
): Promise<GateResult> {
  const { name, required, onMissing, plugin } = gate;
  const named = { name, required, onMissing, unmet: null, tries: 1 };
  const known = functions.find(({ part }) => part.name === name && part.plugin === plugin);
  if (known === undefined) {
    const problem = `the plugin "${plugin}", whose gate this is, is not configured on this machine`;
    return {
      ...named,
      status: "failed",
      exitCode: null,
      durationMs: 0,
      tail: problem,
      unmet: problem,
      tries: 0,
    };
  }
  const began = performance.now();
  const timed = (): { durationMs: number } => ({ durationMs: Math.round(performance.now() - began) });
  const ask = (limited: AbortSignal): GateAnswer | Promise<GateAnswer> =>
    known.gate.check({ root, env, signal: limited });
  try {
    const answer = checked(known.part, await askPlugin(known.part, gate.timeoutMs, ask, signal));
    const tail = redact(answer.output ?? "").slice(-TAIL_LENGTH);
    const outcome = answer.passed
      ? ({ status: "passed", exitCode: 0 } as const)
      : ({ status: "failed", exitCode: 1 } as const);
    return { ...named, ...outcome, ...timed(), tail };
  } catch (error) {
    if (!(error instanceof PluginFailure)) throw error;
    const status = error.isTimeout ? "timeout" : "failed";
    const tail = redact(error.message);
    return { ...named, status, exitCode: null, ...timed(), tail, unmet: status === "failed" ? tail : null };
  }
}

function checked(part: PartName, answer: GateAnswer): GateAnswer {
  const { passed, output } = (answer ?? {}) as Partial<GateAnswer>;
  if (typeof passed === "boolean" && (output === undefined || typeof output === "string")) return answer;
  throw new PluginFailure(part, "answered something else than { passed: true or false, output }");
}
