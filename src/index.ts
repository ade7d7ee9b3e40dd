export { definePlugin } from "./adapters/plugins/plugin.ts";
export { RalphError } from "./core/ralph-error.ts";
export { openProject } from "./library/open-project.ts";
export { runLoop } from "./library/run-loop.ts";
export type { AgentFacts } from "./adapters/plugins/plugin.ts";
export type {
  AnalyzedIteration,
  Changes,
  Environment,
  Exit,
  GateAnswer,
  GateContext,
  IterationContext,
  ObservedIteration,
  OpenEndedIteration,
  Plugin,
  PluginAgent,
  PluginAnalyzer,
  PluginExitRule,
  PluginGate,
  PluginGuard,
  PluginNotice,
  PluginNotifier,
  PluginSource,
  PluginTask,
  SourceContext,
} from "./adapters/plugins/plugin.ts";
export type { Outcome } from "./core/events.ts";
export type { HistoryEntry } from "./core/projections/history.ts";
export type { Status } from "./core/projections/status.ts";
export type { ErrorCode } from "./core/ralph-error.ts";
export type { AnalyzerSignal } from "./core/report/plugin-answers.ts";
export type { LoopOptions, LoopResult } from "./library/loop.ts";
export type { EventName, ProjectEvent } from "./library/project-event.ts";
export type { EventOptions, Project, ProjectOptions } from "./library/project.ts";
