import { LANES_MAX } from "./count-schema.ts";
import {
  MODE_TIMEOUT_MS,
  type AgentSettings,
  type BudgetSettings,
  type Commands,
  type GateSettings,
  type InterventionSettings,
  type Mode,
  type Settings,
} from "../core/settings.ts";
import { parseDuration } from "../core/duration.ts";
import { RalphError } from "../core/ralph-error.ts";
import type { BreakerSettings } from "../core/limits/breaker.ts";
import type { TimeoutSettings } from "../core/limits/iteration-timeout.ts";
import type { SourceIdentity } from "../core/plan/task.ts";
import { requireAgent, requireStageAgent, resolveAgents } from "./resolve-agents.ts";
import { resolveGates } from "./resolve-gates.ts";
import { resolveNotify } from "./resolve-notify.ts";
import { resolveSandbox } from "./resolve-sandbox.ts";
import { resolveStages } from "./resolve-stages.ts";
import type { Config } from "./schema.ts";

/** What was typed after `ralph run`; undefined where nothing was. */
export interface RunFlags {
  readonly check?: readonly string[];
  readonly maxIterations?: string;
  readonly maxStuck?: string;
  /** Of `retry-blocked`. */
  readonly maxAttempts?: string;
  readonly calls?: string;
  readonly budget?: string;
  readonly maxDuration?: string;
  readonly timeout?: string;
  readonly mode?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly task?: readonly string[];
  readonly reviewCap?: string;
  readonly skipReview?: boolean;
  readonly parallel?: string;
  readonly worktree?: boolean;
  readonly keepGoing?: boolean;
  /** False: `--no-wait`. */
  readonly wait?: boolean;
  /** False: `--no-interventions`. */
  readonly interventions?: boolean;
  /** The kind; true: `--sandbox` alone, false: `--no-sandbox`. */
  readonly sandbox?: string | boolean;
}

/** What a run is to do and with which programs. */
export interface Resolved {
  readonly settings: Settings;
  readonly commands: Commands;
}

/** What plugins bring along, besides agents. */
export interface Added {
  readonly names: readonly string[];
  readonly gates: readonly GateSettings[];
}

/** Flags over file over defaults, frozen for a run. */
export function resolveSettings(
  config: Config,
  flags: RunFlags,
  source: SourceIdentity,
  builtInAgents: readonly AgentSettings[],
  added: Added = { names: [], gates: [] },
): Resolved {
  const agent = flags.agent ?? config.agent;
  const agents = resolveAgents(config, builtInAgents, { name: agent, model: flags.model });
  for (const name of [agent, ...config.run.fallback_agents]) requireAgent(name, agents);
  const stages = resolveStages(config);
  for (const stage of stages ?? []) requireStageAgent(stage, agent, agents);
  const gates = resolveGates(config.gates, added.gates, flags.check ?? []);
  const lanes = wholeNumber("--parallel", flags.parallel, 1, LANES_MAX) ?? config.run.parallel;
  const sandbox = resolveSandbox(config, flags.sandbox);
  const settings: Settings = {
    source,
    agent,
    gates,
    onlyTasks: flags.task === undefined || flags.task.length === 0 ? null : flags.task,
    lanes,
    // The base is the branch that is checked out when the run starts.
    worktrees: lanes > 1 || flags.worktree === true ? { base: "", merge: config.git.merge } : null,
    limits: {
      maxIterations: wholeNumber("--max-iterations", flags.maxIterations, 1) ?? config.run.max_iterations,
      maxStuck: wholeNumber("--max-stuck", flags.maxStuck, 0) ?? config.run.max_stuck,
      maxAttempts: wholeNumber("--max-attempts", flags.maxAttempts, 1) ?? config.run.max_attempts,
      maxIterationsPerTask: config.maxIterationsPerTask,
      retries: config.run.retries,
      callsPerHour: wholeNumber("--calls", flags.calls, 0) ?? config.limits.calls_per_hour,
      budget: budgetSettings(config, flags),
      maxDurationMs: duration("--max-duration", flags.maxDuration) ?? noneIfZero(config.limits.max_duration),
      idleMs: config.run.idle_timeout,
    },
    breaker: breakerSettings(config, flags),
    promise: {
      completion: config.promise.completion,
      requireXml: config.promise.require_xml,
      verify: config.promise.verify,
    },
    promptTemplate: null,
    ...(stages && { stages }),
    reviewCap: wholeNumber("--review-cap", flags.reviewCap, 1) ?? config.review.cap,
    skipReview: flags.skipReview ?? !config.review.enabled,
    mode: modeOf(flags.mode) ?? config.mode,
    timeoutMs: duration("--timeout", flags.timeout),
    adaptiveTimeout: timeoutSettings(config),
    noWait: flags.wait === false,
    // A lane that cannot go on does not stop the others.
    keepGoing: flags.keepGoing ?? (config.run.keep_going || lanes > 1),
    gatesEveryIteration: config.run.gates_every_iteration,
    adaptiveIterations: config.run.adaptive_iterations,
    unblock: {
      autoSuggest: config.unblock.auto_suggest,
      maxAutoAttempts: config.unblock.max_auto_unblock_attempts,
    },
    git: { commit: config.git.commit, hooks: config.git.hooks },
    protect: { paths: config.protect.paths, pins: [], weakenedTests: config.protect.weakened_tests },
    interventions: interventionSettings(config, flags),
    fallbackAgents: config.run.fallback_agents,
    leaveAlone: [],
    ...(sandbox && { sandbox: { kind: sandbox.kind, network: sandbox.network } }),
    ...(added.names.length > 0 && { plugins: added.names }),
  };
  return { settings, commands: { agents, gates, sandbox, notify: resolveNotify(config) } };
}

function budgetSettings({ limits }: Config, flags: RunFlags): BudgetSettings {
  return {
    run: noneIfZero(dollarsOf("--budget", flags.budget) ?? limits.budget_usd),
    task: noneIfZero(limits.budget_usd_per_task),
    day: noneIfZero(limits.budget_usd_per_day),
  };
}

/** Whoever allows more iterations without a commit on the command line means the breaker too. */
function breakerSettings({ breaker }: Config, flags: RunFlags): BreakerSettings {
  const allowed = wholeNumber("--max-stuck", flags.maxStuck, 0) ?? 0;
  return {
    noProgress: breaker.no_progress === 0 ? 0 : Math.max(breaker.no_progress, allowed),
    sameError: breaker.same_error,
    outputDecline: breaker.output_decline,
    cooldownMs: breaker.cooldown,
  };
}

function noneIfZero(value: number): number | null {
  return value === 0 ? null : value;
}

function timeoutSettings({ adaptive_timeout: timeout }: Config): TimeoutSettings {
  return {
    enabled: timeout.enabled,
    complexityScaling: timeout.complexity_scaling,
    failureScaling: timeout.failure_scaling,
    maxMs: timeout.max_timeout,
    minMs: timeout.min_timeout,
    perTimeout: timeout.timeout_multiplier_per_failure,
    learn: timeout.learn,
    levels: timeout.complexity,
  };
}

function interventionSettings({ interventions }: Config, flags: RunFlags): InterventionSettings {
  return {
    enabled: interventions.enabled && flags.interventions !== false,
    thresholdNoFiles: interventions.threshold_no_files,
    thresholdFalseCompletion: interventions.threshold_false_completion,
    window: interventions.window,
    rotationDays: interventions.feedback_rotation_days,
    aggressive: interventions.aggressive_mode,
    midStream: interventions.mid_stream,
  };
}

function modeOf(mode: string | undefined): Mode | undefined {
  if (mode === undefined) return undefined;
  if (Object.hasOwn(MODE_TIMEOUT_MS, mode)) return mode as Mode;
  throw new RalphError("usage", `--mode is "${mode}"; expected ${Object.keys(MODE_TIMEOUT_MS).join(", ")}`);
}

function wholeNumber(
  flag: string,
  text: string | undefined,
  least: number,
  most = Infinity,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new RalphError("usage", `${flag} is "${text}"; expected a whole number ${range}`);
}

function dollarsOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\$?\d+(?:\.\d+)?$/.test(text) ? Number(text.replace("$", "")) : Number.NaN;
  if (Number.isFinite(value)) return value;
  throw new RalphError("usage", `${flag} is "${text}"; expected an amount of dollars such as 5 or 2.50`);
}

function duration(flag: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new RalphError("usage", `${flag} is "${text}"; expected a duration such as 90s, 45m, 2h or 1h30m`);
}
