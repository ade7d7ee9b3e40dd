import { parentPort, workerData } from "node:worker_threads";
import { Random } from "../../src/eval/random.ts";
import { TARGETS } from "./all-targets.ts";
import { isRefusal } from "./is-refusal.ts";
import type { Tally, WorkerNews, WorkerRequest } from "./supervise-fuzzing.ts";
import type { Opened, Target } from "./target.ts";

const { names, from, inputs, untilMs, place } = workerData as WorkerRequest;
const TALLY_EVERY = 50;
/** Real requests and processes take their time: they get every so many rounds one turn. */
const SLOW: ReadonlySet<string> = new Set(["web", "mcp"]);
const SLOW_EVERY = 40;

/**
 * Half a second of processor time, and a second for a megabyte: quadratic time is far beyond that. YAML is read by a
 * library that takes longer with many mistakes; files are bounded for its sake.
 */
const allowedMs = (name: string, length: number): number =>
  (500 + length / 1_000) * (name === "yaml" ? 4 : 1);

const chosen: { readonly target: Target; readonly index: number; readonly opened: Opened }[] = [];
for (const [index, name] of names.entries()) {
  const target = TARGETS.find((one) => one.name === name);
  if (target !== undefined) chosen.push({ target, index, opened: await target.open() });
}
const tallies = new Map<string, Tally>();
const isOver = (seed: number): boolean => (inputs === null ? Date.now() > untilMs : seed >= from + inputs);
for (let seed = from; !isOver(seed); seed += 1) {
  for (const { target, index, opened } of chosen) {
    if (inputs === null && SLOW.has(target.name) && seed % SLOW_EVERY !== 0) continue;
    place.set([index, seed]);
    await tryOne(target, opened, seed);
  }
  if ((seed - from) % TALLY_EVERY === 0) tellTallies();
}
tellTallies();
for (const { target, opened } of chosen) {
  try {
    await opened.close?.();
  } catch (error) {
    tell({ is: "failure", target: target.name, seed: from, what: `in the end: ${wordsOf(error)}` });
  }
}

async function tryOne(target: Target, opened: Opened, seed: number): Promise<void> {
  const { name } = target;
  const input = target.make(new Random(seed), false);
  const before = process.threadCpuUsage();
  let refused = 0;
  try {
    await opened.take(input);
  } catch (error) {
    refused = 1;
    if (!isRefusal(error)) tell({ is: "failure", target: name, seed, what: wordsOf(error) });
  }
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1_000;
  if (ms > allowedMs(name, input.length))
    tell({ is: "failure", target: name, seed, what: `${ms.toFixed(0)} ms for ${input.length} characters` });
  const tally = tallies.get(name) ?? { inputs: 0, bytes: 0, refused: 0, slowestMs: 0 };
  tallies.set(name, {
    inputs: tally.inputs + 1,
    bytes: tally.bytes + input.length,
    refused: tally.refused + refused,
    slowestMs: Math.max(tally.slowestMs, ms),
  });
}

function tellTallies(): void {
  for (const [target, tally] of tallies) tell({ is: "tally", target, tally });
}

function tell(news: WorkerNews): void {
  parentPort?.postMessage(news, []);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
