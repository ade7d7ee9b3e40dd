import { resolve } from "node:path";
import type { Ending } from "../../core/report/agent-report.ts";
import type { GateResult, GateStatus } from "../../core/report/gate-result.ts";
import type { GateSettings } from "../../core/settings.ts";
import type { Gates } from "../../engine/ports.ts";
import { outsidePath } from "../system/outside-path.ts";
import { supervise } from "../system/supervise.ts";
import { createOutputTail } from "./output-tail.ts";

export interface ShellGatesOptions {
  /** The workspace. */
  readonly cwd: string;
  readonly baseEnv: NodeJS.ProcessEnv;
  readonly redact: (text: string) => string;
  /** Where ralph itself is installed: its programs are not the project's. */
  readonly ownRoot: string;
}

/** The project's own commands, one after another, each by `sh -c`. */
export function createGates(options: ShellGatesOptions): Gates {
  return {
    async check(gates, marker, signal) {
      const results: GateResult[] = [];
      for (const gate of gates) {
        if (signal.aborted) break;
        results.push(await runGate(gate, marker, signal, options));
      }
      return results;
    },
  };
}

/** A check has nothing to save; it need not be asked twice. */
const GRACE_MS = 2_000;

async function runGate(
  gate: GateSettings,
  marker: string,
  signal: AbortSignal,
  { cwd, baseEnv, redact, ownRoot }: ShellGatesOptions,
): Promise<GateResult> {
  const tail = createOutputTail();
  const { ending, durationMs } = await supervise(
    {
      command: ["sh", "-c", gate.command],
      cwd: resolve(cwd, gate.cwd ?? "."),
      env: { ...baseEnv, PATH: outsidePath(baseEnv["PATH"] ?? DEFAULT_PATH, ownRoot), ...gate.env },
      marker,
      timeoutMs: gate.timeoutMs,
      graceMs: GRACE_MS,
      onStdout: tail.take,
      onStderr: tail.take,
    },
    signal,
  );
  const text = ending.is === "not-started" ? redact(ending.message) : tail.text(redact);
  const status = statusOf(ending, isNotFound(gate.command, text));
  return {
    name: gate.name,
    required: gate.required,
    onMissing: gate.onMissing,
    status: status === "missing" && gate.onMissing === "skip" ? "skipped" : status,
    exitCode: ending.is === "exited" ? ending.code : null,
    durationMs: Math.round(durationMs),
    tail: text,
  };
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";
const NOT_FOUND = 127;

function statusOf(ending: Ending, isNotFound: boolean): GateStatus {
  if (ending.is === "timed-out") return "timeout";
  if (ending.is !== "exited") return "failed";
  if (isNotFound || ending.code === NOT_FOUND) return "missing";
  return ending.code === 0 ? "passed" : "failed";
}

/** In a pipe or a list the shell's own exit code hides that the program is not there; its words do not. */
function isNotFound(command: string, output: string): boolean {
  const program = /^\s*(?:\w+=\S*\s+)*([^\s'"`$;&|<>()]+)/.exec(command)?.[1];
  if (program === undefined) return false;
  return output.split("\n").some((line) => {
    const said = /^\S*sh: (?:(?:line )?\d+: )?(\S+): (?:command )?not found$/.exec(line);
    return said?.[1] === program;
  });
}
