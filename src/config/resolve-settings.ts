import { parseDuration } from "../core/time.ts";
import { acpCommand } from "../core/agents.ts";
import type { BreakerSettings } from "../core/limits/breaker.ts";
import type { TimeoutSettings } from "../core/limits/iteration-timeout.ts";
import type { SourceIdentity } from "../core/plan/task.ts";
import { RalphError } from "../core/ralph-error.ts";
import {
  type AgentSettings,
  type BudgetSettings,
  type Commands,
  type GateSettings,
  type InterventionSettings,
  type Mode,
  MODE_TIMEOUT_MS,
  type NotifySettings,
  type SandboxSettings,
  type Settings,
  type VerifySettings,
  type WebhookSettings,
} from "../core/settings.ts";
import type { StageSettings } from "../core/stages/stages.ts";
import { requireAgent, requireStageAgent, resolveAgents } from "./resolve-agents.ts";
import { MAX_STUCK, type Config } from "./schema.ts";
import { LANES_MAX } from "./value-schemas.ts";
import { formatOf } from "./webhook-address.ts";

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
  readonly stay?: boolean;
  readonly includeOptional?: boolean;
  /** False: `--no-wait`. */
  readonly wait?: boolean;
  /** False: `--no-interventions`. */
  readonly interventions?: boolean;
  /** The kind; true: `--sandbox` alone, false: `--no-sandbox`. */
  readonly sandbox?: string | boolean;
}

interface Resolved {
  readonly settings: Settings;
  readonly commands: Commands;
}

interface Added {
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
    ...(stays(flags) && { stay: true as const }),
    ...(flags.includeOptional === true && { includeOptional: true as const }),
    gatesEveryIteration: config.run.gates_every_iteration,
    adaptiveIterations: config.run.adaptive_iterations,
    unblock: {
      autoSuggest: config.unblock.auto_suggest,
      maxAutoAttempts: config.unblock.max_auto_unblock_attempts,
    },
    git: { commit: config.git.commit, hooks: config.git.hooks, unaccepted: config.git.unaccepted },
    verify: verifySettings(config, agents),
    protect: { paths: config.protect.paths },
    interventions: interventionSettings(config, flags),
    fallbackAgents: config.run.fallback_agents,
    leaveAlone: [],
    ...(sandbox && { sandbox: { kind: sandbox.kind, network: sandbox.network } }),
    ...(added.names.length > 0 && { plugins: added.names }),
  };
  return { settings, commands: { agents, gates, sandbox, notify: resolveNotify(config) } };
}

function stays({ stay, wait }: RunFlags): boolean {
  if (stay === true && wait === false)
    throw new RalphError("usage", "--stay and --no-wait exclude each other", {
      hint: "--stay waits for a person, --no-wait for nothing",
    });
  return stay === true;
}

function verifySettings({ verify, agents: own }: Config, agents: readonly AgentSettings[]): VerifySettings {
  const readerAgent = verify.reader_agent === "" ? null : verify.reader_agent;
  const readerModel = verify.reader_model === "" ? null : verify.reader_model;
  if (readerAgent !== null) {
    requireAgent(readerAgent, agents, "verify.reader_agent");
    requireStageAgent({ agent: readerAgent, model: readerModel }, readerAgent, agents);
  }
  const isKnown = (agent: AgentSettings): boolean =>
    own[agent.name]?.command === undefined && (agent.command === null || acpCommand(agent.name) !== null);
  return {
    oldChecks: verify.old_checks,
    oldChecksFail: verify.old_checks_fail,
    reader: verify.reader,
    readerAgent,
    readerModel,
    readers: agents.filter(isKnown).map((agent) => agent.name),
  };
}

function budgetSettings({ limits }: Config, flags: RunFlags): BudgetSettings {
  return {
    run: noneIfZero(dollarsOf("--budget", flags.budget) ?? limits.budget_usd),
    task: noneIfZero(limits.budget_usd_per_task),
    day: noneIfZero(limits.budget_usd_per_day),
  };
}

/** More iterations without progress that are allowed on purpose are allowed for the breaker too; 0 turns both off. */
function breakerSettings({ breaker, run }: Config, flags: RunFlags): BreakerSettings {
  const allowed = wholeNumber("--max-stuck", flags.maxStuck, 0) ?? run.max_stuck;
  const isOff = allowed === 0 || breaker.no_progress === 0;
  const isRaised = flags.maxStuck !== undefined || allowed > MAX_STUCK;
  return {
    noProgress: isOff ? 0 : isRaised ? Math.max(breaker.no_progress, allowed) : breaker.no_progress,
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

export function resolveNotify({ notify }: Config): NotifySettings {
  return {
    desktop: notify.desktop,
    webhook: webhookOf(notify),
    command: notify.command.trim() === "" ? null : notify.command,
    on: notify.on,
  };
}

function webhookOf({ webhook: url, format, secret }: Config["notify"]): WebhookSettings | null {
  if (url === "") return null;
  return { url, format: format === "auto" ? formatOf(url) : format, secret: secret === "" ? null : secret };
}

type Kind = Config["sandbox"]["kind"];

/** What agents are to run in; null: nothing. `--sandbox` alone is the configured kind, or the one that needs no set-up. */
export function resolveSandbox(
  { sandbox }: Pick<Config, "sandbox">,
  flag: string | boolean | undefined,
): SandboxSettings | null {
  const kind = kindOf(sandbox.kind, flag);
  if (kind === "none") return null;
  const { network, read, write, env } = sandbox;
  if (kind === "bubblewrap") return { kind, network, image: null, read, write, env };
  if (typeof network === "object")
    throw new RalphError(
      "config",
      '"sandbox.network" is a list of hosts, which the sandbox "docker" cannot keep to',
      { hint: 'take bubblewrap (--sandbox bubblewrap), or write network = "on" or "off"' },
    );
  if (sandbox.image !== "") return { kind, network, image: sandbox.image, read, write, env };
  throw new RalphError("config", 'the sandbox "docker" needs an image, and "sandbox.image" names none', {
    hint: 'add image = "NAME" to [sandbox]: one that has the agent, git and a shell',
  });
}

function kindOf(configured: Kind, flag: string | boolean | undefined): Kind {
  if (flag === undefined) return configured;
  if (flag === true) return configured === "none" ? "bubblewrap" : configured;
  if (flag === false) return "none";
  if (flag === "bubblewrap" || flag === "docker") return flag;
  throw new RalphError("usage", `--sandbox is "${flag}"; expected bubblewrap or docker`);
}

const DEFAULTS: Readonly<Record<string, readonly [maxIterations: number, promise: string]>> = {
  coder: [15, "IMPLEMENTATION_COMPLETE"],
  reviewer: [5, "REVIEW_COMPLETE"],
  tester: [10, "TESTS_COMPLETE"],
  qa: [5, "QA_PASSED"],
};
const OTHER = [10, "STAGE_COMPLETE"] as const;

/** The pipeline, in the order of the file; undefined when there is none. */
export function resolveStages({ stages }: Config): readonly StageSettings[] | undefined {
  const entries = Object.entries(stages);
  if (entries.length === 0) return undefined;
  return entries.map(([name, stage]) => {
    const [maxIterations, promise] = DEFAULTS[name] ?? OTHER;
    return {
      name,
      maxIterations: stage.max_iterations ?? maxIterations,
      promise: stage.completion_promise ?? promise,
      agent: stage.agent ?? null,
      model: stage.model ?? null,
      loops: stage.enabled,
      template: null,
      ...(stage.kind !== undefined && { kind: stage.kind }),
    };
  });
}

const CHECK_TIMEOUT_MS = 600_000;

/** Those of the configuration, those of plugins, and what the command line or the list of tasks asks for. */
export function resolveGates(
  configured: Config["gates"],
  ofPlugins: readonly GateSettings[],
  checks: readonly string[],
): readonly GateSettings[] {
  const gates = checks.reduce(withCheck, [...configured.map(gateSettings), ...ofPlugins]);
  requireOwnNames(gates);
  return gates;
}

/** A gate that runs this very command becomes as strict as the check: nobody's tests need to run twice. */
function withCheck(gates: readonly GateSettings[], command: string): readonly GateSettings[] {
  const check = checkGate(command);
  const same = gates.find((gate) => runsTheSame(gate, check));
  if (same === undefined) return [...gates, check];
  const { required, onMissing, onBaseline } = check;
  return gates.map((gate) => (gate === same ? { ...gate, required, onMissing, onBaseline } : gate));
}

function runsTheSame(gate: GateSettings, check: GateSettings): boolean {
  return (
    gate.plugin === undefined &&
    gate.command.trim() === check.command.trim() &&
    gate.cwd === null &&
    Object.keys(gate.env).length === 0 &&
    gate.expect.exitCode === check.expect.exitCode
  );
}

function gateSettings(gate: Config["gates"][number]): GateSettings {
  return {
    name: gate.name,
    command: gate.command,
    timeoutMs: gate.timeout,
    required: gate.required,
    onMissing: gate.on_missing,
    cwd: gate.cwd ?? null,
    env: gate.env,
    kind: gate.kind ?? null,
    retries: gate.retries,
    expect: {
      exitCode: gate.expect.exit_code,
      outputContains: gate.expect.output_contains ?? null,
      outputNotContains: gate.expect.output_not_contains ?? null,
    },
    onBaseline: gate.on_baseline,
  };
}

function requireOwnNames(gates: readonly GateSettings[]): void {
  for (const { name, plugin } of gates) {
    if (plugin === undefined || gates.filter((other) => other.name === name).length === 1) continue;
    throw new RalphError(
      "config",
      `the gate "${name}" of the plugin "${plugin}" has the name of another gate`,
      { hint: "rename the one in the configuration, or the plugin's" },
    );
  }
}

function checkGate(command: string): GateSettings {
  if (command.trim() === "")
    throw new RalphError("usage", "--check is empty", {
      hint: 'name the command that must pass: --check "npm test"',
    });
  return {
    name: command,
    command,
    timeoutMs: CHECK_TIMEOUT_MS,
    required: true,
    onMissing: "fail",
    cwd: null,
    env: {},
    kind: null,
    retries: 0,
    expect: { exitCode: 0, outputContains: null, outputNotContains: null },
    onBaseline: "require",
  };
}
