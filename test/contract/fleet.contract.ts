import { describe, expect, test } from "vitest";
import type { Fleet, Lease, Offer, WorkerReport } from "../../src/engine/fleet-ports.ts";

export interface FleetUnderTest {
  readonly leaseMs: number;
  join(
    id: string,
    options?: { readonly labels?: readonly string[]; readonly project?: string },
  ): Promise<Fleet>;
  sleep(ms: number): Promise<void>;
  close(): Promise<void>;
}

const BUSY: WorkerReport = { lanes: 2, isLeaving: false, progress: [] };
const ANY: readonly (readonly string[])[] = [[]];
/** Steps of a fifth of a lease that something may take to happen. */
const STEPS_MAX = 150;

/** What every fleet must do; `open` gives a fresh one without workers. */
export function describeFleet(
  name: string,
  open: (lease: "long" | "short") => Promise<FleetUnderTest>,
): void {
  /** Nothing runs out in the long one, however slow the machine is. */
  const inFleet = test.extend<{ fleet: FleetUnderTest; hasty: FleetUnderTest }>({
    // oxlint-disable-next-line no-empty-pattern
    fleet: async ({}, use) => {
      const under = await open("long");
      await use(under);
      await under.close();
    },
    // oxlint-disable-next-line no-empty-pattern
    hasty: async ({}, use) => {
      const under = await open("short");
      await use(under);
      await under.close();
    },
  });

  describe.concurrent(`the fleet on ${name}`, () => {
    describe.concurrent("offering and taking", () => {
      inFleet("an offered task is held by the one who takes it, and by nobody else", async ({ fleet }) => {
        const [a, b] = [await fleet.join("a"), await fleet.join("b")];
        await a.offer([offer("one")]);
        expect(await a.take(2, ANY)).toEqual([
          { name: "one", number: expect.any(Number) as number, from: null },
        ]);
        expect(await b.take(2, ANY)).toEqual([]);
      });

      inFleet("nothing is taken where nothing was offered, or no lane is free", async ({ fleet }) => {
        const a = await fleet.join("a");
        expect(await a.take(2, ANY)).toEqual([]);
        await a.offer([]);
        await a.offer([offer("one")]);
        expect(await a.take(0, ANY)).toEqual([]);
        expect(await a.take(1, [])).toEqual([]);
      });

      inFleet("twenty workers who take at the same moment never hold the same task", async ({ fleet }) => {
        const workers = await Promise.all(range(20).map((index) => fleet.join(`w${index}`)));
        await workers[0]!.offer(range(50).map((index) => offer(`task ${index}`, { rank: index })));
        const taken: Lease[] = [];
        for (let round = 0; taken.length < 50; round += 1) {
          expect(round).toBeLessThan(STEPS_MAX);
          const beats = workers.map((worker) => worker.beat(BUSY));
          const takes = await Promise.all(workers.map((worker) => worker.take(1 + (round % 2), ANY)));
          taken.push(...takes.flat());
          expect((await Promise.all(beats)).flatMap(({ lost }) => lost)).toEqual([]);
        }
        expect(new Set(taken.map(({ name }) => name)).size).toBe(50);
        expect(taken.map(({ from }) => from)).toEqual(range(50).map(() => null));
      });

      inFleet("the best come first, also across labels", async ({ fleet }) => {
        const a = await fleet.join("a", { labels: ["gpu", "os:linux"] });
        await a.offer([
          offer("third", { rank: 2 }),
          offer("fourth", { rank: 3, labels: ["gpu"] }),
          offer("second", { rank: 1, labels: ["gpu"] }),
          offer("first", { rank: 0 }),
        ]);
        const sets = [[], ["gpu"], ["os:linux"]];
        expect(names(await a.take(1, sets))).toEqual(["first"]);
        expect(names(await a.take(2, sets))).toEqual(["second", "third"]);
        expect(names(await a.take(2, sets))).toEqual(["fourth"]);
      });

      inFleet(
        "a worker gets what it has every label for, of what still is in the plan",
        async ({ fleet }) => {
          const labels = ["agent:claude", "os:linux"];
          const [plain, able] = [await fleet.join("plain"), await fleet.join("able", { labels })];
          await plain.offer([offer("one", { labels }), offer("two", { labels: ["os:windows"] })]);
          const sets = [labels, ["os:windows"]];
          expect(await plain.take(5, sets)).toEqual([]);
          expect(await able.take(5, ANY)).toEqual([]);
          expect(names(await able.take(5, sets))).toEqual(["one"]);
        },
      );

      inFleet("offering again changes nothing while it waits or somebody holds it", async ({ fleet }) => {
        const [a, b] = [await fleet.join("a"), await fleet.join("b")];
        await a.offer([offer("one")]);
        await b.offer([offer("one"), offer("two", { rank: 1 })]);
        expect(names(await a.take(5, ANY))).toEqual(["one", "two"]);
        await b.offer([offer("one"), offer("two"), offer("one", { labels: ["other"] })]);
        expect(await b.take(5, [[], ["other"]])).toEqual([]);
      });

      inFleet("a task that is delivered twice is held once", async ({ fleet }) => {
        const a = await fleet.join("a", { labels: ["x"] });
        await a.offer([offer("one"), offer("one", { labels: ["x"] })]);
        const [lease, ...others] = await a.take(5, [[], ["x"]]);
        expect(lease).toMatchObject({ name: "one", number: expect.any(Number) as number });
        expect(others).toEqual([]);
        expect(await a.take(5, [[], ["x"]])).toEqual([]);
        expect((await a.beat(BUSY)).lost).toEqual([]);
      });

      inFleet("projects do not see each other's tasks, parts and workers", async ({ fleet }) => {
        const [a, b] = [await fleet.join("a"), await fleet.join("b", { project: "other" })];
        await a.offer([offer("one")]);
        await a.takeRole("@keeper");
        expect(await b.take(1, ANY)).toEqual([]);
        expect(await b.takeRole("@keeper")).toMatchObject({ number: expect.any(Number) as number });
        expect((await b.workers()).map(({ id }) => id)).toEqual(["b"]);
      });
    });

    describe.concurrent("releasing", () => {
      inFleet("a released task can be offered anew, and gets a higher number", async ({ fleet }) => {
        const [a, b] = [await fleet.join("a"), await fleet.join("b")];
        await a.offer([offer("one")]);
        const [lease] = await a.take(1, ANY);
        await a.release(lease!);
        await a.release(lease!);
        expect(await b.take(1, ANY)).toEqual([]);
        await b.offer([offer("one")]);
        expect(await b.take(1, ANY)).toEqual([{ name: "one", number: above(lease), from: null }]);
        expect((await a.beat(BUSY)).lost).toEqual([]);
      });

      inFleet("who leaves releases everything and is gone", async ({ fleet }) => {
        const [a, b] = [await fleet.join("a"), await fleet.join("b")];
        await a.offer([offer("one"), offer("two")]);
        const [one, two] = await a.take(2, ANY);
        const part = await a.takeRole("@merger");
        await a.leave();
        expect(await b.takeRole("@merger")).toEqual({ name: "@merger", number: above(part), from: null });
        await b.offer([offer("one"), offer("two")]);
        expect((await b.take(2, ANY)).map(({ number, from }) => [number, from])).toEqual([
          [above(one), null],
          [above(two), null],
        ]);
        expect((await b.workers()).map(({ id, is, holds }) => [id, is, holds])).toEqual([
          ["a", "gone", []],
          ["b", "here", ["@merger", "one", "two"]],
        ]);
      });
    });

    describe.concurrent("going silent", () => {
      inFleet(
        "the task of a silent worker goes to another, though nobody offers it again",
        async ({ hasty: fleet }) => {
          const [a, b] = [await fleet.join("a"), await fleet.join("b")];
          await a.offer([offer("one"), offer("two")]);
          const [lost] = await a.take(1, ANY);
          const [kept] = await b.take(1, ANY);
          const [lease] = await until(fleet, [b], () => b.take(1, ANY), isSome);
          expect(lease).toEqual({ name: lost!.name, number: above(lost), from: "a" });
          expect(await a.take(1, ANY)).toEqual([]);
          expect((await b.beat(BUSY)).lost).toEqual([]);
          expect((await b.workers()).map(({ id, is, holds }) => [id, is, holds])).toEqual([
            ["a", "vanished", []],
            ["b", "here", [lost!.name, kept!.name].toSorted()],
          ]);
        },
      );

      inFleet("nobody takes a task whose worker beats", async ({ hasty: fleet }) => {
        const [a, b] = [await fleet.join("a"), await fleet.join("b")];
        await a.offer([offer("one")]);
        await a.take(1, ANY);
        for (let step = 0; step < 8; step += 1) {
          await fleet.sleep(fleet.leaseMs / 5);
          expect((await a.beat(BUSY)).lost).toEqual([]);
          await b.offer([offer("one")]);
          expect(await b.take(1, ANY)).toEqual([]);
        }
      });

      inFleet(
        "who wakes up is told once what is lost, and neither beats nor releases get it back",
        async ({ hasty: fleet }) => {
          const [a, b] = [await fleet.join("a"), await fleet.join("b")];
          await a.offer([offer("one")]);
          const [lease] = await a.take(1, ANY);
          await until(fleet, [b], () => b.take(1, ANY), isSome);
          expect((await a.beat(BUSY)).lost).toEqual(["one"]);
          expect((await a.beat(BUSY)).lost).toEqual([]);
          await a.release(lease!);
          expect((await b.beat(BUSY)).lost).toEqual([]);
          await a.offer([offer("one")]);
          expect(await a.take(1, ANY)).toEqual([]);
        },
      );

      inFleet("what ran out is lost, even if nobody took it", async ({ hasty: fleet }) => {
        const a = await fleet.join("a");
        await a.offer([offer("one")]);
        const [lease] = await a.take(1, ANY);
        const { lost } = await until(
          fleet,
          [],
          async () => {
            await fleet.sleep(fleet.leaseMs * 1.5);
            return a.beat(BUSY);
          },
          ({ lost }) => lost.length > 0,
        );
        expect(lost).toEqual(["one"]);
        await a.release(lease!);
        expect(await a.take(1, ANY)).toEqual([{ name: "one", number: above(lease), from: "a" }]);
      });

      inFleet(
        "a new process of the same worker takes over at once what the old one held",
        async ({ fleet }) => {
          const before = await fleet.join("a");
          await before.offer([offer("one")]);
          const [lease] = await before.take(1, ANY);
          const part = await before.takeRole("@keeper");
          const after = await fleet.join("a");
          expect(await after.take(1, ANY)).toEqual([{ name: "one", number: above(lease), from: "a" }]);
          expect(await after.takeRole("@keeper")).toEqual({
            name: "@keeper",
            number: above(part),
            from: "a",
          });
          expect((await before.beat(BUSY)).lost.toSorted()).toEqual(["@keeper", "one"]);
          expect((await after.beat(BUSY)).lost).toEqual([]);
        },
      );
    });

    describe.concurrent("parts", () => {
      inFleet("one worker plays a part, under one number, until it is released", async ({ fleet }) => {
        const [a, b] = [await fleet.join("a"), await fleet.join("b")];
        const part = await a.takeRole("@keeper");
        expect(part).toMatchObject({ name: "@keeper", from: null });
        expect(await a.takeRole("@keeper")).toEqual(part);
        expect(await b.takeRole("@keeper")).toBeNull();
        expect(await b.takeRole("@merger")).toEqual({
          name: "@merger",
          number: expect.any(Number) as number,
          from: null,
        });
        await a.release(part!);
        expect(await b.takeRole("@keeper")).toEqual({ name: "@keeper", number: above(part), from: null });
        expect(await a.takeRole("@keeper")).toBeNull();
      });

      inFleet("twenty who want a part at the same moment: one gets it", async ({ fleet }) => {
        const workers = await Promise.all(range(20).map((index) => fleet.join(`w${index}`)));
        const played = await Promise.all(workers.map((worker) => worker.takeRole("@merger")));
        expect(played.filter((lease) => lease !== null)).toHaveLength(1);
      });

      inFleet("another plays the part of one who went silent", async ({ hasty: fleet }) => {
        const [a, b] = [await fleet.join("a"), await fleet.join("b")];
        const part = await a.takeRole("@keeper");
        const lease = await until(fleet, [b], () => b.takeRole("@keeper"), isThere);
        expect(lease).toEqual({ name: "@keeper", number: above(part), from: "a" });
        expect(await a.takeRole("@keeper")).toBeNull();
      });
    });

    describe.concurrent("the workers", () => {
      inFleet("are seen with what they say of themselves, the longest here first", async ({ fleet }) => {
        const a = await fleet.join("a", { labels: ["gpu", "os:linux"] });
        await fleet.sleep(5);
        const b = await fleet.join("b");
        const progress = [{ task: "one", doing: "a\0b \ud800 ½" }, null];
        const { now } = await b.beat({ lanes: 3, isLeaving: true, progress });
        await a.beat(BUSY);
        const [first, second, ...others] = await a.workers();
        expect(others).toEqual([]);
        expect(first).toMatchObject({
          id: "a",
          is: "here",
          lanes: 2,
          labels: ["gpu", "os:linux"],
          holds: [],
        });
        expect(second).toMatchObject({ id: "b", is: "leaving", lanes: 3, labels: [] });
        expect(second!.progress).toMatchObject([{ task: "one" }, null]);
        expect(second!.seenAt).toBeGreaterThanOrEqual(now);
        expect(second!.startedAt).toBeLessThanOrEqual(now);
      });
    });
  });

  async function until<Found>(
    fleet: FleetUnderTest,
    alive: readonly Fleet[],
    look: () => Promise<Found>,
    isFound: (found: Found) => boolean,
  ): Promise<Found> {
    for (let step = 0; step < STEPS_MAX; step += 1) {
      for (const worker of alive) await worker.beat(BUSY);
      const found = await look();
      if (isFound(found)) return found;
      await fleet.sleep(fleet.leaseMs / 5);
    }
    throw new Error("it does not happen");
  }
}

function offer(task: string, { rank = 0, labels = [] }: Partial<Offer> = {}): Offer {
  return { task, rank, labels };
}

function names(leases: readonly Lease[]): readonly string[] {
  return leases.map(({ name }) => name);
}

function isSome(found: readonly unknown[]): boolean {
  return found.length > 0;
}

function isThere(found: unknown): boolean {
  return found !== null;
}

/** A number that was given out later than this lease. */
function above(lease: Lease | null | undefined): number {
  return expect.toSatisfy((number: number) => number > (lease?.number ?? Infinity)) as number;
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
