import { NO_DEMANDS } from "../no-demands.ts";
import type { TaskFormat } from "../task-format.ts";
import { markBeads } from "./mark-beads.ts";
import { beadTasks } from "./scan-beads.ts";

/** The issues of Beads, one a line in `.beads/issues.jsonl`. */
export function beadsFormat(now: () => string = () => new Date().toISOString()): TaskFormat {
  return {
    kind: "beads",
    read: (file, path) => ({ tasks: beadTasks(file, path), demands: NO_DEMANDS }),
    mark: (file, path, marking) => markBeads(file, path, marking, now),
  };
}
