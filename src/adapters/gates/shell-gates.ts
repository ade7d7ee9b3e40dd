import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import type { GateResult, GateStatus } from "../../core/verdict/checked-gate.ts";
import type { GateSettings } from "../../core/settings.ts";
import type { Gates } from "../../engine/ports.ts";
import { safePath } from "../process/safe-path.ts";
import { sweep } from "../process/process-sweep.ts";
import { supervise } from "../process/supervise.ts";
import { createOutputTail } from "../process/line-splitter.ts";
import { gateEnvironment, lacksOwnFile, missingProgram, type GatePlace } from "./missing-program.ts";
import { unmetExit, watchOutput } from "./output-search.ts";

export interface ShellGatesOptions extends GatePlace {
  readonly redact: (text: string) => string;
  /** Other gates may run meanwhile, with the same marker. */
  readonly isBeside?: boolean;
}

/** So many gates at a time. Each ends what is its own; what has hidden from that is ended when all are over. */
export function sideBySide(gates: Gates, most: number): Gates {
  return {
    async check(wanted, marker, signal, root, prefix) {
      const waiting = wanted.entries();
      const results: (readonly GateResult[])[] = [];
      const lane = async (): Promise<void> => {
        for (const [at, gate] of waiting) {
          if (signal.aborted) return;
          results[at] = await gates.check([gate], marker, signal, root, prefix);
        }
      };
      await Promise.all(Array.from({ length: Math.min(most, wanted.length) }, lane));
      await sweep(marker);
      return results.flat();
    },
  };
}

/** The project's own commands, one after another, each by `sh -c`. */
export function createGates(options: ShellGatesOptions): Gates {
  return {
    async check(gates, marker, signal, root = options.cwd, prefix = []) {
      const results: GateResult[] = [];
      for (const gate of gates) {
        if (signal.aborted) break;
        results.push(await runGate(gate, marker, signal, { ...options, cwd: root, prefix }));
      }
      return results;
    },
  };
}

interface PlacedOptions extends ShellGatesOptions {
  /** Stands before each command. */
  readonly prefix: readonly string[];
}

/** A gate that fails by chance may be run again; what is not installed does not come by waiting. */
async function runGate(
  gate: GateSettings,
  marker: string,
  signal: AbortSignal,
  options: PlacedOptions,
): Promise<GateResult> {
  const folder = gateFolder(options.cwd, gate.cwd);
  if ("problem" in folder) return notRun(gate, "failed", options.redact(folder.problem));
  const missing = gate.expect.exitCode === NOT_FOUND ? null : await missingProgram(gate, options);
  if (missing !== null) return notRun(gate, "missing", options.redact(`${missing} is not installed`));
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
const NOT_FOUND = 127;
const CALLS_MISSING = "it exited with 127: a program that it calls is not installed";

async function tryGate(
  gate: GateSettings,
  folder: string,
  marker: string,
  signal: AbortSignal,
  options: PlacedOptions,
): Promise<Omit<GateResult, "tries">> {
  const { redact, prefix, isBeside = false } = options;
  const own = randomUUID();
  const tail = createOutputTail();
  const watch = watchOutput(gate.expect);
  const { ending, durationMs } = await supervise(
    {
      command: [...prefix, "sh", "-c", gate.command],
      cwd: folder,
      env: { ...gateEnvironment(gate, options), ...(isBeside && { _RALPH_GATE: own }) },
      marker,
      ...(isBeside && { ownEntry: `_RALPH_GATE=${own}` }),
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
  const outcome = { exitCode: ending.is === "exited" ? ending.code : null, durationMs, tail: text };
  if (ending.is !== "exited")
    return { ...settled(gate, ending.is === "timed-out" ? "timeout" : "failed"), ...outcome };
  const isExpected = ending.code === gate.expect.exitCode;
  if (ending.code === NOT_FOUND && !isExpected && !lacksOwnFile(text, folder, options.cwd))
    return { ...settled(gate, "missing", CALLS_MISSING), ...outcome };
  const unmet = unmetExit(ending.code, gate.expect) ?? watch.unmet();
  return isExpected && unmet === null
    ? { ...settled(gate, "passed"), ...outcome }
    : { ...settled(gate, "failed", unmet && redact(unmet)), ...outcome };
}

function notRun(gate: GateSettings, status: GateStatus, why: string): GateResult {
  return { ...settled(gate, status, why), exitCode: null, durationMs: 0, tries: 0, tail: why };
}

function settled(
  { name, required, onMissing }: GateSettings,
  status: GateStatus,
  unmet: string | null = null,
): Pick<GateResult, "name" | "required" | "onMissing" | "status" | "unmet"> {
  const isSkipped = status === "missing" && onMissing === "skip";
  return { name, required, onMissing, status: isSkipped ? "skipped" : status, unmet };
}

type GateFolder = { readonly path: string } | { readonly problem: string };

/** Where a gate runs: the workspace, or a folder in it. The agent can move folders, so one may be gone or lead away. */
function gateFolder(workspace: string, cwd: string | null): GateFolder {
  if (cwd === null) return { path: workspace };
  try {
    const path = safePath(workspace, cwd);
    if (statSync(path).isDirectory()) return { path };
    return { problem: `its folder "${cwd}" is not a folder` };
  } catch (error) {
    // Whatever it is, the gate cannot run there, and that is for its owner to know.
    return { problem: `its folder "${cwd}" ${reason(error as NodeJS.ErrnoException)}` };
  }
}

function reason({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case "not-writable":
      return "leads outside of the workspace";
    case "ENOENT":
    case "ENOTDIR":
      return "does not exist in the workspace";
    default:
      return `cannot be used: ${message}`;
  }
}
