import { posix } from "node:path";
import type { SourceIdentity, Task } from "../../core/plan/task.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { checkedTasks } from "./checked-tasks.ts";
import { createMemo, sameBytes } from "./memo.ts";
import { NO_DEMANDS } from "./no-demands.ts";
import { roadmapTask, type RoadmapDefaults } from "./roadmap-task.ts";
import type { ChecklistItem } from "./scan-checklist.ts";
import { scanRoadmap } from "./scan-roadmap.ts";
import { TaskFile } from "./task-file.ts";
import { tickBoxes, withTicks } from "./tick-boxes.ts";

/** Tasks in a roadmap: a checklist with ids and properties. Only the byte in the box is ever written. */
export function createRoadmapSource(
  place: { root: string; path: string },
  defaults: RoadmapDefaults = {},
): TaskSource {
  const { path } = place;
  const identity: SourceIdentity = { kind: "roadmap", label: posix.basename(path), path };
  const file = new TaskFile(place);
  const tasksIn = createMemo((bytes: Buffer) => roadmapTasks(bytes, path, defaults), sameBytes);
  return {
    identity,
    files: [{ path: place.path, isAgents: false }],
    observe: async () => ({
      source: identity,
      tasks: file.read(tasksIn),
    }),
    demands: () => Promise.resolve(NO_DEMANDS),
    mark: async (task) => {
      tickBoxes(file, "x", is(task, false));
    },
    markedIn: (bytes, task, isDone) => withTicks(bytes, isDone ? "x" : " ", is(task, !isDone)).file,
    takeBackMarks: async (done) => {
      file.putBack();
      const taken = tickBoxes(
        file,
        " ",
        (item) => item.task.done && !done.has(item.writtenId ?? item.task.id),
      );
      return taken.map((item) => item.writtenId ?? item.task.id);
    },
  };
}

const is =
  (id: string, isDone: boolean) =>
  ({ task, writtenId }: ChecklistItem): boolean =>
    (writtenId ?? task.id) === id && task.done === isDone;

export function roadmapTasks(file: Buffer, path: string, defaults: RoadmapDefaults = {}): readonly Task[] {
  const placed = scanRoadmap(file).map((item) => ({
    task: roadmapTask(item, path, defaults),
    line: item.line,
  }));
  return checkedTasks(placed, path);
}
