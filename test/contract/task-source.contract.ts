import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TaskSource } from "../../src/engine/ports.ts";

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
      if (subject.tick === undefined) return;
      const id = await firstTask();
      await subject.tick();
      expect(await source.takeBackMarks(new Set())).toEqual([id]);
      expect(await doneTasks()).toEqual([]);
      expect(await source.takeBackMarks(new Set())).toEqual([]);
    });

    test("marks of tasks that are done stay", async () => {
      const id = await firstTask();
      await source.mark(id);
      expect(await source.takeBackMarks(new Set([id]))).toEqual([]);
      expect(await doneTasks()).toEqual(subject.tick === undefined ? [] : [id]);
    });
  });
}
