import { UNKNOWN_USAGE } from "../../src/core/streams/agent-report.ts";
import { iterationEnded, iterationStarted, task } from "../spec/given.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Event, Recorded } from "../../src/core/events.ts";
import { EMPTY_STATE, type State } from "../../src/core/state.ts";
import type { Log } from "../../src/engine/ports.ts";

export interface LogUnderTest {
  readonly log: Log;
  /** The same log after a restart. */
  reopen(): Promise<Log>;
  /** The same log as another process has it open. */
  second(): Promise<Log>;
  /** Another project's log in the same store. */
  otherProject(): Promise<Log>;
  close(): Promise<void>;
}

/** What every store must do; `open` gives a fresh, empty one. */
export function describeLog(
  name: string,
  open: () => Promise<LogUnderTest>,
  { appenders }: { readonly appenders: number } = { appenders: 200 },
): void {
  describe(`the log kept by ${name}`, () => {
    let store: LogUnderTest;
    let log: Log;
    beforeEach(async () => {
      store = await open();
      log = store.log;
    });
    afterEach(() => store.close());

    describe("appending and reading", () => {
      test("an empty log has no events", async () => {
        expect(await log.read(0)).toEqual([]);
      });

      test("events come back in order, with positions from 1 without gaps", async () => {
        await log.append([unblocked("a", "one"), unblocked("b", "two")]);
        await log.append([waitStarted("three")]);
        const events = await log.read(0);
        expect(events.map((event) => event.position)).toEqual([1, 2, 3]);
        expect(events.map(bare)).toEqual([
          unblocked("a", "one"),
          unblocked("b", "two"),
          waitStarted("three"),
        ]);
      });

      test("what append answers is what a reader gets", async () => {
        const recorded = await log.append([unblocked("a"), waitStarted()]);
        expect(recorded).toEqual(await log.read(0));
      });

      test("the events of one append carry the same time, as a number", async () => {
        const [first, second] = (await log.append([unblocked("a"), unblocked("b")]))!;
        expect(first!.at).toBeTypeOf("number");
        expect(second!.at).toBe(first!.at);
      });

      test("nothing is appended and nothing answered for no events, whatever is expected", async () => {
        expect(await log.append([])).toEqual([]);
        expect(await log.append([], { position: 7 })).toEqual([]);
        expect(await log.read(0)).toEqual([]);
      });

      test("later changes to an appended event do not change what is stored", async () => {
        const event = {
          type: "task.unblocked" as const,
          task: "a",
          reason: "before",
          timeoutMs: null,
          by: "person" as const,
        };
        await log.append([event]);
        event.reason = "after";
        expect((await log.read(0)).map(bare)).toEqual([unblocked("a", "before")]);
      });

      test.each([
        ["unicode", "žluťoučký kůň 🐎 \u2028 ½ 漢字"],
        ["NUL and control characters", "a\0b\u0001\r\n\t\u007f"],
        ["half a surrogate pair", "x\ud83dy"],
        ["quotes and braces", `'"\`\\{}--;`],
        ["a megabyte", "0123456789abcdef".repeat(65_536)],
      ])("text comes back equal: %s", async (_what, text) => {
        await log.append([unblocked("a", text)]);
        expect((await log.read(0)).map(bare)).toEqual([unblocked("a", text)]);
      });
    });

    describe("what follows from events", () => {
      test("is appended with them, as they were recorded", async () => {
        await log.append([unblocked("a")]);
        const together = await log.append([unblocked("b")], { position: 1 }, (recorded) => {
          expect(recorded).toEqual([{ ...unblocked("b"), position: 2, at: recorded[0]?.at }]);
          return [unblocked("c"), unblocked("d")];
        });
        expect(positions(together)).toEqual([2, 3, 4]);
        expect(await log.read(1)).toEqual(together);
      });

      test("is told what came since a position, and nothing without one", async () => {
        const before = await log.append([unblocked("a"), unblocked("b"), unblocked("c")]);
        const told: (readonly Recorded[])[] = [];
        const following = (_own: readonly Recorded[], news: readonly Recorded[]): readonly Event[] => {
          told.push(news);
          return [];
        };
        await log.append([unblocked("d")], { since: 1 }, following);
        await log.append([unblocked("e")], { since: 4 }, following);
        await log.append([unblocked("f")], {}, following);
        expect(told).toEqual([before?.slice(1), [], []]);
      });

      test("is not even asked for when the expectation is not met", async () => {
        const following = (): never => {
          throw new Error("asked");
        };
        expect(await log.append([unblocked("a")], { position: 7 }, following)).toBeNull();
      });

      test("and nothing at all is written when it cannot be told", async () => {
        const following = (): never => {
          throw new Error("no idea");
        };
        await expect(log.append([unblocked("a")], {}, following)).rejects.toThrow("no idea");
        expect(await log.read(0)).toEqual([]);
        expect(positions(await log.append([unblocked("a")]))).toEqual([1]);
      });
    });

    describe("expectations", () => {
      beforeEach(async () => {
        await log.append([unblocked("a"), unblocked("b"), waitStarted()]);
      });

      test("a met expectation on the log appends", async () => {
        expect(positions(await log.append([unblocked("c")], { position: 3 }))).toEqual([4]);
      });

      test.each([0, 2, 4])(
        "an expectation on the log that is not met writes nothing: %i",
        async (position) => {
          expect(await log.append([unblocked("c"), unblocked("d")], { position })).toBeNull();
          expect(await log.read(3)).toEqual([]);
        },
      );

      test("an expectation on a task looks only at the events about that task", async () => {
        const expected = { task: { id: "a", position: 1 } };
        expect(positions(await log.append([unblocked("a")], expected))).toEqual([4]);
        expect(await log.append([unblocked("a")], expected)).toBeNull();
        expect(positions(await log.append([unblocked("a")], { task: { id: "a", position: 4 } }))).toEqual([
          5,
        ]);
      });

      test("a task without events is at position 0", async () => {
        const expected = { task: { id: "new", position: 0 } };
        expect(positions(await log.append([unblocked("new")], expected))).toEqual([4]);
        expect(await log.append([unblocked("new")], expected)).toBeNull();
      });

      test("several events with an expectation are appended all or none", async () => {
        const events = [unblocked("b"), unblocked("a"), waitStarted()];
        expect(await log.append(events, { task: { id: "b", position: 1 } })).toBeNull();
        expect(await log.read(3)).toEqual([]);
        expect(positions(await log.append(events, { task: { id: "b", position: 2 } }))).toEqual([4, 5, 6]);
      });

      test("of two expectations both must be met", async () => {
        const task = { id: "b", position: 2 };
        expect(await log.append([unblocked("b")], { task, position: 2 })).toBeNull();
        expect(
          await log.append([unblocked("b")], { task: { id: "b", position: 1 }, position: 3 }),
        ).toBeNull();
        expect(positions(await log.append([unblocked("b")], { task, position: 3 }))).toEqual([4]);
      });
    });

    describe("filters", () => {
      beforeEach(async () => {
        await log.append([waitStarted(), blocked("a", 1), blocked("b", 2), unblocked("a"), blocked("a", 3)]);
      });

      test("only events after the position are read", async () => {
        expect(positions(await log.read(3))).toEqual([4, 5]);
        expect(positions(await log.read(5))).toEqual([]);
        expect(positions(await log.read(99))).toEqual([]);
      });

      test("by one type, by several, by none", async () => {
        expect(positions(await log.read(0, { types: ["task.blocked"] }))).toEqual([2, 3, 5]);
        const types = ["task.unblocked", "task.blocked"] as const;
        expect(positions(await log.read(2, { types }))).toEqual([3, 4, 5]);
        expect(positions(await log.read(0, { types: [] }))).toEqual([]);
      });

      test("by task, by iteration, and by all together", async () => {
        expect(positions(await log.read(0, { task: "a" }))).toEqual([2, 4, 5]);
        expect(positions(await log.read(0, { iteration: 2 }))).toEqual([3]);
        const filter = { task: "a", iteration: 3, types: ["task.blocked"] } as const;
        expect(positions(await log.read(0, filter))).toEqual([5]);
        expect(positions(await log.read(0, { ...filter, task: "b" }))).toEqual([]);
      });

      test("by a range of iterations, both ends included", async () => {
        expect(positions(await log.read(0, { iterations: { from: 2, to: 3 } }))).toEqual([3, 5]);
        expect(positions(await log.read(3, { iterations: { from: 1, to: 9 } }))).toEqual([5]);
        expect(positions(await log.read(0, { iterations: { from: 3, to: 2 } }))).toEqual([]);
        const filter = { iterations: { from: 1, to: 3 }, types: ["task.blocked"], task: "a" } as const;
        expect(positions(await log.read(0, filter))).toEqual([2, 5]);
        expect(positions(await log.read(0, { ...filter, limit: 1 }))).toEqual([2]);
        expect(positions(await log.read(0, { ...filter, types: ["task.unblocked"] }))).toEqual([]);
      });

      test("a limit keeps the oldest of those that match", async () => {
        expect(positions(await log.read(1, { limit: 2 }))).toEqual([2, 3]);
        expect(positions(await log.read(0, { types: ["task.blocked"], limit: 2 }))).toEqual([2, 3]);
        expect(positions(await log.read(0, { task: "a", limit: 0 }))).toEqual([]);
        expect(positions(await log.read(0, { limit: 99 }))).toEqual([1, 2, 3, 4, 5]);
      });
    });

    describe("snapshots", () => {
      beforeEach(async () => {
        await log.append([waitStarted(), waitStarted()]);
      });

      test("there is none at first", async () => {
        expect(await log.loadSnapshot(1)).toBeNull();
      });

      test("the state comes back equal", async () => {
        await log.saveSnapshot(stateAt(2), 1);
        expect(await log.loadSnapshot(1)).toEqual(stateAt(2));
      });

      test("a later one replaces an earlier one", async () => {
        await log.saveSnapshot(stateAt(1), 1);
        await log.saveSnapshot(stateAt(2), 1);
        expect(await log.loadSnapshot(1)).toEqual(stateAt(2));
      });

      test("one of another version of the fold is ignored, and replaced", async () => {
        await log.saveSnapshot(stateAt(2), 1);
        expect(await log.loadSnapshot(2)).toBeNull();
        await log.saveSnapshot(stateAt(2), 2);
        expect(await log.loadSnapshot(1)).toBeNull();
        expect(await log.loadSnapshot(2)).toEqual(stateAt(2));
      });

      test("one that is ahead of the log is ignored", async () => {
        await log.saveSnapshot(stateAt(3), 1);
        expect(await log.loadSnapshot(1)).toBeNull();
      });
    });

    describe("several handles", () => {
      test("everything is there after reopening", async () => {
        await log.append([unblocked("a"), blocked("b", 1)]);
        await log.saveSnapshot(stateAt(2), 1);
        const events = await log.read(0);
        const reopened = await store.reopen();
        expect(await reopened.read(0)).toEqual(events);
        expect(await reopened.loadSnapshot(1)).toEqual(stateAt(2));
        expect(await reopened.append([unblocked("b")], { task: { id: "b", position: 1 } })).toBeNull();
        expect(positions(await reopened.append([unblocked("b")], { position: 2 }))).toEqual([3]);
      });

      test("two handles see each other's events", async () => {
        const second = await store.second();
        await log.append([unblocked("a")]);
        expect(positions(await second.read(0))).toEqual([1]);
        await second.append([unblocked("a")], { task: { id: "a", position: 1 } });
        expect(positions(await log.read(1))).toEqual([2]);
        expect(await log.append([unblocked("a")], { task: { id: "a", position: 1 } })).toBeNull();
      });

      test("many concurrent appends with expectations from two handles lose and double nothing", async () => {
        const second = await store.second();
        const answers = await Promise.all(
          Array.from({ length: appenders }, (_, index) =>
            appendInTurn(index % 2 === 0 ? log : second, index),
          ),
        );
        expect(answers.toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: appenders }, (_, index) => index + 1),
        );
        const events = await log.read(0);
        expect(await second.read(0)).toEqual(events);
        expect(positions(events)).toEqual(Array.from({ length: appenders }, (_, index) => index + 1));
        expect(new Set(events.map((event) => (event as { reason?: string }).reason)).size).toBe(appenders);
      });

      test("calls of all projects are counted together, from a moment or the last reset on", async () => {
        const other = await store.otherProject();
        await log.append([started(1), started(2), blocked("a", 1)]);
        await other.append([started(1), READER_ASKED]);
        expect(await log.countCalls(0)).toBe(4);
        expect(await other.countCalls(0)).toBe(4);
        expect(await log.countCalls(Date.now() + 3_600_000)).toBe(0);
        await other.append([{ type: "calls.reset" }]);
        expect(await log.countCalls(0)).toBe(0);
      });

      test("a call is admitted as long as there are fewer, and never one more", async () => {
        const other = await store.otherProject();
        const calls = { since: 0, below: 10 };
        const tries = Array.from({ length: 30 }, (_, index) =>
          (index % 2 === 0 ? log : other).append([started(index)], { calls }),
        );
        const admitted = (await Promise.all(tries)).filter((recorded) => recorded !== null);
        expect(admitted).toHaveLength(10);
        expect(await log.countCalls(0)).toBe(10);
      });

      test("costs of all projects are added up as far as they are known", async () => {
        const other = await store.otherProject();
        expect(await log.sumCosts(0)).toBe(0);
        await log.append([ended(1, 0.25), ended(2, null)]);
        await other.append([ended(1, 0.5), readFor(0.125)]);
        expect(await log.sumCosts(0)).toBe(0.875);
        expect(await log.sumCosts(Date.now() + 3_600_000)).toBe(0);
      });

      test("projects in one store do not see each other", async () => {
        const other = await store.otherProject();
        await log.append([blocked("a", 1), unblocked("a")]);
        await log.saveSnapshot(stateAt(2), 1);
        expect(await other.read(0)).toEqual([]);
        expect(await other.read(0, { task: "a" })).toEqual([]);
        expect(await other.loadSnapshot(1)).toBeNull();
        const expected = { task: { id: "a", position: 0 }, position: 0 };
        expect(positions(await other.append([blocked("a", 1)], expected))).toEqual([1]);
        await other.saveSnapshot(stateAt(1), 1);
        expect(await log.loadSnapshot(1)).toEqual(stateAt(2));
        expect(positions(await log.read(0, { iteration: 1 }))).toEqual([1]);
      });
    });
  });
}

/** Decides on the latest facts, again and again, until nobody came between. */
async function appendInTurn(log: Log, index: number): Promise<number> {
  const onTask = index % 4 < 2;
  const task = `task ${index % 8}`;
  for (;;) {
    const seen = await log.read(0, onTask ? { task } : {});
    const position = seen.at(-1)?.position ?? 0;
    const expected = onTask ? { task: { id: task, position } } : { position };
    const recorded = await log.append([unblocked(task, `append ${index}`)], expected);
    if (recorded !== null) return recorded[0]!.position;
  }
}

function unblocked(task: string, reason = "because"): Event {
  return { type: "task.unblocked", task, reason, timeoutMs: null, by: "person" };
}

function blocked(task: string, iteration: number): Event {
  return { type: "task.blocked", run: "run", task, iteration, reason: "stuck" };
}

function started(iteration: number): Event {
  return iterationStarted(iteration, task("a"));
}

function ended(iteration: number, costUsd: number | null): Event {
  return iterationEnded(iteration, task("a"), "none", { usage: { ...UNKNOWN_USAGE, costUsd } });
}

const READ = { run: "run-1", task: "a", iteration: 1 } as const;
const READER_ASKED: Event = { type: "reader.asked", ...READ, agent: "stub", marker: "m" };

function readFor(costUsd: number): Event {
  const usage = { ...UNKNOWN_USAGE, costUsd };
  const reading = { agent: "stub", review: null, failure: "gone", undone: [], usage, durationMs: 1 };
  return { type: "reader.answered", ...READ, reading };
}

function waitStarted(why = "limit"): Event {
  return { type: "wait.started", run: "run", until: 1_700_000_000_000, why };
}

function stateAt(position: number): State {
  return { ...EMPTY_STATE, position, lastIteration: position * 10 };
}

function positions(events: readonly Recorded[] | null): readonly number[] | null {
  return events === null ? null : events.map((event) => event.position);
}

function bare({ position: _position, at: _at, ...event }: Recorded): object {
  return event;
}
