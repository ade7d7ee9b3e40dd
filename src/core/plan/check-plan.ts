import { closest } from "../closest.ts";
import { few } from "../few.ts";
import type { Task, TaskId } from "./task.ts";

/** A task with the place in its file, for people. */
export interface PlacedTask {
  readonly task: Task;
  readonly line: number;
}

/** What keeps a plan from being worked on, as one sentence with ids and lines, or null. */
export function planProblem(placed: readonly PlacedTask[]): string | null {
  return duplicateId(placed) ?? unknownDependency(placed) ?? cycle(placed);
}

function duplicateId(placed: readonly PlacedTask[]): string | null {
  const lines = new Map<TaskId, number>();
  for (const { task, line } of placed) {
    const first = lines.get(task.id);
    if (first !== undefined) return `the id "${task.id}" is used twice, in lines ${first} and ${line}`;
    lines.set(task.id, line);
  }
  return null;
}

function unknownDependency(placed: readonly PlacedTask[]): string | null {
  const ids = new Set(placed.map(({ task }) => task.id));
  for (const { task, line } of placed) {
    const missing = task.dependsOn.find((id) => !ids.has(id));
    if (missing === undefined) continue;
    const others = [...ids].filter((id) => id !== task.id);
    return `line ${line}: "${task.id}" depends on "${missing}", which does not exist${insteadOf(missing, others)}`;
  }
  return null;
}

function insteadOf(missing: TaskId, others: readonly TaskId[]): string {
  // Short ids, such as numbers, are near to all others.
  const meant = missing.length < 4 ? null : closest(missing, others);
  if (meant !== null) return `. Did you mean "${meant}"?`;
  return others.length === 0 ? "; there is no other task" : `; the others are: ${few(others)}`;
}

function cycle(placed: readonly PlacedTask[]): string | null {
  const byId = new Map(placed.map((one) => [one.task.id, one]));
  const settled = new Set<TaskId>();
  const follow = (id: TaskId, trail: readonly TaskId[]): readonly TaskId[] | null => {
    if (trail.includes(id)) return [...trail.slice(trail.indexOf(id)), id];
    if (settled.has(id)) return null;
    for (const next of byId.get(id)?.task.dependsOn ?? []) {
      const found = follow(next, [...trail, id]);
      if (found !== null) return found;
    }
    settled.add(id);
    return null;
  };
  for (const { task } of placed) {
    const found = follow(task.id, []);
    if (found === null) continue;
    const places = found.slice(0, -1).map((id) => `"${id}" (line ${byId.get(id)?.line ?? 0})`);
    return `the dependencies go round in a circle: ${places.join(" → ")} → "${found.at(-1)}"`;
  }
  return null;
}
