import type { Event } from "../../src/core/events.ts";
import type { Log } from "../../src/engine/ports.ts";
import {
  evidence,
  gatesChecked,
  iterationEnded,
  iterationStarted,
  runStarted,
  task,
  tasksObserved,
} from "../spec/given.ts";

const TASKS = 50;
const TOGETHER = 100;

/** A run of very many iterations, as long and wordy as real ones; every tenth completes nothing and is told why. */
export async function writeLongHistory(log: Log, iterations: number): Promise<void> {
  const tasks = Array.from({ length: TASKS }, (_, index) => task(`task-${index}`));
  await log.append([runStarted(), tasksObserved(...tasks)]);
  for (let first = 1; first <= iterations; first += TOGETHER) {
    const numbers = Array.from(
      { length: Math.min(TOGETHER, iterations - first + 1) },
      (_, index) => first + index,
    );
    await log.append(numbers.flatMap((number) => oneIteration(number)));
  }
}

function oneIteration(number: number): readonly Event[] {
  const of = task(`task-${number % TASKS}`);
  const isRejected = number % 10 === 0;
  const paths = Array.from({ length: 20 }, (_, index) => `src/part-${number}/some-file-${index}.ts`);
  const about = { run: "run-1", task: of.id, iteration: number };
  return [
    iterationStarted(number, of, { ordinal: 1, lane: number % 3 }),
    iterationEnded(number, of, "unfinished", {
      durationMs: 60_000 + number,
      finalText: "I did what was to be done, and here is how. ".repeat(40),
      usage: { inputTokens: 10_000, outputTokens: 2_000, cacheReadTokens: null, costUsd: 0.05 },
      filesWritten: paths,
    }),
    evidence(number, of, paths),
    gatesChecked(number, of, { tail: "✓ a test that passes\n".repeat(60) }),
    {
      type: "verdict.reached",
      ...about,
      verdict: isRejected ? "rejected" : "continue",
      reasons: [{ rule: "unfinished", sentence: "the agent says that there is more to do" }],
      madeProgress: true,
      retryAt: null,
      exitSignal: null,
    },
  ];
}
