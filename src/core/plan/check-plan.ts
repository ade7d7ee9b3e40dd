import { closest, few } from "../text.ts";
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
  const circle = circleIn([...byId.keys()], (id) => byId.get(id)?.task.dependsOn ?? []);
  if (circle === null) return null;
  const places = circle.map((id) => `"${id}" (line ${byId.get(id)?.line ?? 0})`);
  return `the dependencies go round in a circle: ${places.join(" → ")} → "${circle[0]}"`;
}

/** The first circle that following the dependencies leads into. A chain may be as long as the list. */
function circleIn(
  ids: readonly TaskId[],
  dependenciesOf: (id: TaskId) => readonly TaskId[],
): readonly TaskId[] | null {
  const settled = new Set<TaskId>();
  const trail: { readonly id: TaskId; readonly left: TaskId[] }[] = [];
  const places = new Map<TaskId, number>();
  const enter = (id: TaskId): void => {
    if (settled.has(id)) return;
    places.set(id, trail.length);
    trail.push({ id, left: dependenciesOf(id).toReversed() });
  };
  for (const start of ids) {
    enter(start);
    for (let last = trail.at(-1); last !== undefined; last = trail.at(-1)) {
      const next = last.left.pop();
      if (next === undefined) {
        settled.add(last.id);
        places.delete(last.id);
        trail.pop();
        continue;
      }
      const met = places.get(next);
      if (met !== undefined) return trail.slice(met).map(({ id }) => id);
      enter(next);
    }
  }
  return null;
}
