import type { Tally } from "../interventions/tally.ts";
import type { State } from "../loop/state.ts";

/** What `metrics.json` and `ralph metrics --json` hold. A rate of nothing is null, never 0. */
export interface Metrics {
  readonly total_interventions: number;
  readonly interventions_by_type: Tally["byType"];
  readonly interventions_by_severity: Tally["bySeverity"];
  readonly intervention_rate_per_100_iterations: number | null;
  /** Of the corrections that agents were told: the next iteration wrote files or was accepted. */
  readonly avg_remediation_success_rate: number | null;
  readonly blocked_rate: number | null;
  readonly wasted_iterations: number;
  readonly wasted_rate: number | null;
  readonly files_per_iteration: number | null;
  readonly completion_rate: number | null;
  readonly cost_per_accepted_task_usd: number | null;
}

export function metricsOf(state: State): Metrics {
  const { tally } = state;
  const interventionRate = ratio(tally.interventions, tally.iterations);
  return {
    total_interventions: tally.interventions,
    interventions_by_type: tally.byType,
    interventions_by_severity: tally.bySeverity,
    intervention_rate_per_100_iterations: interventionRate === null ? null : interventionRate * 100,
    avg_remediation_success_rate: ratio(tally.remedied, tally.corrected),
    blocked_rate: share(blockedTasks(state), tally.tasksStarted),
    wasted_iterations: tally.wasted,
    wasted_rate: ratio(tally.wasted, tally.iterations),
    files_per_iteration: ratio(tally.filesWritten, tally.iterations),
    completion_rate: share(tally.tasksCompleted, tally.tasksStarted),
    cost_per_accepted_task_usd: tally.costUsd === null ? null : ratio(tally.costUsd, tally.tasksCompleted),
  };
}

/** Tasks that are blocked now. */
export function blockedTasks({ tasks, plan }: State): number {
  const done = new Set((plan?.tasks ?? []).filter((task) => task.done).map(({ id }) => id));
  return Object.values(tasks).filter(
    ({ id, blockedReason, completion }) => blockedReason !== null && completion === null && !done.has(id),
  ).length;
}

/** After a reset tasks end that were begun before it: then it is all of them, not more. */
function share(part: number, whole: number): number | null {
  const rate = ratio(part, whole);
  return rate === null ? null : Math.min(1, rate);
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
