import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FieldEdit } from "../../src/core/review/story-review.ts";
import type { ListChange } from "../../src/core/plan-checks.ts";
import type { OperatorsList, PutBackRequest, Stories, TaskSource } from "../../src/engine/ports.ts";

/** A source with two open tasks, and hands that can tick the first one. */
export interface TaskSourceSubject {
  readonly source: TaskSource;
  /** Ticks the first task as an agent or a person would; absent where there is nothing to tick. */
  tick?(): Promise<void>;
  dispose(): Promise<void>;
}

export function describeTaskSource(name: string, create: () => Promise<TaskSourceSubject>): void {
  describe(`the tasks of ${name}`, () => {
    let subject: TaskSourceSubject;
    let source: TaskSource;

    beforeEach(async () => {
      subject = await create();
      source = subject.source;
    });
    afterEach(() => subject.dispose());

    const firstTask = async (): Promise<string> => (await source.observe()).tasks[0]!.id;
    const doneTasks = async (): Promise<string[]> =>
      (await source.observe()).tasks.filter((task) => task.done).map((task) => task.id);

    test("every look shows the same tasks, open, with different ids", async () => {
      const plan = await source.observe();
      const ids = plan.tasks.map((task) => task.id);
      expect(plan.source).toEqual(source.identity);
      expect(ids.length).toBeGreaterThan(0);
      expect(new Set(ids).size).toBe(ids.length);
      expect(await doneTasks()).toEqual([]);
      expect(await source.observe()).toEqual(plan);
    });

    test("a mark may be made twice", async () => {
      const id = await firstTask();
      await source.mark(id);
      const plan = await source.observe();
      await source.mark(id);
      expect(await source.observe()).toEqual(plan);
      expect(await doneTasks()).toEqual(subject.tick === undefined ? [] : [id]);
    });

    test("marking a task that is not there does nothing", async () => {
      const plan = await source.observe();
      await source.mark("gone");
      expect(await source.observe()).toEqual(plan);
    });

    test("marks that nobody is entitled to are taken back and named, once", async () => {
      if (subject.tick === undefined || source.takeBackMarks === undefined) return;
      const id = await firstTask();
      await subject.tick();
      expect(await source.takeBackMarks(new Set())).toEqual([id]);
      expect(await doneTasks()).toEqual([]);
      expect(await source.takeBackMarks(new Set())).toEqual([]);
    });

    test("marks of tasks that are done stay", async () => {
      if (source.takeBackMarks === undefined) return;
      const id = await firstTask();
      await source.mark(id);
      expect(await source.takeBackMarks(new Set([id]))).toEqual([]);
      expect(await doneTasks()).toEqual(subject.tick === undefined ? [] : [id]);
    });

    test("what an agent ticks in a list is put back and named, however often it is asked for", async () => {
      const { list } = source;
      if (subject.tick === undefined || list === undefined) return;
      const id = await firstTask();
      await list.keep();
      await subject.tick();
      await list.see(null);
      await twice(async () => {
        expect(await list.putBack({ iteration: 1 })).toEqual([{ is: "ticked", task: id }]);
        expect(await doneTasks()).toEqual([]);
      });
    });

    test("what somebody else ticks in a list when the agent is gone stays", async () => {
      const { list } = source;
      if (subject.tick === undefined || list === undefined) return;
      await list.keep();
      await list.see(null);
      await subject.tick();
      expect(await list.putBack({ iteration: 1 })).toEqual([]);
      expect(await doneTasks()).toEqual([await firstTask()]);
    });

    test("a mark that was there before the agent started stays", async () => {
      const { list } = source;
      if (list === undefined) return;
      await source.mark(await firstTask());
      const done = await doneTasks();
      await list.keep();
      await list.see(null);
      expect(await list.putBack({ iteration: 1 })).toEqual([]);
      expect(await doneTasks()).toEqual(done);
    });
  });
}

/** A source whose file is a text with stories, and hands that write another, or remove it. */
export interface StoriesSubject {
  readonly source: TaskSource;
  text(): Promise<string | null>;
  put(text: string | null): Promise<void>;
  dispose(): Promise<void>;
}

const APPROVAL: readonly FieldEdit[] = [
  { story: "b", field: "reviewStatus", value: "approved" },
  { story: "b", field: "passes", value: true },
  { story: "b", field: "reviewCount", value: 2 },
  { story: "b", field: "notes", value: 'as "agreed"\n' },
];

type Fields = Readonly<Record<string, unknown>>;

export function describeStories(name: string, create: (text: string) => Promise<StoriesSubject>): void {
  describe(`the stories of ${name}`, () => {
    const a = { id: "a", title: "A", passes: false, reviewStatus: null, reviewCount: 0, notes: "" };
    const b = { id: "b", title: "B", colour: "green", reviewStatus: "needs_review", reviewCount: 1 };
    const c = { id: "c", title: "C", dependsOn: ["b"], passes: false };
    const fileOf = (...userStories: readonly Fields[]): string =>
      JSON.stringify({ project: "simulated", userStories });
    const whole = fileOf(a, b, c);
    let subject: StoriesSubject;
    let source: TaskSource;
    let stories: Stories;
    let list: OperatorsList;

    beforeEach(async () => {
      subject = await create(whole);
      source = subject.source;
      if (source.stories === undefined || source.list === undefined)
        throw new Error("a source without stories");
      ({ stories, list } = source);
      await list.keep();
    });
    afterEach(() => subject.dispose());

    test("are tasks that carry their review state, whatever their fields leave out", async () => {
      const { tasks } = await source.observe();
      expect(tasks.map(({ review }) => review)).toEqual([
        { ...UNTOUCHED, id: "a" },
        { ...UNTOUCHED, id: "b", reviewStatus: "needs_review", reviewCount: 1 },
        { ...UNTOUCHED, id: "c", hasReviewFields: false },
      ]);
    });

    /** An agent leaves this behind; `settle` says which fields stay. */
    const leave = async (
      text: string | null,
      settle: PutBackRequest["settle"] = () => [],
    ): Promise<readonly ListChange[]> => {
      await subject.put(text);
      await list.see(null);
      return list.putBack({ iteration: 1, settle });
    };

    test.each([
      ["gone", null],
      ["empty", ""],
      ["half a file", whole.slice(0, -2)],
    ])("cannot be read from a file that is %s, and come back with it", async (_what, text) => {
      let read: unknown = "nothing";
      const changes = await leave(text, (file) => {
        read = file;
        return [];
      });
      expect(read).toBeUndefined();
      expect(changes).not.toEqual([]);
      expect(await subject.text()).toBe(whole);
    });

    test.each([
      ["an id twice", [a, a, b, c]],
      ["a story without a title", [{ ...a, title: "" }, b, c]],
      ["a story that another needs", [a, c]],
      ["one more story", [a, b, c, { id: "d", title: "D" }]],
      ["no story", []],
    ] as const)("come back as they were, whatever an agent made of them: %s", async (_what, left) => {
      expect(await leave(fileOf(...left))).not.toEqual([]);
      expect(await subject.text()).toBe(whole);
    });

    test("keep what the agent may have changed, and nothing else, however often", async () => {
      const made = { ...b, reviewStatus: "approved", passes: true };
      await subject.put(fileOf({ ...a, passes: true }, made, c));
      await list.see(null);
      await twice(async () => {
        const changes = await list.putBack({
          iteration: 1,
          settle: (file) => {
            expect(file).toEqual(JSON.parse(fileOf({ ...a, passes: true }, made, c)));
            return APPROVAL.slice(0, 2);
          },
        });
        expect(changes).toContainEqual({ is: "ticked", task: "a" });
        expect(await subject.text()).toBe(fileOf(a, made, c));
      });
    });

    test("that a person adds while an agent works stay", async () => {
      await list.see([]);
      await subject.put(fileOf(a, b, c, { id: "d", title: "D" }));
      expect(await list.putBack({ iteration: 1 })).toEqual([]);
      expect(await subject.text()).toBe(fileOf(a, b, c, { id: "d", title: "D" }));
    });

    test("get the fields that are set, and nothing else changes, however often", async () => {
      const approved = { reviewStatus: "approved", reviewCount: 2, passes: true, notes: 'as "agreed"\n' };
      await twice(async () => {
        await stories.edit(APPROVAL);
        expect(await subject.text()).toBe(fileOf(a, { ...b, ...approved }, c));
      });
      const { tasks } = await source.observe();
      expect(tasks[1]).toMatchObject({ done: true, review: { ...approved, reviewFeedback: "" } });
    });

    test("get their fields beside what somebody else has written meanwhile", async () => {
      await subject.put(fileOf({ ...a, notes: "mine" }, b, c, { id: "d", title: "D" }));
      await stories.edit([{ story: "a", field: "reviewStatus", value: "needs_review" }]);
      expect(await subject.text()).toBe(
        fileOf({ ...a, notes: "mine", reviewStatus: "needs_review" }, b, c, { id: "d", title: "D" }),
      );
    });

    test("that are not there are left alone, and so is a file that is gone", async () => {
      await stories.edit([{ story: "gone", field: "passes", value: true }]);
      expect(await subject.text()).toBe(whole);
      await subject.put(null);
      await stories.edit(APPROVAL);
      expect(await subject.text()).toBeNull();
    });
  });
}

const UNTOUCHED = {
  passes: false,
  reviewStatus: null,
  reviewCount: 0,
  reviewFeedback: "",
  notes: "",
  hasReviewFields: true,
};

async function twice(act: () => Promise<void>): Promise<void> {
  await act();
  await act();
}
