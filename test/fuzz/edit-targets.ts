import { strict as assert } from "node:assert";
import { markStories, scanTasksJson } from "../../src/adapters/tasks/tasks-json-source.ts";
import { createChecklistSource, scanChecklist } from "../../src/adapters/tasks/scan-checklist.ts";
import { beadsFormat } from "../../src/adapters/tasks/beads/beads-format.ts";
import { RALPHEX } from "../../src/adapters/tasks/ralphex/ralphex-format.ts";
import { createRoadmapSource, scanRoadmap } from "../../src/adapters/tasks/roadmap-source.ts";
import type { TaskFormat } from "../../src/adapters/tasks/task-format.ts";
import { loadTaskListFormat, TASK_LIST } from "../../src/adapters/tasks/task-list/task-list-format.ts";
import type { Task } from "../../src/core/plan/task.ts";
import type { TaskSource } from "../../src/engine/ports.ts";
import { hostileText } from "./hostile-text.ts";
import { mutate } from "./mutate.ts";
import { BEADS, CHECKLIST, RALPHEX_PLAN, ROADMAP, TASKS_JSON, YAML_LIST } from "./seeds.ts";
import type { Target } from "./target.ts";

await loadTaskListFormat();

const MARKED_MAX = 3;
const NOWHERE = { root: "/nonexistent", path: "tasks" };

/** An edit of a user's file changes nothing but its mark. */
export const EDITS: readonly Target[] = [
  edit("edit checklist", CHECKLIST, (text) =>
    tickEach(Buffer.from(text, "latin1"), createChecklistSource(NOWHERE), (file) =>
      scanChecklist(file).map(({ task }) => task),
    ),
  ),
  edit("edit roadmap", ROADMAP, (text) =>
    tickEach(Buffer.from(text, "latin1"), createRoadmapSource(NOWHERE), (file) =>
      scanRoadmap(file).map(({ id, task }) => ({ id, done: task.done })),
    ),
  ),
  edit("edit YAML list", YAML_LIST, (text) => markEach(Buffer.from(text), TASK_LIST)),
  edit("edit Beads", BEADS, (text) =>
    markEach(
      Buffer.from(text),
      beadsFormat(() => "2026-01-01T00:00:00Z"),
    ),
  ),
  edit("edit ralphex plan", RALPHEX_PLAN, (text) => markEach(Buffer.from(text, "latin1"), RALPHEX)),
  edit("edit tasks.json", TASKS_JSON, (text) => passEach(Buffer.from(text))),
];

type Marked = readonly Pick<Task, "id" | "done">[];

function tickEach(file: Buffer, source: TaskSource, scan: (file: Buffer) => Marked): void {
  const before = scan(file);
  for (const { id } of before.filter(({ done }) => !done).slice(0, MARKED_MAX)) {
    const after = source.markedIn(file, id, true);
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

/** Marks one task after the other: it is done then, and the others are what they were. */
function markEach(file: Buffer, format: TaskFormat): void {
  const others = (bytes: Buffer, id: string): unknown =>
    format.read(bytes, "f").tasks.map((task) => (task.id === id ? { ...task, done: true } : task));
  const open = format.read(file, "f").tasks.filter(({ done }) => !done);
  for (const { id } of open.slice(0, MARKED_MAX)) {
    const marking = { isDone: true, isWanted: (one: string) => one === id, before: file };
    const after = format.mark(file, "f", marking);
    assert.deepEqual(after.changed, [id], `${id} is marked, and others too`);
    assert.deepEqual(others(after.file, ""), others(file, id), `marking ${id} changes other things`);
    const again = format.mark(after.file, "f", marking);
    assert.ok(again.file.equals(after.file), "a mark that is made twice changes something");
  }
}

/** What is written for one mark: `,` `"passes": true` and the white space around it. */
const MARK_BYTES_MAX = 400;

function passEach(file: Buffer): void {
  const { stories } = scanTasksJson(file, "tasks.json");
  for (const { task } of stories.slice(0, MARKED_MAX)) {
    const after = markStories(file, "tasks.json", {
      isDone: true,
      isWanted: (id) => id === task.id,
    });
    if (after.changed.length === 0) {
      assert.ok(after.file.equals(file), "nothing is to be changed, and something is");
      continue;
    }
    const inserted = after.file.length - file.length + 5 * after.changed.length;
    assert.ok(Math.abs(inserted) <= MARK_BYTES_MAX * after.changed.length, `${inserted} bytes for a mark`);
    const others = (text: Buffer): unknown =>
      scanTasksJson(text, "tasks.json").stories.map((story) => ({
        ...story.task,
        done: story.task.id === task.id ? null : story.task.done,
      }));
    assert.deepEqual(others(after.file), others(file), `marking ${task.id} changes other things`);
    const isDone = scanTasksJson(after.file, "tasks.json").stories.every(
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
