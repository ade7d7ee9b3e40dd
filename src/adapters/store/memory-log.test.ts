import { expect, test } from "vitest";
import type { Event } from "../../core/events.ts";
import { MemoryLog, MemoryStorage, type MemoryLogOptions } from "./memory-log.ts";

const event: Event = { type: "task.reset", task: "a" };

test("the events are visible to others before the caller hears of them", async () => {
  const storage = new MemoryStorage();
  const pauses: (() => void)[] = [];
  const slow = open(storage, { pause: () => new Promise((resolve) => pauses.push(resolve)) });
  const appending = slow.append([event]);
  expect(await open(storage).read(0)).toEqual([]);
  pauses.shift()?.();
  await Promise.resolve();
  expect(await open(storage).read(0)).toHaveLength(1);
  pauses.shift()?.();
  expect(await appending).toHaveLength(1);
});

test("time comes from the given clock", async () => {
  const log = open(new MemoryStorage(), { now: () => 42 });
  expect(await log.append([event])).toEqual([{ ...event, position: 1, at: 42 }]);
});

function open(storage: MemoryStorage, options: Partial<MemoryLogOptions> = {}): MemoryLog {
  return new MemoryLog({ storage, now: () => 0, pause: async () => {}, ...options });
}
