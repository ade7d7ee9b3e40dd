import { expect, test } from "vitest";
import { SharedClock } from "./run-worker.ts";

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 0, 1, 12);

/** A clock of a machine that is wrong, and the time that really passes there. */
function machine(wrongByMs: number): {
  clock: SharedClock;
  pass: (ms: number) => void;
  elapsed: () => number;
} {
  let passed = 0;
  const own = { now: () => NOON + wrongByMs + passed, sleep: () => Promise.resolve() };
  const elapsed = (): number => passed;
  return { clock: new SharedClock(own, elapsed), pass: (ms) => (passed += ms), elapsed };
}

test("before anything was heard it is the machine's own", () => {
  const { clock, pass } = machine(HOUR_MS);
  pass(5);
  expect(clock.now()).toBe(NOON + HOUR_MS + 5);
});

test("once it was heard, all machines have the same time, and it goes on between two answers", () => {
  const times = [-HOUR_MS, 0, HOUR_MS].map((wrongByMs) => {
    const { clock, pass, elapsed } = machine(wrongByMs);
    const begunAt = elapsed();
    pass(10);
    clock.heard(NOON, begunAt);
    pass(1_000);
    return clock.now();
  });
  // The answer was on its way for half of the time.
  expect(times).toEqual([NOON + 1_005, NOON + 1_005, NOON + 1_005]);
});

test("a machine whose own clock is set meanwhile keeps the shared time", () => {
  let own = NOON;
  const clock = new SharedClock({ now: () => own, sleep: () => Promise.resolve() }, () => 0);
  clock.heard(NOON, 0);
  own += HOUR_MS;
  expect(clock.now()).toBe(NOON);
});
