import { formatDuration } from "../duration.ts";
import { isoTime, type Instant } from "../time.ts";

/** A worker of the queue, as screens show it. */
export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  /** So many tasks at a time. */
  readonly lanes: number;
  /** What it has that tasks may ask for. */
  readonly labels: readonly string[];
  readonly since: Instant;
  /** When it was last heard of. */
  readonly seen: Instant;
  /** `vanished`: it said nothing for longer than a lease, and not that it leaves. */
  readonly is: "here" | "leaving" | "vanished" | "gone";
  /** Tasks that it works on, and with an @ what it does for all. */
  readonly holds: readonly string[];
}

/** Whether it goes on with what it holds. */
export function isAtWork({ is }: Pick<WorkerRow, "is">): boolean {
  return is === "here" || is === "leaving";
}

export function workerJson({ since, seen, ...worker }: WorkerRow) {
  return { ...worker, since: isoTime(since), seen: isoTime(seen) };
}

/** What it is doing, or what became of it. */
export function workerInWords({ is, holds, seen }: WorkerRow, now: Instant): string {
  const ago = formatDuration(Math.max(1_000, Math.round((now - seen) / 1_000) * 1_000));
  if (is === "vanished") return `vanished: not heard of for ${ago}`;
  if (is === "gone") return `left ${ago} ago`;
  const tasks = holds.filter((name) => !name.startsWith("@"));
  if (is === "leaving" && tasks.length === 0) return "leaves";
  const doing = tasks.length === 0 ? "waits for tasks" : `works on ${tasks.join(", ")}`;
  const parts = holds.flatMap((name) => PARTS[name] ?? []);
  return [doing, ...parts, ...(is === "leaving" ? ["leaves when that is done"] : [])].join(", ");
}

const PARTS: Readonly<Record<string, string>> = {
  "@keeper": "keeps the queue",
  "@merger": "merges",
};
