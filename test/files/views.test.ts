import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runStarted, task, tasksObserved } from "../spec/given.ts";
import type { Event } from "../../src/core/events.ts";
import { evolve } from "../../src/core/loop/evolve.ts";
import { EMPTY_STATE, type State } from "../../src/core/state.ts";
import { MemoryLog } from "../../src/adapters/store/memory-log.ts";
import { Views } from "../../src/adapters/files/views.ts";

const PATIENCE_MS = 60_000;

let folder: string;
let views: Views;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ralph-views-"));
  views = new Views(folder, new MemoryLog({ now: () => 0, pause: () => Promise.resolve() }));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const STARTED = after(runStarted());
const OBSERVED = after(runStarted(), tasksObserved(task("task-001"), task("task-002")));

test("what happens in quick succession is shown once, as it is in the end", async () => {
  await views.settle(STARTED);
  await views.settle(OBSERVED);
  expect(existsSync(join(folder, "status.json"))).toBe(false);
  await vi.waitFor(
    () => expect(readFileSync(join(folder, "status.json"), "utf8")).toContain("task-002"),
    PATIENCE_MS,
  );
  expect(existsSync(join(folder, "active.json"))).toBe(true);
});

test("the end of a run is shown before it is over", async () => {
  await views.settle(OBSERVED);
  const ended = { type: "run.ended", run: "run-1", outcome: "stopped", reason: "enough" } as const;
  await views.settle(after(runStarted(), ended));
  expect(readFileSync(join(folder, "status.json"), "utf8")).not.toContain("task-002");
  await sleep(50);
  expect(readFileSync(join(folder, "status.json"), "utf8")).not.toContain("task-002");
  expect(existsSync(join(folder, "active.json"))).toBe(false);
});

test("a file that cannot be written is told with the next fact", async () => {
  mkdirSync(join(folder, "status.json"));
  await views.settle(STARTED);
  await vi.waitFor(() => expect(views.settle(OBSERVED)).rejects.toThrow("status.json"), PATIENCE_MS);
});

function after(...events: readonly Event[]): State {
  return events.reduce(
    (state, event, at) => evolve(state, { ...event, position: at + 1, at: 0 }),
    EMPTY_STATE,
  );
}
