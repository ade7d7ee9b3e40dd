import type { Figures } from "../../scripts/record-figures.ts";
import { median } from "../benchmark.ts";
import type { Soak } from "./run-soak.ts";
import type { Sample } from "./sampler.ts";

/** What is compared: iterations 500 to 1000, when all is compiled and warm, and the last 500. */
const EARLY = [500, 1_000] as const;
const LATE_COUNT = 500;
/**
 * More than this is growth. Of the time only the processor's is judged: on the wall it is the machine's business too,
 * and is told.
 */
const MEMORY_FACTOR = 1.1;
const TIME_FACTOR = 1.25;
const DESCRIPTORS_MORE = 2;
/** Git itself packs when there are about 6,700 loose objects. */
const LOOSE_MAX = 10_000;
const PACKS_MAX = 60;

/** What the soak came to, and what grew although it must not. */
export function judgeSoak(soak: Soak) {
  const late = [soak.starts.length - LATE_COUNT, soak.starts.length] as const;
  const of = (pick: (sample: Sample) => number) =>
    [EARLY, late].map((range) => median(samplesIn(soak, range).map(pick))) as [number, number];
  const ms = [EARLY, late].map((range) => median(durations(soak.starts.slice(...range)))) as [number, number];
  const cpu = [cpuEach(soak, EARLY), cpuEach(soak, late)] as const;
  const [rss, heap] = [of((sample) => sample.rss), of((sample) => sample.heap)];
  const descriptors = of((sample) => sample.descriptors);
  const complaints = [
    soak.exitCode === 1 ? "" : `the run ended with exit code ${soak.exitCode}, not with its iteration limit`,
    soak.starts.length === soak.iterations
      ? ""
      : `${soak.starts.length} iterations are in the log, not ${soak.iterations}`,
    rss[1] <= rss[0] * MEMORY_FACTOR ? "" : `memory, from ${mb(rss[0])} to ${mb(rss[1])} MB`,
    heap[1] <= heap[0] * MEMORY_FACTOR ? "" : `the heap, from ${mb(heap[0])} to ${mb(heap[1])} MB`,
    descriptors[1] <= descriptors[0] + DESCRIPTORS_MORE
      ? ""
      : `descriptors, from ${descriptors[0]} to ${descriptors[1]}`,
    cpu[1] <= cpu[0] * TIME_FACTOR
      ? ""
      : `the processor time of an iteration, from ${cpu[0]} to ${cpu[1]} ms`,
    soak.rows === soak.verdicts ? "" : `summary.csv has ${soak.rows} rows, the log ${soak.verdicts} verdicts`,
    soak.statusIterations === soak.iterations ? "" : `status.json counts ${soak.statusIterations} iterations`,
    soak.looseObjects <= LOOSE_MAX ? "" : `loose objects of git: ${soak.looseObjects}`,
    soak.packs <= PACKS_MAX ? "" : `packs of git: ${soak.packs}`,
  ].filter((text) => text !== "");
  const figures = {
    iterations: soak.starts.length,
    rss_mb_at_500: mb(rss[0]),
    rss_mb_at_end: mb(rss[1]),
    heap_mb_at_500: mb(heap[0]),
    heap_mb_at_end: mb(heap[1]),
    descriptors_at_500: descriptors[0],
    descriptors_at_end: descriptors[1],
    iteration_ms_500_to_1000: ms[0],
    iteration_ms_last_500: ms[1],
    own_cpu_ms_500_to_1000: cpu[0],
    own_cpu_ms_last_500: cpu[1],
    loose_objects: soak.looseObjects,
    packs: soak.packs,
    log_bytes_per_iteration: Math.round(soak.logBytes / soak.starts.length),
    rows_agree: soak.rows === soak.verdicts,
  } satisfies Figures;
  return { figures, complaints };
}

function samplesIn({ starts, samples }: Soak, [from, to]: readonly [number, number]): readonly Sample[] {
  const begin = starts[from] ?? Infinity;
  const end = starts[to] ?? Infinity;
  return samples.filter(({ at }) => at >= begin && at < end);
}

/** Processor time of ours for one iteration, as far as the samples reach. */
function cpuEach(soak: Soak, range: readonly [number, number]): number {
  const samples = samplesIn(soak, range);
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return Number.NaN;
  const iterations = soak.starts.filter((at) => at >= first.at && at < last.at).length;
  return Math.round(((last.cpu - first.cpu) / iterations) * 10) / 10;
}

function durations(starts: readonly number[]): readonly number[] {
  return starts.slice(1).map((at, index) => at - (starts[index] ?? at));
}

function mb(bytes: number): number {
  return Math.round(bytes / 1e5) / 10;
}
