import { posix } from "node:path";
import type { SourceIdentity } from "../../core/plan/task.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { createMemo, sameBytes } from "./memo.ts";
import { NO_DEMANDS } from "./no-demands.ts";
import { scanChecklist, type ChecklistItem } from "./scan-checklist.ts";
import { TaskFile } from "./task-file.ts";
import { tickBoxes, withTicks } from "./tick-boxes.ts";

/** Tasks in a Markdown checklist; `path` is relative to `root`. Only the byte in the box is ever written. */
export function createChecklistSource(place: { root: string; path: string }): TaskSource {
  const { path } = place;
  const identity: SourceIdentity = { kind: "checklist", label: posix.basename(path), path };
  const file = new TaskFile(place);
  const tasksIn = createMemo((bytes: Buffer) => scanChecklist(bytes).map((item) => item.task), sameBytes);
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
      return tickBoxes(file, " ", ({ task }) => task.done && !done.has(task.id)).map((item) => item.task.id);
    },
  };
}

const is =
  (id: string, isDone: boolean) =>
  ({ task }: ChecklistItem): boolean =>
    task.id === id && task.done === isDone;
