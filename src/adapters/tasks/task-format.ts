import type { SourceKind, Task, TaskId } from "../../core/plan/task.ts";
import type { SourceDemands } from "../../engine/ports.ts";

/** A file format of another program: how its tasks are read, and what its mark looks like. */
export interface TaskFormat {
  readonly kind: SourceKind;
  /** Rejects with `bad-tasks` what cannot be worked on; `path` is for messages. */
  read(file: Buffer, path: string): ReadTasks;
  /**
   * The file with the wanted tasks marked, or not marked any more, and the ids that this changed; all else byte for
   * byte. Throws only if the file is not of this format at all.
   */
  mark(file: Buffer, path: string, marking: Marking): Marked;
}

export interface ReadTasks {
  readonly tasks: readonly Task[];
  readonly demands: SourceDemands;
}

export interface Marking {
  readonly isDone: boolean;
  readonly isWanted: (id: TaskId) => boolean;
  /** The file when it was last read: a mark that is taken back leaves what stood there then. */
  readonly before: Buffer | null;
}

export interface Marked {
  readonly file: Buffer;
  readonly changed: readonly TaskId[];
}
