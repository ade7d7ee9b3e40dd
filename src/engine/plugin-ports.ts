import type { ExitSignal } from "../core/limits/exit-rules.ts";
import type { Task } from "../core/plan/task.ts";
import type { AgentReport } from "../core/report/agent-report.ts";
import type { AnalyzerAnswer } from "../core/report/analyzer-answer.ts";
import type { Evidence } from "../core/report/evidence.ts";
import type { PluginAnswers } from "../core/report/plugin-answers.ts";

/**
 * Plugins that say something about iterations. Their answers are recorded as facts, and the log can be read without them.
 * None of the calls rejects: a plugin that fails is named in its answer, or left out with a warning.
 */
export interface Advisers {
  /** What analyzers make of the agent's words. */
  analyze(subject: Subject, report: AgentReport): Promise<readonly AnalyzerAnswer[]>;
  /** What guards, and exit rules of an open-ended task, say about the work. Undefined: there are none to ask. */
  inspect(subject: Subject, work: Work): Promise<PluginAnswers | undefined>;
}

/** The iteration that it is about. */
export interface Subject {
  readonly run: string;
  readonly task: Pick<Task, "id" | "title" | "description" | "criteria">;
  readonly stage: string;
  readonly iteration: number;
  readonly agent: string;
  /** Where it was worked on; undefined: in the user's checkout. */
  readonly root: string | undefined;
}

export interface Work {
  readonly report: AgentReport;
  readonly evidence: Evidence;
  readonly isClaimed: boolean;
  /** Of the iterations before; null when the task is not open-ended. */
  readonly exitSignals: readonly ExitSignal[] | null;
}
