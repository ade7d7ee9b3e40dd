import { type ScreenPorts, watchProject } from "../../src/app/watch-project.ts";
import { expect, test } from "vitest";
import { MemoryLog, MemoryStorage } from "../../src/adapters/store/memory-log.ts";
import type { Event } from "../../src/core/events.ts";
import type { Log } from "../../src/engine/ports.ts";

const event: Event = { type: "task.reset", task: "a" };
let clock = 0;

test("a log that is forgotten, or is another one, is followed from its beginning", async () => {
  let log: Log | null = open();
  await log.append([event, event, event]);
  const watched = await watchProject(ports(() => log));
  expect(watched.overview()).toMatchObject({ position: 3, tail: { length: 3 } });
  await log.forget();
  await watched.catchUp();
  expect(watched.overview()).toMatchObject({ position: 0, tail: [] });
  await log.append([event]);
  await watched.catchUp();
  expect(watched.overview()).toMatchObject({ position: 1, tail: { length: 1 } });
  await log.forget();
  await log.append([event, event]);
  await watched.catchUp();
  expect(watched.overview()).toMatchObject({ position: 2, tail: { length: 2 } });
  log = null;
  await watched.catchUp();
  expect(watched.overview()).toMatchObject({ position: 0, tail: [] });
  log = open();
  await log.append([event]);
  await watched.catchUp();
  expect(watched.overview()).toMatchObject({ position: 1, tail: { length: 1 } });
});

function open(): Log {
  return new MemoryLog({ storage: new MemoryStorage(), now: () => (clock += 1), pause: async () => {} });
}

function ports(log: () => Log | null): ScreenPorts {
  return {
    project: "shop",
    mayAct: true,
    log: async () => log(),
    driving: async () => ({ isDriven: false, progress: [], workers: null }),
    lines: ({ type }) => [type],
    now: () => clock,
    act: async () => ({ is: "refused", why: "this test only looks" }),
    isElsewhere: () => false,
  };
}

test("the calls are counted anew when an hour begins, though nothing happens", async () => {
  let counted = 5;
  const log = Object.assign(open(), { countCalls: async () => counted });
  await log.append([event]);
  let now = 0;
  const watched = await watchProject({ ...ports(() => log), now: () => now });
  expect(watched.overview().status.calls.used).toBe(5);
  counted = 0;
  now = 3_600_000;
  await watched.catchUp();
  expect(watched.overview().status.calls.used).toBe(0);
});
