import { few } from "../text.ts";
import type { SourceKind, Task, TaskId } from "./task.ts";

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
  const all = [...changes, ...added];
  const isSameOrder =
    before
      .filter(({ id }) => later.has(id))
      .map(({ id }) => id)
      .join("\n") ===
    after
      .filter(({ id }) => earlier.has(id))
      .map(({ id }) => id)
      .join("\n");
  return isSameOrder
    ? bounded(all)
    : bounded([...all, { is: "other", what: "changed the order of the tasks" }]);
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

function bounded(changes: readonly ListChange[]): readonly ListChange[] {
  if (changes.length <= CHANGES_KEPT) return changes;
  const rest = changes.length - CHANGES_KEPT;
  return [...changes.slice(0, CHANGES_KEPT), { is: "other", what: `changed ${rest} more things` }];
}

/** "ticked a, b; removed c; added "…"", as the end of "the agent …". */
export function changesInWords(changes: readonly ListChange[]): string {
  const named = (is: ListChange["is"], words: string): readonly string[] => {
    const tasks = changes.flatMap((change) => (change.is === is && "task" in change ? [change.task] : []));
    return tasks.length === 0 ? [] : [`${words} ${few(tasks)}`];
  };
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
  const parts = [
    ...named("ticked", "ticked"),
    ...named("unticked", "unticked"),
    ...named("removed", "removed"),
    ...named("moved", "moved"),
    ...others,
  ];
  const shown = parts.slice(0, PARTS_SHOWN);
  const rest = parts.length - shown.length;
  return `${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

const PARTS_SHOWN = 8;

/** The tasks that an edit marked as done, or took out of the list. */
export function tasksThat(is: "ticked" | "removed", changes: readonly ListChange[]): readonly TaskId[] {
  return changes.flatMap((change) => (change.is === is ? [change.task] : []));
}
