import type { CrashPoint, CrashSites } from "./crashing.ts";
import { hasLanes } from "./lane-worlds.ts";
import { simulate, type Mutant, type Result } from "./simulate.ts";
import { simulateWorkers } from "./simulate-workers.ts";
import type { WorkerMutant } from "./worker-mutants.ts";
import { hasWorkers } from "./worker-worlds.ts";

export interface Exploration {
  readonly from: number;
  readonly count: number;
  readonly sites: CrashSites;
  /** Only the worlds that work side by side, or only the others. */
  readonly lanes?: boolean;
  /** Only worlds with workers on several machines, whatever the seed; or none. */
  readonly workers?: boolean;
  readonly workerMutant?: WorkerMutant;
  /** Of the places to crash in each world, at most so many, spread over it. */
  readonly placesMax?: number;
  readonly mutant?: Mutant;
  /** Stop at the first failure: enough to know that a mutant is caught. */
  readonly untilFailure?: boolean;
}

export interface Failure {
  readonly seed: number;
  readonly crash: CrashPoint | null;
  readonly violations: readonly string[];
}

export interface Found {
  readonly runs: number;
  readonly iterations: number;
  readonly failures: readonly Failure[];
  readonly outcomes: Readonly<Record<string, number>>;
}

/** Every seed once without a crash, then once for each place at which the first process can die. */
export async function explore(exploration: Exploration): Promise<Found> {
  const { from, count, lanes, placesMax = Infinity, untilFailure } = exploration;
  const failures: Failure[] = [];
  const outcomes: Record<string, number> = {};
  let runs = 0;
  let iterations = 0;
  const once = async (seed: number, crash: CrashPoint | null): Promise<number> => {
    const result = await simulated(exploration, seed, crash);
    runs += 1;
    iterations += result.iterations;
    outcomes[String(result.outcome)] = (outcomes[String(result.outcome)] ?? 0) + 1;
    if (result.violations.length > 0) failures.push({ seed, crash, violations: result.violations });
    return result.crashSites;
  };
  const enough = () => untilFailure === true && failures.length > 0;
  const places = new Map<number, number>();
  for (let seed = from; seed < from + count && !enough(); seed += 1)
    if (lanes === undefined || lanes === hasLanes(seed)) places.set(seed, await once(seed, null));
  for (const [seed, calls] of places) {
    for (const call of placesIn(calls, placesMax, seed)) {
      if (enough()) break;
      for (const side of ["before", "after"] as const) await once(seed, { call, side });
    }
  }
  return { runs, iterations, failures, outcomes };
}

function simulated(exploration: Exploration, seed: number, crash: CrashPoint | null): Promise<Result> {
  const { sites, lanes, mutant, workerMutant } = exploration;
  const { workers = lanes === undefined && mutant === undefined && hasWorkers(seed) } = exploration;
  if (workers)
    return simulateWorkers({ seed, sites, crashes: [crash], ...(workerMutant && { mutant: workerMutant }) });
  // Some deaths come in pairs: the process that recovers dies as well.
  const crashes =
    crash !== null && (seed + crash.call) % 3 === 0
      ? [crash, { call: 1 + (crash.call % 7), side: crash.side }]
      : [crash];
  return simulate({ seed, crashes, sites, ...(mutant && { mutant }) });
}

/** All of them, or some that are spread evenly; other ones in another world. */
function placesIn(calls: number, max: number, seed: number): readonly number[] {
  const stride = Math.max(1, calls / max);
  const first = seed % stride;
  return Array.from({ length: Math.min(calls, max) }, (_, index) => 1 + Math.floor(first + index * stride));
}

export function repeatCommand(seed: number, sites: CrashSites, ...flags: readonly string[]): string {
  return ["npm run simulate --", `--seed ${seed} --sites ${sites}`, ...flags].join(" ");
}
