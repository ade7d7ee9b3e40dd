import type { RunState, TaskState } from "../core/loop/state.ts";
import type { AcceptedWork } from "./ports.ts";

/** What may be told about a completed task; `commit` is where its work is now. */
export function acceptedWork(
  { id, settings }: RunState,
  { iteration, commit }: NonNullable<TaskState["completion"]>,
): AcceptedWork {
  const gates = settings.gates.filter(({ required }) => required).map(({ name }) => name);
  return { run: id, iteration, commit, gates };
}
