import { explore, type Exploration, type Failure } from "./explore.ts";
import { LANE_MUTANTS } from "./lane-mutants.ts";
import { MUTANTS } from "./mutants.ts";
import { WORKER_MUTANTS } from "./worker-mutants.ts";

export interface Hunted {
  readonly name: string;
  /** Where it showed first; null: nowhere. */
  readonly caught: Failure | null;
}

type Way = Omit<Exploration, "untilFailure">;

/** Every planted bug, and how worlds are explored until it shows. */
function ways(): readonly (readonly [name: string, way: Way])[] {
  return [
    ...MUTANTS.map((mutant) => [mutant.name, { from: 1, count: 100, sites: "appends", mutant }] as const),
    ...LANE_MUTANTS.map(
      (mutant) => [mutant.name, { from: 1, count: 100, sites: "steps", placesMax: 24, mutant }] as const,
    ),
    ...WORKER_MUTANTS.map(
      (workerMutant) =>
        [
          workerMutant.name,
          { from: 1, count: 400, sites: "steps", placesMax: 2, workers: true, workerMutant },
        ] as const,
    ),
  ];
}

export async function huntMutants(say: (line: string) => void): Promise<readonly Hunted[]> {
  const hunted: Hunted[] = [];
  for (const [name, way] of ways()) {
    const { failures, runs } = await explore({ ...way, untilFailure: true });
    const [caught = null] = failures;
    say(`${caught === null ? "NOT CAUGHT" : `caught in run ${runs}, seed ${caught.seed}`}: ${name}`);
    hunted.push({ name, caught });
  }
  return hunted;
}
