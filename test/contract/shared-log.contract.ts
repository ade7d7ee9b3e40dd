import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Event } from "../../src/core/events.ts";
import type { SharedLog } from "../../src/engine/fleet-ports.ts";

export interface SharedLogUnderTest {
  readonly log: SharedLog;
  /** The same log on another machine. */
  second(): Promise<SharedLog>;
  otherProject(): Promise<SharedLog>;
  /** Gives out a lease anew, to whomever; answers its number. */
  giveLease(name: string): Promise<number>;
  close(): Promise<void>;
}

/** What a log that workers on several machines write to must do beside what every log must. */
export function describeSharedLog(name: string, open: () => Promise<SharedLogUnderTest>): void {
  describe(`the shared log kept by ${name}`, () => {
    let store: SharedLogUnderTest;
    let log: SharedLog;
    beforeEach(async () => {
      store = await open();
      log = store.log;
    });
    afterEach(() => store.close());

    describe("leases", () => {
      const lost = expect.objectContaining({ code: "lease-lost" });

      test("who has the last one may append", async () => {
        const number = await store.giveLease("a");
        expect(await log.append([reset("a")], { leases: [{ name: "a", number }] })).toHaveLength(1);
        expect(await log.append([reset("a")], { leases: [{ name: "a", number }] })).toHaveLength(1);
      });

      test("who has an earlier one may not, and nothing is written", async () => {
        const number = await store.giveLease("a");
        await store.giveLease("a");
        await expect(log.append([reset("a")], { leases: [{ name: "a", number }] })).rejects.toEqual(lost);
        expect(await log.read(0)).toEqual([]);
      });

      test("one that was never given out is no lease", async () => {
        await expect(log.append([reset("a")], { leases: [{ name: "a", number: 1 }] })).rejects.toEqual(lost);
      });

      test("every one that is named must be the last", async () => {
        const [task, part] = [await store.giveLease("a"), await store.giveLease("@keeper")];
        const both = [
          { name: "a", number: task },
          { name: "@keeper", number: part },
        ];
        expect(await log.append([reset("a")], { leases: both })).toHaveLength(1);
        await store.giveLease("@keeper");
        await expect(log.append([reset("a")], { leases: both })).rejects.toEqual(lost);
        expect(await log.append([reset("a")], { leases: both.slice(0, 1) })).toHaveLength(1);
      });

      test("that it is lost is told before that something came between", async () => {
        const number = await store.giveLease("a");
        await log.append([reset("a")]);
        const expected = { position: 0, leases: [{ name: "a", number }] };
        expect(await log.append([reset("a")], expected)).toBeNull();
        await store.giveLease("a");
        await expect(log.append([reset("a")], expected)).rejects.toEqual(lost);
      });

      test("another project's lease of the same name is another one", async () => {
        const number = await store.giveLease("a");
        const other = await store.otherProject();
        await expect(other.append([reset("a")], { leases: [{ name: "a", number }] })).rejects.toEqual(lost);
      });

      test("after a loss the log goes on", async () => {
        await expect(log.append([reset("a")], { leases: [{ name: "a", number: 7 }] })).rejects.toEqual(lost);
        expect(await log.append([reset("b")])).toMatchObject([{ position: 1 }]);
      });
    });

    describe("what is decided in turn", () => {
      const never = { since: 0, below: 0 };

      test("rests on everything that came since, and nobody comes between", async () => {
        const second = await store.second();
        const count = async (own: SharedLog): Promise<unknown> =>
          own.appendDecided?.(0, (news) => [reset(`${news.length}`)]);
        await Promise.all(Array.from({ length: 20 }, (_, index) => count(index % 2 === 0 ? log : second)));
        const tasks = (await log.read(0)).map((event) => ("task" in event ? event.task : ""));
        expect(tasks).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`));
      });

      test("nothing is written when nothing is decided, or the calls are used up", async () => {
        expect(await log.appendDecided?.(0, () => null)).toBeNull();
        expect(await log.appendDecided?.(0, () => [reset("a")], never)).toBeNull();
        expect(await log.read(0)).toEqual([]);
      });

      test("is fenced by the leases that belong to it", async () => {
        const number = await store.giveLease("a");
        const decide = (): readonly Event[] => [reset("a")];
        const append = (lease: number) =>
          log.appendDecided?.(0, decide, undefined, () => [{ name: "a", number: lease }]);
        expect(await append(number)).toHaveLength(1);
        await store.giveLease("a");
        await expect(append(number)).rejects.toMatchObject({ code: "lease-lost" });
        expect(await log.read(0)).toHaveLength(1);
      });
    });

    describe("listening", () => {
      test("hears what others append, and oneself", async () => {
        const heard = vi.fn<() => void>();
        const listening = await log.listen(heard);
        await (await store.second()).append([reset("a")]);
        await vi.waitFor(() => expect(heard).toHaveBeenCalled(), PATIENCE);
        heard.mockClear();
        await log.append([reset("a")]);
        await vi.waitFor(() => expect(heard).toHaveBeenCalled(), PATIENCE);
        await listening.close();
      });

      test("what is heard of can be read", async () => {
        const second = await store.second();
        const seen: number[] = [];
        const listening = await log.listen(() => {
          void log.read(0).then((events) => seen.push(events.length));
        });
        await second.append([reset("a"), reset("b")]);
        await vi.waitFor(() => expect(seen).toContain(2), PATIENCE);
        await listening.close();
      });

      test("hears nothing of other projects, and nothing after it was closed", async () => {
        const heard = vi.fn<() => void>();
        const heardThere = vi.fn<() => void>();
        const other = await store.otherProject();
        const listening = await log.listen(heard);
        const there = await other.listen(heardThere);
        await other.append([reset("a")]);
        await vi.waitFor(() => expect(heardThere).toHaveBeenCalled(), PATIENCE);
        expect(heard).not.toHaveBeenCalled();
        await listening.close();
        heardThere.mockClear();
        await log.append([reset("a")]);
        await other.append([reset("a")]);
        await vi.waitFor(() => expect(heardThere).toHaveBeenCalled(), PATIENCE);
        expect(heard).not.toHaveBeenCalled();
        await there.close();
      });
    });
  });
}

const PATIENCE = { timeout: 20_000 };

function reset(task: string): Event {
  return { type: "task.reset", task };
}
