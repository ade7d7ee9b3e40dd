import type { LiveProgress } from "../core/projections/overview.ts";
import { isAtWork, type WorkerRow } from "../core/projections/workers.ts";
import type { WorkerSeen } from "./fleet-ports.ts";

/** Who goes on with a project's tasks, and how far they are. */
export interface Driving {
  readonly isDriven: boolean;
  readonly progress: readonly LiveProgress[];
  /** Null where one machine works alone. */
  readonly workers: readonly WorkerRow[] | null;
}

/** `progressOf`: what is in a worker's report, as far as it can be read. */
export function drivenByWorkers(
  seen: readonly WorkerSeen[],
  progressOf: (rows: readonly unknown[]) => readonly LiveProgress[],
): Driving {
  const atWork = seen.filter(isAtWork);
  return {
    isDriven: atWork.length > 0,
    progress: atWork.flatMap(({ progress }) => progressOf(progress)),
    workers: seen.map(workerRow),
  };
}

export function workerRow(seen: WorkerSeen): WorkerRow {
  const { id, host, lanes, labels, startedAt, seenAt, is, holds } = seen;
  return { id, host, lanes, labels, since: startedAt, seen: seenAt, is, holds };
}
