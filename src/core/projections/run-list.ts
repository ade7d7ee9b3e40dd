import type { EventOf, Outcome, Recorded } from "../events.ts";
import { EXIT_CODES } from "../loop/outcome.ts";
import type { Settings } from "../settings.ts";
import { agentsInWords } from "../stages/stages.ts";
import type { Instant } from "../time.ts";
import type { IterationRow } from "./iteration-row.ts";

/** One run in a list of them. */
export interface RunEntry {
  readonly id: string;
  readonly startedAt: Instant;
  /** Null: it goes on, or was interrupted. */
  readonly endedAt: Instant | null;
  readonly outcome: Outcome | null;
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly source: string;
  /** With a pipeline those of its stages. */
  readonly agent: string;
  readonly lanes: number;
  /** What its agents ran in, if anything. */
  readonly sandbox?: string;
  readonly iterations: number;
  readonly accepted: number;
  /** Null: nobody told. */
  readonly costUsd: number | null;
}

/** The events of which the list is made; what iterations came to is counted from their rows. */
export const RUN_LIST_EVENTS = ["run.started", "run.resumed", "run.ended"] as const;

/** Every run, the newest first. */
export function runList(events: Iterable<Recorded>, rows: readonly IterationRow[]): readonly RunEntry[] {
  const runs = new Map<string, RunEntry>();
  for (const event of events) {
    if (event.type === "run.started") runs.set(event.run, begin(event));
    const run = "run" in event && event.run !== null ? runs.get(event.run) : undefined;
    if (run !== undefined) runs.set(run.id, extend(run, event));
  }
  const sums = sumsOf(rows);
  return [...runs.values()].map((run) => ({ ...run, ...sums.get(run.id) })).toReversed();
}

type Sum = { -readonly [Key in "iterations" | "accepted" | "costUsd"]: RunEntry[Key] };

/** Counted in place: there may be very many rows. */
function sumsOf(rows: readonly IterationRow[]): ReadonlyMap<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const { run, isCompleted, costUsd } of rows) {
    const sum = sums.get(run) ?? { iterations: 0, accepted: 0, costUsd: null };
    sum.iterations += 1;
    sum.accepted += isCompleted ? 1 : 0;
    if (costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + costUsd;
    sums.set(run, sum);
  }
  return sums;
}

/** Of a run that workers share nobody knows how many there will be. */
export function lanesOf({ lanes, shared }: Pick<Settings, "lanes" | "shared">): number {
  return shared === true ? 1 : lanes;
}

function begin({ run, at, settings }: Recorded<EventOf<"run.started">>): RunEntry {
  return {
    id: run,
    startedAt: at,
    endedAt: null,
    outcome: null,
    reason: null,
    exitCode: null,
    ...ofSettings(settings),
    iterations: 0,
    accepted: 0,
    costUsd: null,
  };
}

function ofSettings(settings: Settings): Pick<RunEntry, "source" | "agent" | "lanes" | "sandbox"> {
  return {
    source: settings.source.label,
    agent: agentsInWords(settings),
    lanes: lanesOf(settings),
    ...(settings.sandbox && { sandbox: settings.sandbox.kind }),
  };
}

function extend(run: RunEntry, event: Recorded): RunEntry {
  switch (event.type) {
    case "run.resumed": {
      const { sandbox: _, ...rest } = run;
      return { ...rest, ...ofSettings(event.settings) };
    }
    case "run.ended": {
      const { at, outcome, reason } = event;
      return { ...run, endedAt: at, outcome, reason, exitCode: EXIT_CODES[outcome] };
    }
    default:
      return run;
  }
}
