import { rmSync } from "node:fs";
import { join } from "node:path";
import type { LiveProgress } from "../../core/views/overview.ts";
import type { Progress } from "../../engine/ports.ts";
import { readEnd, writeFileAtomically } from "../process/atomic-file.ts";

const NAME = "progress.json";

/** What running agents do right now: the last that was heard of, and under `lanes` each of them. */
export class ProgressFile {
  readonly #path: string;
  readonly #running = new Map<number, Progress>();

  constructor(folder: string) {
    this.#path = join(folder, NAME);
  }

  heard(progress: Progress): void {
    this.#running.set(progress.iteration, progress);
    const lanes = [...this.#running.values()].map(toWire);
    writeFileAtomically(this.#path, `${JSON.stringify({ ...toWire(progress), lanes }, null, 2)}\n`, {
      durable: false,
    });
  }

  ended(iteration: number): void {
    this.#running.delete(iteration);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}

/** Of all that run; nothing when the file is not there, or is not ours. */
export function readProgress(folder: string): readonly LiveProgress[] {
  try {
    const text = readEnd(join(folder, NAME), { followsLinks: false })?.text ?? "";
    const { lanes } = JSON.parse(text) as { lanes?: unknown };
    return Array.isArray(lanes) ? progressIn(lanes) : [];
  } catch {
    // It comes and goes with a run, and a screen asks again in a moment.
    return [];
  }
}

/** Rows as they are in the file, also when they come from elsewhere; what is none is left out. */
export function progressIn(rows: readonly unknown[]): readonly LiveProgress[] {
  return rows.filter(isRow).map(fromWire);
}

function isRow(row: unknown): row is Row {
  return typeof row === "object" && row !== null && "iteration" in row && "task" in row;
}

type Row = ReturnType<typeof toWire>;

/** As it is written for screens. */
export function toWire(progress: Progress) {
  return {
    iteration: progress.iteration,
    task: progress.task,
    stage: progress.stage,
    agent: progress.agent,
    elapsed_seconds: Math.round(progress.elapsedMs / 1_000),
    timeout_seconds: Math.round(progress.timeoutMs / 1_000),
    current_file: progress.currentFile,
    last_tool: progress.lastTool,
    tool_calls: progress.toolCalls,
    files_touched: progress.filesTouched,
    output_bytes: progress.outputBytes,
    cost_usd: progress.costUsd,
  };
}

function fromWire(wire: Row): LiveProgress {
  return {
    iteration: wire.iteration,
    task: wire.task,
    elapsedSeconds: wire.elapsed_seconds,
    timeoutSeconds: wire.timeout_seconds,
    currentFile: wire.current_file,
    lastTool: wire.last_tool,
    toolCalls: wire.tool_calls,
    filesTouched: wire.files_touched,
    costUsd: wire.cost_usd,
  };
}
