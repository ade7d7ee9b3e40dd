import { closest, few } from "./text.ts";
import type { SourceKind, Task, TaskId } from "./plan.ts";

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
    // Short ids, such as numbers, are near to all others.
    const meant = missing.length < 4 ? null : closest(missing, others);
    const named = others.length === 0 ? "; there is no other task" : `; the others are: ${few(others)}`;
    const instead = meant === null ? named : `. Did you mean "${meant}"?`;
    return `line ${line}: "${task.id}" depends on "${missing}", which does not exist${instead}`;
  }
  return null;
}

function cycle(placed: readonly PlacedTask[]): string | null {
  const byId = new Map(placed.map((one) => [one.task.id, one]));
  const circle = findCircle(new Map(placed.map(({ task }) => [task.id, task.dependsOn])));
  if (circle === null) return null;
  const places = circle.map((id) => `"${id}" (line ${byId.get(id)?.line ?? 0})`);
  return `the dependencies go round in a circle: ${places.join(" → ")} → "${circle[0]}"`;
}

/** The first circle that following the dependencies leads into. A chain may be as long as the list. */
function findCircle(waits: ReadonlyMap<TaskId, readonly TaskId[]>): readonly TaskId[] | null {
  const dependents = new Map<TaskId, TaskId[]>();
  const left = new Map<TaskId, number>();
  for (const [id, dependsOn] of waits) {
    left.set(id, dependsOn.length);
    for (const other of dependsOn) dependents.set(other, [...(dependents.get(other) ?? []), id]);
  }
  // Whatever waits for nothing any more is in no circle.
  const free = [...waits.keys()].filter((id) => left.get(id) === 0);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    left.delete(id);
    for (const next of dependents.get(id) ?? []) {
      left.set(next, (left.get(next) ?? 0) - 1);
      if (left.get(next) === 0) free.push(next);
    }
  }
  const trail = new Set<TaskId>();
  let [at] = left.keys();
  while (at !== undefined && !trail.has(at)) {
    trail.add(at);
    at = waits.get(at)?.find((id) => left.has(id));
  }
  return at === undefined ? null : [...trail].slice([...trail].indexOf(at));
}

/** More than this is more than one iteration can show to be done. */
export const CRITERIA_MAX = 8;

/** What is wrong with a plan that was just made, one sentence each; none when it can be worked on. */
export function planMistakes(placed: readonly PlacedTask[]): readonly string[] {
  if (placed.length === 0) return ['"userStories" is empty; expected at least one story'];
  const problem = planProblem(placed);
  const ofStories = placed.flatMap(({ task, line }) =>
    storyMistakes(task).map((mistake) => `line ${line}: "${task.id}" ${mistake}`),
  );
  return problem === null ? ofStories : [problem, ...ofStories];
}

function storyMistakes({ criteria, done }: Task): readonly string[] {
  const mistakes: readonly (readonly [isMade: boolean, what: string])[] = [
    [criteria.length === 0, "has no acceptance criteria; say how one sees that it is done"],
    [criteria.some((one) => one.trim() === ""), "has an acceptance criterion without words"],
    [
      criteria.length > CRITERIA_MAX,
      `has ${criteria.length} acceptance criteria, so it is too big; split it into stories of at most ${CRITERIA_MAX}`,
    ],
    [done, 'says "passes": true; nothing of a new plan is done yet'],
  ];
  return mistakes.flatMap(([isMade, what]) => (isMade ? [what] : []));
}

/** One thing that an edit of the task list would change. */
export type ListChange =
  | { readonly is: "ticked" | "unticked" | "removed" | "moved"; readonly task: TaskId }
  | { readonly is: "added"; readonly task: TaskId; readonly title: string }
  | { readonly is: "reworded"; readonly task: TaskId; readonly title: string; readonly to: string }
  /** The fields of the task that differ. */
  | { readonly is: "changed"; readonly task: TaskId; readonly fields: readonly string[] }
  /** Something about the list as a whole, as the end of "the agent …". */
  | { readonly is: "other"; readonly what: string };

/** What an agent did to the list, which was undone; the operator may take it or leave it. */
export interface Proposal {
  /** Of the iteration; it names the proposal. */
  readonly number: number;
  readonly task: TaskId;
  readonly kind: SourceKind;
  /** Relative to the root. */
  readonly path: string;
  readonly changes: readonly ListChange[];
}

const CHANGES_KEPT = 50;

/** What leads from one version of a list to another. A title that changed changes the id, too. */
export function compareTasks(before: readonly Task[], after: readonly Task[]): readonly ListChange[] {
  const earlier = new Map(before.map((task) => [task.id, task]));
  const later = new Map(after.map((task) => [task.id, task]));
  const gone = before.filter(({ id }) => !later.has(id));
  const come = after.filter(({ id }) => !earlier.has(id));
  const pairs = new Map<Task, Task>();
  for (const task of gone) {
    const taken = new Set(pairs.values());
    const found = come.find((other) => !taken.has(other) && isSimilar(task.title, other.title));
    if (found !== undefined) pairs.set(task, found);
  }
  const reworded = new Set(pairs.values());
  const changes = before.flatMap((task): readonly ListChange[] => {
    const now = later.get(task.id) ?? pairs.get(task);
    return now === undefined ? [{ is: "removed", task: task.id }] : changesOf(task, now);
  });
  const added = come
    .filter((task) => !reworded.has(task))
    .map(({ id, title }) => ({ is: "added", task: id, title }) as const);
  const all: ListChange[] = [...changes, ...added];
  const orderOf = (tasks: readonly Task[], others: ReadonlyMap<TaskId, Task>): string =>
    tasks.flatMap(({ id }) => (others.has(id) ? [id] : [])).join("\n");
  if (orderOf(before, later) !== orderOf(after, earlier))
    all.push({ is: "other", what: "changed the order of the tasks" });
  const rest = all.length - CHANGES_KEPT;
  if (rest <= 0) return all;
  return [...all.slice(0, CHANGES_KEPT), { is: "other", what: `changed ${rest} more things` }];
}

function changesOf(was: Task, now: Task): readonly ListChange[] {
  const { id: task, title } = was;
  const fields = changedFields(was, now);
  const changes: ListChange[] = [];
  if (was.done !== now.done) changes.push({ is: now.done ? "ticked" : "unticked", task });
  if (title !== now.title) changes.push({ is: "reworded", task, title, to: now.title });
  if (was.optional !== now.optional || was.phase !== now.phase) changes.push({ is: "moved", task });
  if (fields.length > 0) changes.push({ is: "changed", task, fields });
  return changes;
}

const TOLD_OTHERWISE: ReadonlySet<string> = new Set(
  "id title done optional phase review passes hasReviewFields".split(" "),
);

function changedFields(was: Task, now: Task): readonly string[] {
  const differing = (a: object, b: object): readonly string[] =>
    [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
      (field) => JSON.stringify(a[field as keyof object]) !== JSON.stringify(b[field as keyof object]),
    );
  return [...differing(was, now), ...differing(was.review ?? {}, now.review ?? {})].filter(
    (field) => !TOLD_OTHERWISE.has(field),
  );
}

/** Half of the words of the shorter one are in the other, too. */
function isSimilar(one: string, other: string): boolean {
  const [a, b] = [wordsOf(one), wordsOf(other)];
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared > 0 && shared * 2 >= Math.min(a.size, b.size);
}

function wordsOf(title: string): ReadonlySet<string> {
  return new Set(title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

/** "ticked a, b; removed c; added "…"", as the end of "the agent …". */
export function changesInWords(changes: readonly ListChange[]): string {
  const named = (["ticked", "unticked", "removed", "moved"] as const).flatMap((is) => {
    const tasks = tasksThat(is, changes);
    return tasks.length === 0 ? [] : [`${is} ${few(tasks)}`];
  });
  const others = changes.flatMap((change): readonly string[] => {
    switch (change.is) {
      case "reworded":
        return [`reworded "${change.title}" to "${change.to}"`];
      case "changed":
        return [`changed ${few(change.fields)} of ${change.task}`];
      case "added":
        return [`added "${change.title}"`];
      case "other":
        return [change.what];
      default:
        return [];
    }
  });
  const parts = [...named, ...others];
  const shown = parts.slice(0, PARTS_SHOWN);
  const rest = parts.length - shown.length;
  return `${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

const PARTS_SHOWN = 8;

/** The tasks that an edit marked as done, say, or took out of the list. */
export function tasksThat(
  is: "ticked" | "unticked" | "removed" | "moved",
  changes: readonly ListChange[],
): readonly TaskId[] {
  return changes.flatMap((change) => (change.is === is ? [change.task] : []));
}
