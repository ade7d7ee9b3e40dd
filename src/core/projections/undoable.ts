import type { EventOf, Recorded } from "../events.ts";
import type { SourceIdentity, TaskId } from "../plan/task.ts";

/** Accepted work as it is on a branch of the user's, to be taken back. */
export interface Undoable {
  readonly run: string;
  readonly task: TaskId;
  readonly iteration: number;
  /** Null: HEAD was on none. */
  readonly base: string | null;
  /** The commits it consists of, the latest first; between them are those of others. */
  readonly spans: readonly Span[];
  /** Where the work was done; null in place. */
  readonly branch: string | null;
  /** Where the task is marked. */
  readonly source: SourceIdentity | null;
}

/** What led from one commit to another; null: from nothing. */
export interface Span {
  readonly from: string | null;
  readonly to: string;
}

export const UNDOABLE_EVENTS = [
  "tasks.observed",
  "worktree.opened",
  "worktree.removed",
  "iteration.started",
  "evidence.collected",
  "task.completed",
  "task.merged",
  "task.undone",
  "task.reset",
] as const;

/** What was accepted in place or merged last, and has not been taken back since. */
export function lastUndoable(events: readonly Recorded[]): Undoable | null {
  return events.reduce(remember, NOTHING).accepted.at(-1) ?? null;
}

interface Memory {
  readonly source: SourceIdentity | null;
  readonly accepted: readonly Undoable[];
  readonly underWay: Readonly<Record<TaskId, UnderWay>>;
}

type UnderWay = Pick<Undoable, "base" | "branch" | "spans">;

const NOTHING: Memory = { source: null, accepted: [], underWay: {} };
const UNTOUCHED: UnderWay = { base: null, branch: null, spans: [] };

function remember(memory: Memory, event: Recorded): Memory {
  switch (event.type) {
    case "tasks.observed":
      return { ...memory, source: event.plan.source };
    case "worktree.opened":
      return withWork(memory, event.task, { base: event.base, branch: event.branch });
    case "iteration.started": {
      const isInPlace = (memory.underWay[event.task]?.branch ?? null) === null;
      return isInPlace ? withWork(memory, event.task, { base: event.branch }) : memory;
    }
    case "evidence.collected":
      return withWork(memory, event.task, { spans: extended(memory.underWay[event.task], event) });
    case "task.completed":
      return (memory.underWay[event.task]?.branch ?? null) === null ? accepted(memory, event) : memory;
    case "task.merged": {
      const { from, to } = event;
      const isEmpty = from === to;
      return isEmpty ? memory : accepted(withWork(memory, event.task, { spans: [{ from, to }] }), event);
    }
    case "task.undone":
      return { ...forgotten(memory, event.task), accepted: memory.accepted.slice(0, -1) };
    case "worktree.removed":
    case "task.reset":
      return forgotten(memory, event.task);
    default:
      return memory;
  }
}

function withWork(memory: Memory, task: TaskId, work: Partial<UnderWay>): Memory {
  const known = memory.underWay[task] ?? UNTOUCHED;
  return { ...memory, underWay: { ...memory.underWay, [task]: { ...known, ...work } } };
}

function extended(
  { spans } = UNTOUCHED,
  { evidence: { headBefore: from, headAfter: to } }: EventOf<"evidence.collected">,
): readonly Span[] {
  if (to === null || from === to) return spans;
  const [latest, ...earlier] = spans;
  const continues = latest !== undefined && latest.to === from;
  return continues ? [{ from: latest.from, to }, ...earlier] : [{ from, to }, ...spans];
}

function accepted(memory: Memory, event: EventOf<"task.completed" | "task.merged">): Memory {
  const { run, task, iteration } = event;
  const work = memory.underWay[task] ?? UNTOUCHED;
  const { source } = memory;
  return {
    ...forgotten(memory, task),
    accepted: [...memory.accepted, { run, task, iteration, source, ...work }],
  };
}

function forgotten(memory: Memory, task: TaskId): Memory {
  const { [task]: _, ...underWay } = memory.underWay;
  return { ...memory, underWay };
}
