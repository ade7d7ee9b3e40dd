import type { Recorded } from "../events.ts";
import { isoTime, type Instant } from "../time.ts";

export type Level = "debug" | "info" | "warn" | "error";

/** One line of the logbook; the names are part of the public contract. */
export interface LogEntry {
  readonly time: string;
  readonly level: Level;
  readonly message: string;
  /** Of a fact: its type and position in the log. */
  readonly event?: string;
  readonly position?: number;
  readonly run?: string;
  readonly task?: string;
  readonly iteration?: number;
}

export function logEntry(level: Level, message: string, at: Instant): LogEntry {
  return { time: isoTime(at), level, message };
}

/** `lines` is what a person is told of the fact; most facts need no words. */
export function entryOfFact(event: Recorded, lines: readonly string[]): LogEntry {
  const words = lines.map((line) => line.trim()).filter((line) => line !== "");
  const { run, task, iteration } = event as { run?: string; task?: string; iteration?: number };
  return {
    time: isoTime(event.at),
    level: levelOf(event),
    message: words.length === 0 ? event.type : words.join(" "),
    event: event.type,
    position: event.position,
    ...(run != null && { run }),
    ...(task != null && { task }),
    ...(iteration !== undefined && { iteration }),
  };
}

function levelOf(event: Recorded): Level {
  switch (event.type) {
    case "verdict.reached":
      return event.verdict === "rejected" || event.verdict === "failed" ? "warn" : "info";
    case "breaker.moved":
      return event.to === "CLOSED" ? "info" : "warn";
    case "run.ended":
      return event.outcome === "completed" || event.outcome === "stopped" ? "info" : "warn";
    case "intervention.chosen":
      return event.severity === "info" ? "info" : "warn";
    case "task.blocked":
    case "task.failed":
    case "task.exhausted":
    case "agent.suspended":
    case "worktree.failed":
    case "merge.failed":
    case "merge.held":
    case "task.dropped":
    case "checkout.changed":
    case "budget.neared":
    case "budget.reached":
      return "warn";
    default:
      return "info";
  }
}
