import type { AgentReport } from "../report/agent-report.ts";
import { isoTime } from "../time.ts";
import type { Ruling } from "../verdict/verdict.ts";
import type { IterationRecord } from "./iteration-record.ts";

/** One attempt to end a task with words, as `ralph promises --json` shows it. */
export interface PromiseEntry {
  readonly iteration: number;
  readonly task: string;
  readonly agent: string;
  /** When the agent ended. */
  readonly at: string;
  /** As printed; null when the claim came in another form, or stood where it does not count. */
  readonly promise: string | null;
  /** Whether it is the expected one. */
  readonly matches: boolean;
  /** The expected one was printed, but where it does not count. */
  readonly hidden: boolean;
  readonly claim: AgentReport["claim"]["is"];
  readonly verdict: Ruling | null;
  readonly reasons: readonly string[];
}

/** The events of which the entries are made. */
export const PROMISE_EVENTS = ["iteration.started", "iteration.ended", "verdict.reached"] as const;

/** Every promise that was printed and every claim of completion, accepted or not. */
export function promiseEntries(records: readonly IterationRecord[]): readonly PromiseEntry[] {
  return records.flatMap((record) => {
    const { report } = record;
    return report !== null && isAttempt(report) ? [promiseEntry(record, report)] : [];
  });
}

function isAttempt({ claim, promise, signals }: AgentReport): boolean {
  return claim.is === "complete" || (promise ?? null) !== null || signals?.isPromiseHidden === true;
}

/** Whether the promise that counts is the expected one. */
export function isExpectedPromise(report: AgentReport): boolean {
  const { promise, claimed } = promiseOf(report);
  return promise !== null && promise === claimed;
}

function promiseOf({ claim, promise }: AgentReport): {
  readonly promise: string | null;
  readonly claimed: string | null;
} {
  const claimed = claim.is === "complete" ? claim.promise : null;
  // Reports of an older ralph have the promise in the claim alone.
  return { promise: promise === undefined ? claimed : promise, claimed };
}

function promiseEntry(record: IterationRecord, report: AgentReport): PromiseEntry {
  const { claim } = report;
  const { promise, claimed } = promiseOf(report);
  return {
    iteration: record.iteration,
    task: record.task,
    agent: record.agent,
    at: isoTime(record.startedAt + report.durationMs),
    promise,
    matches: isExpectedPromise(report),
    hidden: promise === null && claimed === null,
    claim: claim.is,
    verdict: record.verdict,
    reasons: record.reasons.map(({ sentence }) => sentence),
  };
}
