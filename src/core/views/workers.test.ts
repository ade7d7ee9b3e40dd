import { expect, test } from "vitest";
import { workerInWords, workerJson, type WorkerRow } from "./status.ts";

const NOW = 10_000_000;
const WORKER: WorkerRow = {
  id: "build-3",
  host: "host-3",
  lanes: 2,
  labels: ["os:linux"],
  since: 0,
  seen: NOW - 65_400,
  is: "here",
  holds: [],
};

test.each<[Partial<WorkerRow>, string]>([
  [{}, "waits for tasks"],
  [{ holds: ["one", "two"] }, "works on one, two"],
  [{ holds: ["@keeper", "@merger", "one"] }, "works on one, keeps the queue, merges"],
  [{ is: "leaving", holds: ["one"] }, "works on one, leaves when that is done"],
  [{ is: "leaving" }, "leaves"],
  [{ is: "vanished", holds: ["one"] }, "vanished: not heard of for 1m 5s"],
  [{ is: "gone" }, "left 1m 5s ago"],
  [{ is: "gone", seen: NOW + 5_000 }, "left 1s ago"],
])("%j is said in words", (more, words) => {
  expect(workerInWords({ ...WORKER, ...more }, NOW)).toBe(words);
});

test("for scripts times are in ISO", () => {
  expect(workerJson(WORKER)).toMatchObject({ id: "build-3", since: "1970-01-01T00:00:00.000Z", holds: [] });
});
