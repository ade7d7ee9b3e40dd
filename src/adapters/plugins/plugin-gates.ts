import { z } from "zod";
import type { GateResult } from "../../core/verdict/checked-gate.ts";
import type { GateSettings } from "../../core/settings.ts";
import type { Gates } from "../../engine/ports.ts";
import { askPlugin, type Part, PluginFailure, readAnswer } from "./ask-plugin.ts";
import type { PluginGate } from "./plugin.ts";

const TIMEOUT_MS = 600_000;
const TAIL_LENGTH = 8_000;

export function pluginGateSettings({ part, does }: Part<PluginGate>): GateSettings {
  return {
    name: part.name,
    command: `the plugin ${part.plugin}`,
    timeoutMs: does.timeoutMs ?? TIMEOUT_MS,
    required: does.required ?? true,
    onMissing: "fail",
    cwd: null,
    env: {},
    kind: does.kind ?? null,
    retries: 0,
    expect: { exitCode: 0, outputContains: null, outputNotContains: null },
    onBaseline: "require",
    plugin: part.plugin,
  };
}

export interface PluginGatesOptions {
  readonly functions: readonly Part<PluginGate>[];
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
  stopped: AbortSignal,
  { functions, env, redact }: PluginGatesOptions,
): Promise<GateResult> {
  const { name, required, onMissing, plugin, timeoutMs } = gate;
  const began = performance.now();
  const result = (outcome: Pick<GateResult, "status" | "exitCode" | "tail">, tries: number): GateResult => {
    const unmet = outcome.status === "failed" && outcome.exitCode === null ? outcome.tail : null;
    const durationMs = Math.round(performance.now() - began);
    return { name, required, onMissing, unmet, tries, durationMs, ...outcome };
  };
  const known = functions.find(({ part }) => part.name === name && part.plugin === plugin);
  if (known === undefined) {
    const tail = `the plugin "${plugin}", whose gate this is, is not configured on this machine`;
    return result({ status: "failed", exitCode: null, tail }, 0);
  }
  const { part, does } = known;
  try {
    const said = await askPlugin(part, timeoutMs, (signal) => does.check({ root, env, signal }), stopped);
    const { passed, output = "" } = readAnswer(part, ANSWER, said);
    const tail = redact(output).slice(-TAIL_LENGTH);
    return result({ status: passed ? "passed" : "failed", exitCode: passed ? 0 : 1, tail }, 1);
  } catch (error) {
    if (!(error instanceof PluginFailure)) throw error;
    const status = error.isTimeout ? "timeout" : "failed";
    return result({ status, exitCode: null, tail: redact(error.message) }, 1);
  }
}

const ANSWER = z
  .object({ passed: z.boolean(), output: z.string().optional() })
  .describe("{ passed: true or false, output }");
