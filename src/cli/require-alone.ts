import type { Project } from "../compose.ts";
import { RalphError } from "../core/ralph-error.ts";

/** Refuses a run of this machine alone where tasks are in a queue. */
export function requireAlone({ queue }: Project): void {
  if (queue === null) return;
  throw new RalphError("usage", "the tasks of this project are in a queue, and workers do them", {
    hint: "ralph submit, then ralph worker on any machine; to run here alone: RALPH_QUEUE_URL= ralph run",
  });
}
