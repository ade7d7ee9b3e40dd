import type { PlacedTask } from "../../core/plan/check-plan.ts";
import type { TaskId } from "../../core/plan/task.ts";

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

/** The lines of a text without bullets and boxes in front; empty ones are left out. */
export function statementsIn(text: string): readonly string[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => line.replace(/^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/, "").trim())
    .filter((line) => line !== "");
}

const WORDS: Readonly<Record<string, number>> = {
  critical: 0,
  urgent: 0,
  high: 1,
  medium: 2,
  normal: 2,
  low: 3,
};

/** What people and programs write for a priority: `2`, `P2`, `high`. Lower goes first; null: none of these. */
export function readPriority(text: string): number | null {
  const plain = text.trim().toLowerCase();
  const digits = /^p?(-?\d{1,9}(?:\.\d{1,9})?)$/.exec(plain)?.[1];
  if (digits !== undefined) return Number(digits);
  return Object.hasOwn(WORDS, plain) ? (WORDS[plain] ?? null) : null;
}
