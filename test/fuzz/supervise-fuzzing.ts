import { once } from "node:events";
import { Worker } from "node:worker_threads";

export interface FuzzRequest {
  readonly names: readonly string[];
  readonly from: number;
  /** Of each target; null: until the time is over. */
  readonly inputs: number | null;
  readonly minutes: number;
}

export interface Failure {
  readonly target: string;
  readonly seed: number;
  readonly what: string;
}

export interface Tally {
  readonly inputs: number;
  readonly bytes: number;
  readonly refused: number;
  readonly slowestMs: number;
}

export interface WorkerRequest extends Omit<FuzzRequest, "minutes"> {
  readonly untilMs: number;
  /** The index of the target and the seed that are under way. */
  readonly place: Int32Array;
}

export type WorkerNews =
  | { readonly is: "tally"; readonly target: string; readonly tally: Tally }
  | ({ readonly is: "failure" } & Failure);

const HANG_MS = 30_000;
const LOOK_MS = 1_000;
const MEMORY_MB = 1_024;
const FAILURES_MAX = 10;

/** In a thread of its own, so that somebody can say what it hangs in. After a hang it goes on without that target. */
export async function superviseFuzzing(
  request: FuzzRequest,
): Promise<{ readonly tallies: ReadonlyMap<string, Tally>; readonly failures: readonly Failure[] }> {
  const untilMs = Date.now() + request.minutes * 60_000;
  const tallies = new Map<string, Tally>();
  const failures: Failure[] = [];
  let { names, from } = request;
  while (names.length > 0) {
    const place = new Int32Array(new SharedArrayBuffer(8));
    const data: WorkerRequest = { names, from, inputs: request.inputs, untilMs, place };
    const death = await watch(data, (news) => {
      if (news.is === "tally") tallies.set(news.target, news.tally);
      else failures.push({ target: news.target, seed: news.seed, what: news.what });
    });
    const [index = 0, seed = 0] = place;
    const target = names[index] ?? "";
    if (death === null || failures.length >= FAILURES_MAX) break;
    failures.push({ target, seed, what: death });
    names = names.filter((name) => name !== target);
    from = seed + 1;
  }
  return { tallies, failures };
}

/** Answers what killed it; null when it came to its end. */
async function watch(data: WorkerRequest, heard: (news: WorkerNews) => void): Promise<string | null> {
  const worker = new Worker(new URL("./fuzz-worker.ts", import.meta.url), {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  worker.on("message", heard);
  let last = { place: "", at: performance.now() };
  let death: string | null = null;
  const looking = setInterval(() => {
    const place = data.place.join(" ");
    if (place !== last.place) last = { place, at: performance.now() };
    if (performance.now() - last.at < HANG_MS) return;
    death = `it hangs: ${HANG_MS / 1_000} s, and no end`;
    void worker.terminate();
  }, LOOK_MS);
  worker.on("error", (error) => {
    death ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
  });
  await once(worker, "exit");
  clearInterval(looking);
  return death;
}
