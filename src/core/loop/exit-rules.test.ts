import * as fc from "fast-check";
import { expect, test } from "vitest";
import { exitRule, withSignal, type ExitSignal } from "./brakes.ts";

const signal = fc.record({
  iteration: fc.nat(),
  done: fc.boolean(),
  testOnly: fc.boolean(),
  indicator: fc.boolean(),
});

function windowOf(signals: readonly ExitSignal[]): readonly ExitSignal[] {
  return signals.reduce(withSignal, [] as readonly ExitSignal[]);
}

test("the window holds the last five, in their order", () => {
  fc.assert(
    fc.property(fc.array(signal), (signals) => {
      expect(windowOf(signals)).toEqual(signals.slice(-5));
    }),
    { seed: 20_261_115 },
  );
});

test("an open-ended task ends by its last iterations alone, whatever was before", () => {
  fc.assert(
    fc.property(fc.array(signal), fc.array(signal, { minLength: 5, maxLength: 8 }), (before, last) => {
      expect(exitRule(windowOf([...before, ...last]))).toBe(exitRule(windowOf(last)));
    }),
    { seed: 20_261_115 },
  );
});

test("it is complete exactly when the last two are done, and goes round in circles when the last three only tested", () => {
  fc.assert(
    fc.property(fc.array(signal), (signals) => {
      const isDone = signals.length >= 2 && signals.slice(-2).every(({ done }) => done);
      const isCircle = signals.length >= 3 && signals.slice(-3).every(({ testOnly }) => testOnly);
      expect(exitRule(windowOf(signals))).toBe(isDone ? "complete" : isCircle ? "only-tests" : null);
    }),
    { seed: 20_261_115 },
  );
});
