import type { Recorded } from "../events.ts";
import { forecast } from "../limits/budget.ts";
import { tasksInScope } from "../loop/select-tasks.ts";
import type { State } from "../loop/state.ts";
import { statusOf } from "../loop/task-status.ts";
import type { BlockedTask } from "../projections/blocked.ts";
import { chartsOf, type Charts } from "../projections/charts.ts";
import { explainRun } from "../projections/explain-run.ts";
import { iterationRows, type IterationRow } from "../projections/iteration-row.ts";
import { runList, type RunEntry } from "../projections/run-list.ts";
import { timelineOf, type Timeline } from "../projections/timeline.ts";
import type { Instant } from "../time.ts";
import { costRows, type CostRow } from "./cost-rows.ts";
import { taskReports, type TaskReport } from "./task-report.ts";
import { waitingForPerson, type Waiting } from "./waiting.ts";

/** Everything that a report tells about one run. */
export interface RunReport {
  readonly project: string;
  readonly run: RunEntry;
  /** Of a run without an end: whether a process still works on it. */
  readonly isDriven: boolean;
  /** False: others came after it, and what waited then may be settled. */
  readonly isLatest: boolean;
  readonly madeAt: Instant;
  readonly madeBy: string;
  readonly durationMs: number;
  /** Of the tasks that it was to work on. */
  readonly done: number;
  readonly all: number;
  /** Iterations that did not tell what they cost. */
  readonly unpriced: number;
  readonly costPerTaskUsd: number | null;
  readonly waiting: readonly Waiting[];
  /** What to type about the run as a whole. */
  readonly next: string | null;
  readonly timeline: Timeline;
  readonly charts: Charts;
  readonly rows: readonly IterationRow[];
  readonly tasks: readonly TaskReport[];
  readonly costs: readonly CostRow[];
}

/** What a report is made from. */
export interface ReportSources {
  readonly run: string;
  /** From the run's start to its end, of the latest run until now. */
  readonly events: readonly Recorded[];
  /** After the last of them. */
  readonly state: State;
  /** What would help the tasks that are blocked in that state. */
  readonly blocked: readonly BlockedTask[];
  readonly project: string;
  readonly isDriven: boolean;
  readonly isLatest: boolean;
  readonly now: Instant;
  readonly version: string;
}

/** Null when the events know of no such run. */
export function runReport(sources: ReportSources): RunReport | null {
  const { events, state, project, isDriven, isLatest, now, version, blocked } = sources;
  const rows = iterationRows(events);
  const run = runList(events, rows).find(({ id }) => id === sources.run);
  const timeline = timelineOf(events, sources.run);
  if (run === undefined || timeline === null) return null;
  const scope = state.run === null || state.plan === null ? [] : tasksInScope(state.run, state.plan);
  const done = scope.filter((task) => statusOf(state, task) === "done").length;
  const until = run.endedAt ?? (isDriven ? now : (events.at(-1)?.at ?? now));
  const around = {
    budgetUsd: state.run?.settings.limits.budget.run ?? null,
    forecastUsd: state.run === null ? null : forecast(state.run.spend, done, scope.length),
    now: until,
  };
  return {
    project,
    run,
    isDriven,
    isLatest,
    madeAt: now,
    madeBy: `ralph ${version}`,
    durationMs: until - run.startedAt,
    done,
    all: scope.length,
    unpriced: rows.filter(({ durationMs, costUsd }) => durationMs !== null && costUsd === null).length,
    costPerTaskUsd: run.costUsd === null || run.accepted === 0 ? null : run.costUsd / run.accepted,
    waiting: waitingForPerson(state, blocked),
    next: isLatest ? explainRun(state, isDriven).next : null,
    timeline,
    charts: chartsOf(rows, around),
    rows,
    tasks: taskReports(events, state, scope),
    costs: costRows(events),
  };
}
