import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { watchForLife, type LifeSigns } from "./idle-watch.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "performance"] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const counts = { output: 0, toolCalls: 0, cpuMs: 0, tree: 0, looks: 0 };
beforeEach(() => Object.assign(counts, { output: 0, toolCalls: 0, cpuMs: 0, tree: 0, looks: 0 }));

const SIGNS: LifeSigns = {
  output: () => counts.output,
  toolCalls: () => counts.toolCalls,
  cpuMs: () => counts.cpuMs,
  workTree: async () => {
    counts.looks += 1;
    return String(counts.tree);
  },
};

function watch(over: Partial<LifeSigns> = {}) {
  const onIdle = vi.fn<() => void>();
  const watching = watchForLife(10 * MINUTE, { ...SIGNS, ...over }, onIdle);
  return { onIdle, watching };
}

async function during(ms: number, everyMs: number, happens: () => void): Promise<void> {
  for (let passed = 0; passed < ms; passed += everyMs) {
    await vi.advanceTimersByTimeAsync(everyMs);
    happens();
  }
}

test("a process that shows no sign of life for so long is idle, once", async () => {
  const { onIdle } = watch();
  await vi.advanceTimersByTimeAsync(10 * MINUTE - 1);
  expect(onIdle).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20 * MINUTE);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

describe("it is not idle", () => {
  test.each<[string, () => void]>([
    ["prints", () => (counts.output += 1)],
    ["calls a tool", () => (counts.toolCalls += 1)],
    ["changes the work tree", () => (counts.tree += 1)],
    ["uses the processor", () => (counts.cpuMs += 100)],
  ])("as long as it %s now and then", async (_, sign) => {
    const { onIdle } = watch();
    await during(90 * MINUTE, 9 * MINUTE, sign);
    expect(onIdle).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(30 * MINUTE);
    expect(onIdle).toHaveBeenCalled();
  });

  test("when it says something while the work tree is looked at for the last time", async () => {
    const workTree = async (): Promise<string> => {
      counts.looks += 1;
      if (counts.looks % 2 === 0) counts.output += 1;
      return "same";
    };
    const { onIdle } = watch({ workTree });
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect(onIdle).not.toHaveBeenCalled();
  });

  test.each<[string, Partial<LifeSigns>]>([
    ["the work tree", { workTree: async () => null }],
    ["the work tree, and that is an error", { workTree: () => Promise.reject(new Error("no git")) }],
  ])("when nobody can tell %s", async (_, over) => {
    const { onIdle } = watch(over);
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect(onIdle).not.toHaveBeenCalled();
  });

  test("for the time in which we ourselves were stopped", async () => {
    const now = performance.now.bind(performance);
    let stoppedMs = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + stoppedMs);
    const { onIdle } = watch();
    await during(9 * MINUTE, MINUTE, () => (stoppedMs += 60 * MINUTE));
    expect(onIdle).not.toHaveBeenCalled();
  });

  test("when nobody asks any more", async () => {
    const { onIdle, watching } = watch();
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    watching.cancel();
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect(onIdle).not.toHaveBeenCalled();
  });
});

test("what a program that waits uses of the processor is no sign of life", async () => {
  const { onIdle } = watch();
  await during(15 * MINUTE, 30 * SECOND, () => (counts.cpuMs += 10));
  expect(onIdle).toHaveBeenCalled();
});

describe("the work tree is looked at", () => {
  test("never while the other channels speak", async () => {
    watch();
    await during(60 * MINUTE, 20 * SECOND, () => (counts.output += 1));
    expect(counts.looks).toBe(0);
  });

  test("twice in a silence, early and at its end", async () => {
    watch();
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    expect(counts.looks).toBe(1);
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect(counts.looks).toBe(2);
  });
});
