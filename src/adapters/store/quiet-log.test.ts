import { expect, test } from "vitest";
import type { Event } from "../../core/events.ts";
import type { SharedLog } from "../../engine/fleet-ports.ts";
import { MemoryLog, MemoryStorage } from "./memory-log.ts";
import { quietLog } from "./quiet-log.ts";

const event: Event = { type: "task.reset", task: "a" };

/** Counts how often it is read; whoever appends behind the back of a screen rings the bell. */
function countedLog(): {
  readonly log: SharedLog;
  readonly reads: () => number;
  readonly ring: () => void;
  readonly isHeard: () => boolean;
} {
  const memory = new MemoryLog({ storage: new MemoryStorage(), now: () => 1, pause: async () => {} });
  let reads = 0;
  let heard: (() => void) | null = null;
  const log: SharedLog = {
    append: (events, expected, following) => memory.append(events, expected, following),
    read: (after, filter) => ((reads += 1), memory.read(after, filter)),
    countCalls: (since) => memory.countCalls(since),
    sumCosts: (since) => memory.sumCosts(since),
    loadSnapshot: (version) => memory.loadSnapshot(version),
    saveSnapshot: (state, version) => memory.saveSnapshot(state, version),
    forget: () => memory.forget(),
    close: () => memory.close(),
    listen: async (listener) => {
      heard = listener;
      return {
        close: async () => {
          heard = null;
        },
      };
    },
  };
  return { log, reads: () => reads, ring: () => heard?.(), isHeard: () => heard !== null };
}

test("nobody is asked twice as long as nothing happens, and news are seen at once", async () => {
  const { log, reads, ring } = countedLog();
  const quiet = await quietLog(log);
  for (let look = 0; look < 10; look += 1) expect(await quiet.read(0)).toEqual([]);
  expect(reads()).toBe(1);
  await log.append([event]);
  ring();
  expect(await quiet.read(0)).toHaveLength(1);
  await quiet.append([event]);
  expect(await quiet.read(1)).toHaveLength(1);
  await quiet.forget();
  expect(await quiet.read(0)).toEqual([]);
});

test("long answers are not kept, and different questions have different answers", async () => {
  const { log, reads } = countedLog();
  const quiet = await quietLog(log);
  await quiet.append([event, event]);
  expect(await quiet.read(0)).toHaveLength(2);
  expect(await quiet.read(0)).toHaveLength(2);
  expect(reads()).toBe(2);
  expect(await quiet.read(0, { limit: 1 })).toHaveLength(1);
  expect(await quiet.read(0, { types: ["run.ended"] })).toEqual([]);
  expect(reads()).toBe(4);
});

test("closing it ends the listening, too", async () => {
  const { log, isHeard } = countedLog();
  const quiet = await quietLog(log);
  expect(isHeard()).toBe(true);
  await quiet.close();
  expect(isHeard()).toBe(false);
});
