import type { LaneRow } from "../core/projections/lane-rows.ts";
import type { Overview } from "../core/projections/overview.ts";
import type { WorkerRow } from "../core/projections/workers.ts";

/** One line of the lanes. */
export type LaneEntry =
  | { readonly is: "lane"; readonly row: LaneRow; readonly ofWorker: boolean }
  | { readonly is: "worker"; readonly worker: WorkerRow };

/** The lanes; of workers, each with what is under way in its own. Those that have left are not shown. */
export function laneEntries({ lanes, workers }: Pick<Overview, "lanes" | "workers">): readonly LaneEntry[] {
  if (workers === null) return lanes.map((row) => ({ is: "lane", row, ofWorker: false }));
  const shown = workers.filter(({ is }) => is !== "gone");
  const known = new Set(shown.map(({ id }) => id));
  const others = lanes.filter(({ work }) => !known.has(work?.worker ?? ""));
  return [
    ...shown.flatMap((worker): readonly LaneEntry[] => [
      { is: "worker", worker },
      ...lanes
        .filter(({ work }) => work?.worker === worker.id)
        .map((row) => ({ is: "lane", row, ofWorker: true }) as const),
    ]),
    ...others.map((row) => ({ is: "lane", row, ofWorker: true }) as const),
  ];
}
