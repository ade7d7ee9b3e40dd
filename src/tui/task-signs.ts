import type { TaskStatus } from "../core/loop/task-status.ts";
import type { Look } from "./line.tsx";

/** How each status looks, with a sign of its own. */
export const TASK_SIGNS: Readonly<Record<TaskStatus, { readonly sign: string; readonly look: Look }>> = {
  todo: { sign: "·", look: "dim" },
  doing: { sign: "▸", look: "bold" },
  done: { sign: "✔", look: "good" },
  blocked: { sign: "■", look: "bad" },
  undecided: { sign: "?", look: "ask" },
  failed: { sign: "✗", look: "bad" },
  cancelled: { sign: "✗", look: "bad" },
};
