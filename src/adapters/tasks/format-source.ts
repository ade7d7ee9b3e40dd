import { posix } from "node:path";
import type { SourceIdentity, TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { createMemo, sameBytes } from "./memo.ts";
import { TaskFile } from "./task-file.ts";
import type { Marking, TaskFormat } from "./task-format.ts";

/** Tasks in a file of another program, read and marked where it lies; `path` is relative to `root`. */
export function createFormatSource(place: { root: string; path: string }, format: TaskFormat): TaskSource {
  const { path } = place;
  const identity: SourceIdentity = { kind: format.kind, label: posix.basename(path), path };
  const file = new TaskFile(place);
  const readIn = createMemo((bytes: Buffer) => ({ ...format.read(bytes, path), bytes }), sameBytes);
  let before: Buffer | null = null;
  const look = (): ReturnType<typeof readIn> => {
    const seen = file.read(readIn);
    before = seen.bytes;
    return seen;
  };
  const edit = (marking: Omit<Marking, "before">): readonly TaskId[] => {
    let changed: readonly TaskId[] = [];
    file.edit((bytes) => {
      const marked = format.mark(bytes, path, { ...marking, before });
      changed = marked.changed;
      return marked.file.equals(bytes) ? null : marked.file;
    });
    return changed;
  };
  return {
    identity,
    files: [{ path, isAgents: false }],
    observe: async () => ({ source: identity, tasks: look().tasks }),
    demands: async () => look().demands,
    mark: async (task) => {
      edit({ isDone: true, isWanted: (id) => id === task });
    },
    markedIn: (bytes, task, isDone) =>
      format.mark(bytes, path, { isDone, isWanted: (id) => id === task, before }).file,
    takeBackMarks: async (done) => {
      file.putBack((bytes) => isBroken(format, bytes, path));
      return edit({ isDone: false, isWanted: (id) => !done.has(id) });
    },
  };
}

/** In such a file no mark can be found, taken back or made. */
function isBroken(format: TaskFormat, bytes: Buffer, path: string): boolean {
  try {
    format.mark(bytes, path, { isDone: true, isWanted: () => false, before: null });
    return false;
  } catch (error) {
    if (error instanceof RalphError && error.code === "bad-tasks") return true;
    throw error;
  }
}
