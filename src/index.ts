export { definePlugin } from "./adapters/plugins/plugin.ts";
export { RalphError } from "./core/errors.ts";
export { openProject } from "./library/project.ts";
export { runLoop } from "./library/loop.ts";
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
export type { HistoryEntry } from "./core/views/iteration-entries.ts";
export type { Status } from "./core/views/status.ts";
export type { ErrorCode } from "./core/errors.ts";
export type { AnalyzerSignal } from "./core/verdict/plugin-answers.ts";
export type { LoopOptions, LoopResult } from "./library/loop.ts";
export type { EventName, ProjectEvent } from "./library/project-event.ts";
export type { EventOptions, Project, ProjectOptions } from "./library/project.ts";
