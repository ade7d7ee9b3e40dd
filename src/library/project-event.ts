import type { EventType } from "../core/events.ts";

/** A fact of the log, with the keys that `ralph run --json` prints: snake_case, times in ISO 8601. */
export interface ProjectEvent {
  /** Its place in the log; these grow. */
  readonly position: number;
  readonly at: string;
  readonly type: EventName;
  readonly run: string | null;
  readonly task: string | null;
  /** What else belongs to an event of its type. */
  readonly [field: string]: unknown;
}

/** Every kind of event there is; later versions may have more. */
export type EventName =
  | "agent.suspended"
  | "baseline.measured"
  | "breaker.moved"
  | "budget.neared"
  | "budget.reached"
  | "calls.exhausted"
  | "calls.reset"
  | "checkout.changed"
  | "evidence.collected"
  | "gates.checked"
  | "halftime.passed"
  | "intervention.chosen"
  | "interventions.reset"
  | "iteration.ended"
  | "iteration.started"
  | "lesson.removed"
  | "letter.disturbed"
  | "letter.published"
  | "letter.withdrawn"
  | "log.renewed"
  | "merge.failed"
  | "merge.held"
  | "merge.overtaken"
  | "merge.prepared"
  | "old-checks.ran"
  | "question.answered"
  | "question.asked"
  | "reader.answered"
  | "reader.asked"
  | "retry.requested"
  | "run.ended"
  | "run.paused"
  | "run.resumed"
  | "run.started"
  | "run.unpaused"
  | "stage.objected"
  | "stage.passed"
  | "steer.deferred"
  | "steer.given"
  | "steer.used"
  | "stop.requested"
  | "story.settled"
  | "task.blocked"
  | "task.cancelled"
  | "task.completed"
  | "task.dropped"
  | "task.exhausted"
  | "task.failed"
  | "task.marked"
  | "task.merged"
  | "task.proposed"
  | "task.reset"
  | "task.skipped"
  | "task.unskipped"
  | "task.taken"
  | "task.unblocked"
  | "task.undone"
  | "proposal.settled"
  | "tasks.observed"
  | "verdict.reached"
  | "wait.started"
  | "work.discarded"
  | "work.leaving"
  | "work.left"
  | "work.refused"
  | "work.returned"
  | "work.returning"
  | "work.stayed"
  | "worktree.failed"
  | "worktree.opened"
  | "worktree.removed";

/** An event on the wire; the compiler sees to it that every kind has its name above. */
export function namedEvent(wire: Readonly<Record<string, unknown>> & { type: EventType }): ProjectEvent {
  const type: EventName = wire.type;
  return { ...wire, type } as unknown as ProjectEvent;
}
