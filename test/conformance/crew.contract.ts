import { afterEach, describe, expect, test } from "vitest";
import { until, WORKS, type Steps } from "../e2e/project.ts";
import type { Crew, Fact, Plan } from "./crew.ts";
import { endingsOf, expectSound, tasksOf } from "./invariants.ts";
import { PATIENT } from "./signs.ts";

export interface Kind {
  readonly name: string;
  readonly create: (plan: Plan, options: { readonly losesDatabase: boolean }) => Promise<Crew>;
  /** Whether others go on when one of them is gone, and a network lies between them and the database. */
  readonly hasOthers: boolean;
}

const TASKS = ["a", "b", "c"];
const BUSY: Steps = [{ sleep: 200 }, ...WORKS];

/** The same for everybody who works on tasks: whatever happens, each is done once, and the log says how. */
export function describeCrew({ name, create, hasOthers }: Kind): void {
  let crew: Crew;
  let since: string;
  afterEach(() => crew.dispose());

  /** The agent of the first task waits for a word; so it is at work while something happens. */
  const begin = async ({ losesDatabase = false } = {}): Promise<void> => {
    const others = TASKS.slice(1).map((task) => [task, [BUSY]] as const);
    crew = await create(
      { tasks: TASKS, script: { a: [PATIENT], ...Object.fromEntries(others) } },
      { losesDatabase },
    );
    since = crew.git("rev-parse", "main");
    await crew.start();
    await crew.signs.begun("a", 1);
  };
  const finish = async (
    done: readonly string[] = TASKS,
    cancelled: readonly string[] = [],
  ): Promise<readonly Fact[]> => {
    await crew.finish();
    return expectSound(crew, { done, cancelled, since });
  };
  const startsOf = (facts: readonly Fact[]): number => tasksOf(facts, "iteration.started").length;

  describe(`a crew of ${name}`, () => {
    test("left alone: one iteration a task", async () => {
      await begin();
      crew.signs.letGo("a");
      expect(startsOf(await finish())).toBe(TASKS.length);
    });

    test("kill -9: the iteration is interrupted, keeps its number, and another one follows", async () => {
      await begin();
      await crew.kill("a");
      await crew.signs.begun("a", 2);
      crew.signs.letGo("a");
      expect(endingsOf(await finish(), "a")).toEqual(["interrupted", "exited"]);
    });

    test("frozen and woken up: nothing is done twice, and nothing comes from the past", async () => {
      await begin();
      const frozen = await crew.freeze("a");
      // Its agent goes on, and has something to say when it wakes up.
      crew.signs.letGo("a");
      await frozen.missed();
      if (hasOthers)
        await until(
          "the others have done everything, and put the branches away",
          async () =>
            TASKS.every((task) => crew.git("ls-tree", "main", `${task}.txt`) !== "") &&
            crew.git("for-each-ref", "refs/heads/ralph") === "",
        );
      const before = crew.git("for-each-ref", "refs/heads", "refs/ralph/merged");
      await frozen.wake();
      if (hasOthers) expect(crew.git("for-each-ref", "refs/heads", "refs/ralph/merged")).toBe(before);
      expect(startsOf(await finish())).toBe(hasOthers ? TASKS.length + 1 : TASKS.length);
    });

    test("a task that is cancelled ends, and the others are done", async () => {
      await begin();
      await crew.cancel("a");
      const facts = await finish(TASKS.slice(1), ["a"]);
      expect(startsOf(facts)).toBe(TASKS.length);
    });

    test("told twice: it is done once", async () => {
      await begin();
      await crew.deliverTwice("a");
      crew.signs.letGo("a");
      expect(startsOf(await finish())).toBe(TASKS.length);
    });

    test("a database that is away for a moment: the work goes on where it was", async () => {
      await begin({ losesDatabase: true });
      await crew.loseDatabase("in good order");
      crew.signs.letGo("a");
      await finish();
    });

    test("a database that dies and is away for longer: nobody is taken for dead, nothing is lost", async () => {
      await begin({ losesDatabase: true });
      await crew.loseDatabase("by kill -9");
      crew.signs.letGo("a");
      await finish();
    });

    test("cut off from the database, others go on; without a network there is nothing to cut", async () => {
      await begin();
      expect(crew.cutOff !== null).toBe(hasOthers);
      const reconnect = await crew.cutOff?.("a");
      await crew.signs.begun("a", hasOthers ? 2 : 1);
      crew.signs.letGo("a");
      reconnect?.();
      expect(endingsOf(await finish(), "a")).toEqual(hasOthers ? ["interrupted", "exited"] : ["exited"]);
    });
  });
}
