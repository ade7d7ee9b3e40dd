import { expect, test } from "vitest";
import { MemoryLog } from "../../src/adapters/store/memory-log.ts";
import type { Log, LogFilter } from "../../src/engine/ports.ts";
import { writeLongHistory } from "./long-history.ts";
import { evidence, iterationEnded, iterationStarted, task } from "../spec/given.ts";
import { IterationIndex, type IterationQuery } from "../../src/web/live-project.ts";

const EVERY: IterationQuery = { before: 1_000_000, limit: 3, matches: () => true, isEvery: true };

/** A log, and the iterations that were read from it. */
async function history(iterations: number): Promise<{ log: Log; asked: LogFilter["iterations"][] }> {
  const log = new MemoryLog({ now: Date.now, pause: async () => {} });
  await writeLongHistory(log, iterations);
  const asked: LogFilter["iterations"][] = [];
  const read: Log["read"] = (after, filter) => {
    asked.push(filter?.iterations);
    return log.read(after, filter);
  };
  return { log: Object.assign(Object.create(log) as Log, { read, append: log.append.bind(log) }), asked };
}

const numbers = async (index: IterationIndex, query: Partial<IterationQuery>): Promise<readonly number[]> =>
  (await index.page({ ...EVERY, ...query })).rows.map(({ iteration }) => iteration);

test("the newest are there at once, however many there are", async () => {
  const { log, asked } = await history(1_000);
  const index = new IterationIndex(log, 1_000);
  const { rows, total } = await index.page(EVERY);
  expect(rows.map(({ iteration }) => iteration)).toEqual([1_000, 999, 998]);
  expect(total).toBe(1_000);
  expect(asked).toEqual([{ from: 801, to: 1_000 }]);
});

test("older ones are read when they are asked for, and once only", async () => {
  const { log, asked } = await history(1_000);
  const index = new IterationIndex(log, 1_000);
  expect(await numbers(index, { before: 600 })).toEqual([599, 598, 597]);
  expect(await numbers(index, { before: 2 })).toEqual([1]);
  await Promise.all([index.all(), index.fill(new AbortController().signal), index.all()]);
  expect(asked).toHaveLength(5);
  expect((await index.all()).map(({ iteration }) => iteration)).toEqual(
    Array.from({ length: 1_000 }, (_, at) => at + 1),
  );
});

test("those that match are counted in the whole history", async () => {
  const { log } = await history(500);
  const index = new IterationIndex(log, 500);
  const page = await index.page({
    ...EVERY,
    isEvery: false,
    matches: ({ verdict }) => verdict === "rejected",
  });
  expect(page.rows.map(({ iteration }) => iteration)).toEqual([500, 490, 480]);
  expect(page.total).toBe(50);
});

test("news change a row, or begin one", async () => {
  const { log } = await history(10);
  const index = new IterationIndex(log, 10);
  await index.all();
  const of = task("new");
  const started = (await log.append([iterationStarted(11, of)]))!;
  await index.note(started);
  expect((await index.page(EVERY)).rows[0]).toMatchObject({ iteration: 11, durationMs: null, files: null });
  await index.note((await log.append([iterationEnded(11, of, "none"), evidence(11, of, ["a", "b"])]))!);
  const { rows, total } = await index.page(EVERY);
  expect(rows[0]).toMatchObject({ iteration: 11, durationMs: 1_000, files: 2 });
  expect(total).toBe(11);
});
