import { join } from "node:path";
import type { LiveProgress } from "../../core/views/overview.ts";
import { camelCase, snakeCase } from "../../core/wire.ts";
import type { Progress } from "../../engine/ports.ts";
import { readEnd } from "../process/atomic-file.ts";

export const PROGRESS = "progress.json";

/** What running agents do right now: the last that was heard of, and under `lanes` each of them. */
export function progressDocument(running: readonly Progress[], last: Progress): unknown {
  return { ...progressRow(last), lanes: running.map(progressRow) };
}

/** Of all that run; nothing when the file is not there, or is not ours. */
export function readProgress(folder: string): readonly LiveProgress[] {
  try {
    const text = readEnd(join(folder, PROGRESS), { followsLinks: false })?.text ?? "";
    const { lanes } = JSON.parse(text) as { lanes?: unknown };
    return Array.isArray(lanes) ? progressIn(lanes) : [];
  } catch {
    // It comes and goes with a run, and a screen asks again in a moment.
    return [];
  }
}

/** Rows as they are in the file, also when they come from elsewhere; what is none is left out. */
export function progressIn(rows: readonly unknown[]): readonly LiveProgress[] {
  return rows
    .filter((row) => typeof row === "object" && row !== null && "iteration" in row && "task" in row)
    .map((row) => camelCase(row) as LiveProgress);
}

/** As it is written for screens. */
export function progressRow({ elapsedMs, timeoutMs, lastLine: _unsaid, ...rest }: Progress) {
  const times = {
    elapsedSeconds: Math.round(elapsedMs / 1_000),
    timeoutSeconds: Math.round(timeoutMs / 1_000),
  };
  return snakeCase({ ...rest, ...times }) as object;
}
