import { describe, expect, test } from "vitest";
import { runStarted, settings, task, tasksObserved } from "../spec/given.ts";
import { VirtualTime } from "../../src/eval/virtual-time.ts";
import { MemoryLog } from "../../src/adapters/store/memory-log.ts";
import type { Event } from "../../src/core/events.ts";
import { NOTICE_KINDS, type Notice } from "../../src/core/views/notice.ts";
import { Journal } from "../../src/engine/journal.ts";
import type { Channel, ChannelName, Delivered, Delivery, Log } from "../../src/engine/ports.ts";
import { Notifier } from "../../src/engine/notify/notifier.ts";

const DELIVERED: Delivery = { is: "delivered" };
const DOWN: Delivery = { is: "failed", why: "ECONNREFUSED", retryAfterMs: null };
const HOUR_MS = 3_600_000;

/** Everything that outlives a process, and a receiver of which a test says what it answers. */
class Outside {
  readonly time = new VirtualTime();
  readonly log: Log = new MemoryLog({ now: () => this.time.now(), pause: async () => {} });
  readonly positions = new Map<ChannelName, number>();
  readonly got: { readonly notice: Notice; readonly at: number }[] = [];
  readonly warnings: string[] = [];
  answer: (signal: AbortSignal) => Delivery | Promise<Delivery> = () => DELIVERED;

  get texts(): readonly string[] {
    return this.got.map(({ notice }) => notice.text);
  }

  /** One process, to its end unless it dies. */
  async live(events: readonly Event[], options: { worker?: string; dies?: boolean } = {}): Promise<void> {
    const channel: Channel = {
      name: "webhook",
      shown: "there",
      send: async (notice, signal) => {
        const answer = await this.answer(signal);
        this.got.push({ notice, at: this.time.now() });
        return answer;
      },
    };
    const delivered: Delivered = {
      read: (name) => this.positions.get(name) ?? null,
      write: (name, position) => void this.positions.set(name, position),
    };
    const notifier = new Notifier({
      channels: [channel],
      kinds: NOTICE_KINDS.filter((kind) => kind !== "limit"),
      delivered,
      log: this.log,
      clock: this.time,
      ...(options.worker !== undefined && { worker: options.worker }),
      warn: (text) => void this.warnings.push(text),
      note: () => {},
    });
    const journal = await Journal.open(this.log, [notifier], () => this.time.now());
    await notifier.start(journal.state);
    for (const event of events) await this.log.append([event]);
    await journal.catchUp();
    if (options.dies !== true) await this.time.until(notifier.finish(), 1_000);
  }
}

function blocked(id: string, more: { worker?: string } = {}): Event {
  return { type: "task.blocked", run: "r", task: id, iteration: 1, reason: "why", ...more };
}

const BEGUN = [runStarted(settings()), tasksObserved(task("a"), task("b"))];
const never = (): Promise<Delivery> => new Promise(() => {});

describe("notices", () => {
  test("are sent once each, in the order of the facts, and only of the kinds that are wanted", async () => {
    const outside = new Outside();
    const until = outside.time.now() + HOUR_MS;
    const exhausted: Event = { type: "calls.exhausted", run: "r", until };
    await outside.live([...BEGUN, blocked("a"), exhausted, blocked("b")]);
    expect(outside.texts).toEqual(["a is blocked: why", "b is blocked: why"]);
    await outside.live([]);
    expect(outside.got).toHaveLength(2);
  });

  test("that were not wanted are not sent when they are wanted later", async () => {
    const outside = new Outside();
    const until = outside.time.now() + HOUR_MS;
    await outside.live([...BEGUN, { type: "calls.exhausted", run: "r", until }]);
    expect(outside.positions.get("webhook")).toBe(3);
    expect(outside.got).toEqual([]);
  });

  test("of facts before the channel was configured are not sent", async () => {
    const outside = new Outside();
    for (const event of [...BEGUN, blocked("a")]) await outside.log.append([event]);
    await outside.live([]);
    expect(outside.got).toEqual([]);
  });

  test("that a killed process did not get through are sent by the next, under the same id", async () => {
    const outside = new Outside();
    outside.answer = () => DOWN;
    await outside.live([...BEGUN, blocked("a")]);
    expect(outside.got.length).toBeGreaterThan(1);
    outside.answer = never;
    await outside.live([blocked("b")], { dies: true });
    const [first] = outside.got;
    outside.got.length = 0;
    outside.answer = () => DELIVERED;
    await outside.live([]);
    expect(outside.texts).toEqual(["a is blocked: why", "b is blocked: why"]);
    expect(outside.got[0]?.notice.id).toBe(first?.notice.id);
  });

  test("are tried again after growing pauses, with one warning, and the run ends meanwhile", async () => {
    const outside = new Outside();
    outside.answer = () => DOWN;
    const begun = outside.time.now();
    await outside.live([...BEGUN, blocked("a")]);
    expect(outside.got.map(({ at }) => at - begun)).toEqual([0, 1_000, 3_000, 7_000]);
    expect(outside.warnings).toEqual([
      "the webhook (there) cannot be reached: ECONNREFUSED; it is tried again, if need be by the next run",
    ]);
  });

  test("wait as long as the receiver asks for", async () => {
    const outside = new Outside();
    const begun = outside.time.now();
    outside.answer = () =>
      outside.got.length === 0 ? { is: "failed", why: "it answers 429", retryAfterMs: 4_000 } : DELIVERED;
    await outside.live([...BEGUN, blocked("a")]);
    expect(outside.got.map(({ at }) => at - begun)).toEqual([0, 4_000]);
  });

  test("leave a receiver alone that asks for more than the end of a run can wait", async () => {
    const outside = new Outside();
    const begun = outside.time.now();
    outside.answer = () => ({ is: "failed", why: "it answers 503", retryAfterMs: HOUR_MS });
    await outside.live([...BEGUN, blocked("a")]);
    expect(outside.got).toHaveLength(1);
    expect(outside.time.now()).toBe(begun);
    outside.answer = () => DELIVERED;
    await outside.live([]);
    expect(outside.texts).toEqual(["a is blocked: why", "a is blocked: why"]);
  });

  test("that are refused are not sent again, and hold up nothing", async () => {
    const outside = new Outside();
    outside.answer = () => (outside.got.length === 0 ? { is: "refused", why: "it answers 404" } : DELIVERED);
    await outside.live([...BEGUN, blocked("a"), blocked("b")]);
    expect(outside.got).toHaveLength(2);
    expect(outside.warnings).toEqual(["the webhook (there) does not take notices: it answers 404"]);
  });

  test("are given up when they are a day old", async () => {
    const outside = new Outside();
    outside.answer = () => DOWN;
    await outside.live([...BEGUN, blocked("a")]);
    outside.time.jump(25 * HOUR_MS);
    outside.got.length = 0;
    outside.answer = () => DELIVERED;
    await outside.live([blocked("b")]);
    expect(outside.texts).toEqual(["b is blocked: why"]);
  });

  test("hold up the end of a run for ten seconds at most", async () => {
    const outside = new Outside();
    const begun = outside.time.now();
    outside.answer = (signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(DOWN));
      });
    await outside.live([...BEGUN, blocked("a")]);
    expect(outside.time.now() - begun).toBe(10_000);
  });

  test("of a run that workers share are sent by who recorded the fact", async () => {
    const outside = new Outside();
    await outside.live([], { worker: "one" });
    await outside.live([...BEGUN, blocked("a", { worker: "one" }), blocked("b", { worker: "two" })], {
      worker: "one",
    });
    expect(outside.texts).toEqual(["a is blocked: why"]);
  });

  test("of a log that was begun anew are those from then on", async () => {
    const outside = new Outside();
    outside.positions.set("webhook", 900);
    await outside.live([...BEGUN, blocked("a")]);
    expect(outside.texts).toEqual(["a is blocked: why"]);
  });

  test("do not end the run when the channel itself breaks", async () => {
    const outside = new Outside();
    outside.answer = () => {
      if (outside.got.length === 0) outside.got.push({ notice: {} as Notice, at: 0 });
      else return DELIVERED;
      throw new Error("broken");
    };
    await outside.live([...BEGUN, blocked("a")]);
    expect(outside.texts.at(-1)).toBe("a is blocked: why");
  });
});
