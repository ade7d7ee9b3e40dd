import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CLOSED_BREAKER,
  hasCooledDown,
  moved,
  nextMove,
  withReading,
  type Breaker,
  type BreakerReading,
  type BreakerSettings,
} from "./brakes.ts";

const settings = fc.record({
  noProgress: fc.integer({ min: 0, max: 6 }),
  sameError: fc.integer({ min: 0, max: 6 }),
  outputDecline: fc.integer({ min: 0, max: 100 }),
  cooldownMs: fc.integer({ min: 0, max: 10_000 }),
});

const reading = fc.record({
  madeProgress: fc.boolean(),
  counts: fc.boolean(),
  errorSignature: fc.constantFrom(null, "a", "b"),
  outputBytes: fc.integer({ min: 0, max: 100_000 }),
});

/** One iteration after the other, as the loop does it. */
function play(readings: readonly BreakerReading[], given: BreakerSettings, keepGoing = false): Breaker {
  let breaker = CLOSED_BREAKER;
  for (const [at, read] of readings.entries()) {
    breaker = withReading(breaker, read, given, keepGoing);
    const move = nextMove(breaker, given, read.madeProgress);
    if (move !== null) breaker = moved(breaker, { at, from: breaker.position, ...move });
  }
  return breaker;
}

describe("whatever happens", () => {
  test("an iteration with progress never opens it, and closes one that is on trial", () => {
    fc.assert(
      fc.property(
        fc.array(reading, { maxLength: 40 }),
        settings,
        fc.boolean(),
        (readings, given, keepGoing) => {
          const before = play(readings, given, keepGoing);
          const good = { madeProgress: true, counts: true, errorSignature: "a", outputBytes: 0 };
          const after = play([...readings, good], given, keepGoing);
          expect(after.position).toBe(before.position === "OPEN" ? "OPEN" : "CLOSED");
        },
      ),
      { seed: 20_261_115 },
    );
  });

  test("it opens before more than the allowed iterations were in vain", () => {
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 60 }), settings, (readings, given) => {
        fc.pre(given.noProgress > 0);
        let inVain = 0;
        for (const [at, { madeProgress, counts }] of readings.entries()) {
          inVain = madeProgress ? 0 : inVain + (counts ? 1 : 0);
          const { position } = play(readings.slice(0, at + 1), given);
          if (position === "OPEN") return;
          expect(inVain).toBeLessThan(given.noProgress);
        }
      }),
      { seed: 20_261_115 },
    );
  });

  test("it never opens from CLOSED at once, except by an error that came back or a limit of one", () => {
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 60 }), settings, (readings, given) => {
        for (const { from, to, reason } of play(readings, given).history) {
          if (from === "CLOSED" && to === "OPEN") {
            expect(given.noProgress === 1 || reason.startsWith("the same error")).toBe(true);
          }
        }
      }),
      { seed: 20_261_115 },
    );
  });

  test("nothing moves it while every brake of it is off", () => {
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 60 }), (readings) => {
        const off = { noProgress: 0, sameError: 0, outputDecline: 0, cooldownMs: 0 };
        expect(play(readings, off).history).toEqual([]);
      }),
      { seed: 20_261_115 },
    );
  });

  test("each move begins where the one before ended, and the history stays short", () => {
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 300 }), settings, (readings, given) => {
        const { history } = play(readings, given);
        expect(history.length).toBeLessThanOrEqual(20);
        for (const [index, { from }] of history.entries()) {
          if (index > 0) expect(from).toBe(history[index - 1]?.to);
        }
      }),
      { seed: 20_261_115 },
    );
  });

  test("an open one cools down after its time and not before, unless the clock was put back", () => {
    fc.assert(
      fc.property(settings, fc.integer({ min: -20_000, max: 20_000 }), (given, after) => {
        const open: Breaker = { ...CLOSED_BREAKER, position: "OPEN", movedAt: 50_000 };
        const isTime = after >= given.cooldownMs || after < 0;
        expect(hasCooledDown(open, given, 50_000 + after)).toBe(given.cooldownMs > 0 && isTime);
      }),
      { seed: 20_261_115 },
    );
  });
});
