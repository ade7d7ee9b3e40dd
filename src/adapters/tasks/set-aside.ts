import type { PlacedTask } from "../../core/plan/check-plan.ts";
import type { TaskId } from "../../core/plan/task.ts";

/** A task of another program's list. */
export interface ListedTask extends PlacedTask {
  /** `gone`: nobody will do it, nobody waits for it. `later`: not now, and not what waits for it. Null: to be done. */
  readonly setAside: "gone" | "later" | null;
}

/** The tasks that are to be worked on: without those that were set aside, and without what waits for these. */
export function withoutSetAside(listed: readonly ListedTask[]): readonly PlacedTask[] {
  const gone = new Set(listed.filter(({ setAside }) => setAside === "gone").map(({ task }) => task.id));
  const later = new Set(listed.filter(({ setAside }) => setAside === "later").map(({ task }) => task.id));
  const waiting = waitingFor(listed);
  const queue = [...later];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const waits of waiting.get(id) ?? []) {
      if (later.has(waits)) continue;
      later.add(waits);
      queue.push(waits);
    }
  }
  return listed
    .filter(({ task }) => !gone.has(task.id) && !later.has(task.id))
    .map(({ task, line }) => ({
      task: { ...task, dependsOn: task.dependsOn.filter((id) => !gone.has(id) && !later.has(id)) },
      line,
    }));
}

/** For each id, the open tasks that depend on it. */
function waitingFor(listed: readonly ListedTask[]): ReadonlyMap<TaskId, readonly TaskId[]> {
  const waiting = new Map<TaskId, TaskId[]>();
  for (const { task } of listed) {
    if (task.done) continue;
    for (const id of task.dependsOn) {
      const others = waiting.get(id);
      if (others === undefined) waiting.set(id, [task.id]);
      else others.push(task.id);
    }
  }
  return waiting;
}
