import type { Ending } from "../../core/report/agent-report.ts";
import { pythonModule } from "../../core/report/python-module.ts";
import type { GateResult, GateStatus } from "../../core/report/gate-result.ts";
import type { GateSettings } from "../../core/settings.ts";
import type { Gates } from "../../engine/ports.ts";
import { outsidePath } from "../system/outside-path.ts";
import { shellCommand } from "../system/platform/shell-command.ts";
import { THIS_PLATFORM } from "../system/platform/this-platform.ts";
import { supervise } from "../system/supervise.ts";
import { gateFolder } from "./gate-folder.ts";
import { createOutputTail } from "../system/output-tail.ts";
import { unmetExit, watchOutput } from "./watch-output.ts";

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
    async check(gates, marker, signal, root = options.cwd) {
      const results: GateResult[] = [];
      for (const gate of gates) {
        if (signal.aborted) break;
        results.push(await runGate(gate, marker, signal, { ...options, cwd: root }));
      }
      return results;
    },
  };
}

/** A gate that fails by chance may be run again; what is not installed does not come by waiting. */
async function runGate(
  gate: GateSettings,
  marker: string,
  signal: AbortSignal,
  options: ShellGatesOptions,
): Promise<GateResult> {
  const folder = gateFolder(options.cwd, gate.cwd);
  if ("problem" in folder) return failedIn(options.redact(folder.problem), gate);
  let tries = 0;
  let durationMs = 0;
  for (;;) {
    const one = await tryGate(gate, folder.path, marker, signal, options);
    tries += 1;
    durationMs += one.durationMs;
    const result = { ...one, tries, durationMs: Math.round(durationMs) };
    const isRed = result.status === "failed" || result.status === "timeout";
    if (!isRed || tries > gate.retries || signal.aborted) return result;
  }
}

/** A check has nothing to save; it need not be asked twice. */
const GRACE_MS = 2_000;
const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

async function tryGate(
  gate: GateSettings,
  folder: string,
  marker: string,
  signal: AbortSignal,
  { baseEnv, redact, ownRoot }: ShellGatesOptions,
): Promise<Omit<GateResult, "tries">> {
  const tail = createOutputTail();
  const watch = watchOutput(gate.expect);
  const { ending, durationMs } = await supervise(
    {
      ...shellCommand(THIS_PLATFORM, gate.command),
      cwd: folder,
      env: { ...baseEnv, PATH: outsidePath(baseEnv["PATH"] ?? DEFAULT_PATH, ownRoot), ...gate.env },
      marker,
      timeoutMs: gate.timeoutMs,
      graceMs: GRACE_MS,
      onStdout(chunk) {
        tail.take(chunk);
        watch.takeStdout(chunk);
      },
      onStderr(chunk) {
        tail.take(chunk);
        watch.takeStderr(chunk);
      },
    },
    signal,
  );
  const text = ending.is === "not-started" ? redact(ending.message) : tail.text(redact);
  const unmet = ending.is === "exited" ? (unmetExit(ending.code, gate.expect) ?? watch.unmet()) : null;
  const status = statusOf(ending, gate, text, unmet);
  return {
    ...named(gate),
    status: status === "missing" && gate.onMissing === "skip" ? "skipped" : status,
    exitCode: ending.is === "exited" ? ending.code : null,
    durationMs,
    tail: text,
    unmet: status === "failed" && unmet !== null ? redact(unmet) : null,
  };
}

function failedIn(problem: string, gate: GateSettings): GateResult {
  const nothing = { exitCode: null, durationMs: 0, tries: 0 };
  return { ...named(gate), status: "failed", ...nothing, tail: problem, unmet: problem };
}

function named({
  name,
  required,
  onMissing,
}: GateSettings): Pick<GateResult, "name" | "required" | "onMissing"> {
  return { name, required, onMissing };
}

const NOT_FOUND = 127;

function statusOf(ending: Ending, gate: GateSettings, output: string, unmet: string | null): GateStatus {
  if (ending.is === "timed-out") return "timeout";
  if (ending.is !== "exited") return "failed";
  const mayBeMissing = gate.expect.exitCode !== NOT_FOUND;
  if (mayBeMissing && (ending.code === NOT_FOUND || isNotFound(gate.command, output))) return "missing";
  return ending.code === gate.expect.exitCode && unmet === null ? "passed" : "failed";
}

/** In a pipe or a list the shell's own exit code hides that the program is not there; its words do not. */
function isNotFound(command: string, output: string): boolean {
  const program = /^\s*(?:\w+=\S*\s+)*([^\s'"`$;&|<>()]+)/.exec(command)?.[1];
  if (program === undefined) return false;
  const module = pythonModule(command)?.module;
  return output.split("\n").some((line) => {
    if (module !== undefined && /^\S*python\S*: No module named (\S+)$/.exec(line)?.[1] === module)
      return true;
    const said = /^\S*sh: (?:(?:line )?\d+: )?(\S+): (?:command )?not found$/.exec(line);
    return said?.[1] === program;
  });
}
