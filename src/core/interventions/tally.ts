import type { InterventionType, Severity } from "./intervention.ts";

/** What `ralph metrics` is made of: sums over the whole history. */
export interface Tally {
  readonly iterations: number;
  /** Iterations without progress. */
  readonly wasted: number;
  readonly filesWritten: number;
  readonly interventions: number;
  readonly byType: Readonly<Partial<Record<InterventionType, number>>>;
  readonly bySeverity: Readonly<Record<Severity, number>>;
  /** Corrections that an agent was told and that a further iteration followed. */
  readonly corrected: number;
  /** … after which it wrote files or was accepted. */
  readonly remedied: number;
  readonly tasksStarted: number;
  readonly tasksCompleted: number;
  readonly costUsd: number | null;
}

export const EMPTY_TALLY: Tally = {
  iterations: 0,
  wasted: 0,
  filesWritten: 0,
  interventions: 0,
  byType: {},
  bySeverity: { info: 0, warning: 0, critical: 0 },
  corrected: 0,
  remedied: 0,
  tasksStarted: 0,
  tasksCompleted: 0,
  costUsd: null,
};

export interface TalliedIteration {
  readonly madeProgress: boolean;
  readonly isAccepted: boolean;
  readonly filesWritten: number;
  /** Corrections that its prompt carried. */
  readonly corrections: number;
}

export function tallyIteration(tally: Tally, iteration: TalliedIteration): Tally {
  const { madeProgress, isAccepted, filesWritten, corrections } = iteration;
  const isRemedied = filesWritten > 0 || isAccepted;
  return {
    ...tally,
    iterations: tally.iterations + 1,
    wasted: tally.wasted + (madeProgress || isAccepted ? 0 : 1),
    filesWritten: tally.filesWritten + filesWritten,
    corrected: tally.corrected + corrections,
    remedied: tally.remedied + (isRemedied ? corrections : 0),
  };
}

export function tallyIntervention(tally: Tally, type: InterventionType, severity: Severity): Tally {
  return {
    ...tally,
    interventions: tally.interventions + 1,
    byType: { ...tally.byType, [type]: (tally.byType[type] ?? 0) + 1 },
    bySeverity: { ...tally.bySeverity, [severity]: tally.bySeverity[severity] + 1 },
  };
}
