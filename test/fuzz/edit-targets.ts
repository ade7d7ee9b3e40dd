import { strict as assert } from "node:assert";
import { readPlan, STORIES } from "../../src/adapters/tasks/stories-format.ts";
import { CHECKLIST } from "../../src/adapters/tasks/checklist-format.ts";
import { roadmapFormat, scanRoadmap } from "../../src/adapters/tasks/roadmap-format.ts";
import { scanChecklist } from "../../src/adapters/tasks/scan-checklist.ts";
import type { TaskFormat } from "../../src/adapters/tasks/task-format.ts";
import type { Task } from "../../src/core/plan.ts";
import { hostileText } from "./hostile-text.ts";
import { mutate } from "./mutate.ts";
import * as seeds from "./seeds.ts";
import type { Target } from "./target.ts";

const MARKED_MAX = 3;

/** An edit of a user's file changes nothing but its mark. */
export const EDITS: readonly Target[] = [
  edit("edit checklist", seeds.CHECKLIST, (text) =>
    tickEach(Buffer.from(text, "latin1"), CHECKLIST, (file) => scanChecklist(file).map(({ task }) => task)),
  ),
  edit("edit roadmap", seeds.ROADMAP, (text) =>
    tickEach(Buffer.from(text, "latin1"), roadmapFormat(), (file) =>
      scanRoadmap(file).map(({ id, task }) => ({ id, done: task.done })),
    ),
  ),
  edit("edit tasks.json", seeds.TASKS_JSON, (text) => passEach(Buffer.from(text))),
];

type Marked = readonly Pick<Task, "id" | "done">[];

function tickEach(file: Buffer, format: TaskFormat, scan: (file: Buffer) => Marked): void {
  const before = scan(file);
  for (const { id } of before.filter(({ done }) => !done).slice(0, MARKED_MAX)) {
    const after = format.mark(file, "f", id, true);
    assert.equal(after.length, file.length, `marking ${id} makes the file longer or shorter`);
    for (const [index, byte] of after.entries()) {
      if (byte === file[index]) continue;
      const box = `${file.toString("latin1", index - 1, index + 2)} ${after.toString("latin1", index - 1, index + 2)}`;
      assert.match(box, /^\[\s\] \[x\]$/, `marking ${id} changes more than its box`);
    }
    const expected = before.map((task) => (task.id === id ? { ...task, done: true } : task));
    const plain = (tasks: Marked): Marked => tasks.map((task) => ({ id: task.id, done: task.done }));
    assert.deepEqual(plain(scan(after)), plain(expected), `marking ${id} changes other tasks`);
  }
}

/** What is written for one mark: `,` `"passes": true` and the white space around it. */
const MARK_BYTES_MAX = 400;

function passEach(file: Buffer): void {
  const { stories } = readPlan(file, "tasks.json");
  for (const { task } of stories.slice(0, MARKED_MAX)) {
    const after = STORIES.mark(file, "tasks.json", task.id, true);
    const same = stories.filter(({ task: { id } }) => id === task.id);
    const open = same.filter(({ task: { done } }) => !done).length;
    if (open === 0) {
      assert.ok(after.equals(file), "nothing is to be changed, and something is");
      continue;
    }
    const inserted = after.length - file.length + 5 * open;
    assert.ok(Math.abs(inserted) <= MARK_BYTES_MAX * open, `${inserted} bytes for a mark`);
    const others = (text: Buffer): unknown =>
      readPlan(text, "tasks.json").stories.map((story) => ({
        ...story.task,
        done: story.task.id === task.id ? null : story.task.done,
      }));
    assert.deepEqual(others(after), others(file), `marking ${task.id} changes other things`);
    const isDone = readPlan(after, "tasks.json").stories.every(
      (story) => story.task.id !== task.id || story.task.done,
    );
    assert.ok(isDone, `${task.id} is marked, and still open`);
  }
}

function edit(name: string, seed: string, take: (text: string) => void): Target {
  return {
    name,
    make: (random, isSmall) =>
      random.chance(0.8)
        ? mutate(random, seed)
        : hostileText(random, isSmall ? "small" : name).slice(0, 20_000),
    open: () => ({ take }),
  };
}
