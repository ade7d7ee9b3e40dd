import { availableParallelism } from "node:os";
import { acpCommand } from "../core/agents.ts";
import type { BreakerSettings } from "../core/loop/brakes.ts";
import type { TimeoutSettings } from "../core/loop/iteration-timeout.ts";
import type { SourceIdentity } from "../core/plan.ts";
import { RalphError } from "../core/errors.ts";
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
} from "../core/settings.ts";
import type { StageSettings } from "../core/loop/stages.ts";
import { camelKeys, requireAgent, requireStageAgent, resolveAgents } from "./resolve-agents.ts";
import { LANES_BY_CORES, LANES_MAX, MAX_STUCK, gateSchema, type Config } from "./schema.ts";
import { formatOf } from "./webhook-address.ts";

/** What was asked for after `ralph run` or by a program; undefined where nothing was. */
export interface RunFlags {
  readonly check?: readonly string[] | undefined;
  readonly maxIterations?: number | undefined;
  readonly maxStuck?: number | undefined;
  /** Of `retry-blocked`. */
  readonly maxAttempts?: number | undefined;
  readonly calls?: number | undefined;
  readonly budget?: number | undefined;
  /** In milliseconds. */
  readonly maxDuration?: number | undefined;
  /** In milliseconds, of each iteration. */
  readonly timeout?: number | undefined;
  readonly mode?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly task?: readonly string[] | undefined;
  readonly reviewCap?: number | undefined;
  readonly skipReview?: boolean | undefined;
  /** True: as many as the machine has cores, at most `LANES_BY_CORES`. */
  readonly parallel?: number | true | undefined;
  readonly worktree?: boolean | undefined;
  /** Accepted work waits for a person. */
  readonly approve?: boolean | undefined;
  readonly keepGoing?: boolean | undefined;
  readonly stay?: boolean | undefined;
  readonly includeOptional?: boolean | undefined;
  /** False: `--no-wait`. */
  readonly wait?: boolean | undefined;
  /** False: `--no-interventions`. */
  readonly interventions?: boolean | undefined;
  /** The kind; true: `--sandbox` alone, false: `--no-sandbox`. */
  readonly sandbox?: string | boolean | undefined;
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
): { readonly settings: Settings; readonly commands: Commands } {
  const agent = flags.agent ?? config.agent;
  const agents = resolveAgents(config, builtInAgents, { name: agent, model: flags.model });
  for (const name of [agent, ...config.run.fallback_agents]) requireAgent(name, agents);
  const stages = resolveStages(config);
  for (const stage of stages ?? []) requireStageAgent(stage, agent, agents);
  const gates = resolveGates(config.gates, added.gates, flags.check ?? []);
  const asked = flags.parallel === true ? Math.min(availableParallelism(), LANES_BY_CORES) : flags.parallel;
  const lanes = wholeNumber("--parallel", asked, 1, LANES_MAX) ?? config.run.parallel;
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
      maxDurationMs:
        wholeNumber("--max-duration", flags.maxDuration, 1) ?? noneIfZero(config.limits.max_duration),
      idleMs: config.run.idle_timeout,
    },
    breaker: breakerSettings(config, flags),
    promise: camelKeys(config.promise),
    promptTemplate: null,
    ...(stages && { stages }),
    reviewCap: wholeNumber("--review-cap", flags.reviewCap, 1) ?? config.review.cap,
    skipReview: flags.skipReview ?? !config.review.enabled,
    mode: modeOf(flags.mode) ?? config.mode,
    timeoutMs: wholeNumber("--timeout", flags.timeout, 1) ?? null,
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
    verify: verifySettings(config, agents, flags.approve),
    protect: config.protect,
    interventions: interventionSettings(config, flags),
    fallbackAgents: config.run.fallback_agents,
    leaveAlone: [],
    ...(sandbox && { sandbox: { kind: sandbox.kind, network: sandbox.network } }),
    ...(added.names.length > 0 && { plugins: added.names }),
  };
  const { gates_parallel: gatesParallel } = config.run;
  return { settings, commands: { agents, gates, gatesParallel, sandbox, notify: resolveNotify(config) } };
}

function stays({ stay, wait }: RunFlags): boolean {
  if (stay === true && wait === false)
    throw new RalphError("usage", "--stay and --no-wait exclude each other", {
      hint: "--stay waits for a person, --no-wait for nothing",
    });
  return stay === true;
}

function verifySettings(
  { verify, agents: own }: Config,
  agents: readonly AgentSettings[],
  isAsked = false,
): VerifySettings {
  const readerAgent = verify.reader_agent || null;
  const readerModel = verify.reader_model || null;
  if (readerAgent !== null) {
    requireAgent(readerAgent, agents, "verify.reader_agent");
    requireStageAgent({ agent: readerAgent, model: readerModel }, readerAgent, agents);
  }
  const isKnown = (agent: AgentSettings): boolean =>
    own[agent.name]?.command === undefined && (agent.command === null || acpCommand(agent.name) !== null);
  const readers = agents.filter(isKnown).map((agent) => agent.name);
  const approve = isAsked ? "person" : verify.approve;
  return { ...camelKeys(verify), approve, readerAgent, readerModel, readers };
}

function budgetSettings({ limits }: Config, flags: RunFlags): BudgetSettings {
  return {
    run: noneIfZero(atLeastZero("--budget", flags.budget) ?? limits.budget_usd),
    task: noneIfZero(limits.budget_usd_per_task),
    day: noneIfZero(limits.budget_usd_per_day),
  };
}

/** More iterations without progress that are allowed on purpose are allowed for the breaker too; 0 turns both off. */
function breakerSettings({ breaker, run }: Config, flags: RunFlags): BreakerSettings {
  const allowed = wholeNumber("--max-stuck", flags.maxStuck, 0) ?? run.max_stuck;
  const isOff = allowed === 0 || breaker.no_progress === 0;
  const isRaised = flags.maxStuck !== undefined || allowed > MAX_STUCK;
  const { cooldown: cooldownMs, no_progress: least, ...others } = breaker;
  const noProgress = isOff ? 0 : isRaised ? Math.max(least, allowed) : least;
  return { ...camelKeys(others), noProgress, cooldownMs };
}

function noneIfZero(value: number): number | null {
  return value === 0 ? null : value;
}

function timeoutSettings({ adaptive_timeout: timeout }: Config): TimeoutSettings {
  const {
    max_timeout: maxMs,
    min_timeout: minMs,
    timeout_multiplier_per_failure: perTimeout,
    complexity: levels,
    ...switches
  } = timeout;
  return { ...camelKeys(switches), maxMs, minMs, perTimeout, levels };
}

function interventionSettings({ interventions }: Config, flags: RunFlags): InterventionSettings {
  const { feedback_rotation_days: rotationDays, aggressive_mode: aggressive, ...others } = interventions;
  const enabled = others.enabled && flags.interventions !== false;
  return { ...camelKeys(others), enabled, rotationDays, aggressive };
}

function modeOf(mode: string | undefined): Mode | undefined {
  if (mode === undefined) return undefined;
  if (Object.hasOwn(MODE_TIMEOUT_MS, mode)) return mode as Mode;
  throw new RalphError("usage", `--mode is "${mode}"; expected ${Object.keys(MODE_TIMEOUT_MS).join(", ")}`);
}

/** A program may give any number; the command line has looked at what was typed. */
function wholeNumber(
  flag: string,
  value: number | undefined,
  least: number,
  most = Infinity,
): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most)) return value;
  const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new RalphError("usage", `${flag} is ${value}; expected a whole number ${range}`);
}

function atLeastZero(flag: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isFinite(value) && value >= 0)) return value;
  throw new RalphError("usage", `${flag} is ${value}; expected a number of at least 0`);
}

export function resolveNotify({ notify }: Config): NotifySettings {
  const { desktop, webhook: url, format, secret, command, on } = notify;
  return {
    desktop,
    webhook:
      url === "" ? null : { url, format: format === "auto" ? formatOf(url) : format, secret: secret || null },
    command: command.trim() === "" ? null : command,
    on,
  };
}

/** What agents are to run in; null: nothing. `--sandbox` alone is the configured kind, or the one that needs no set-up. */
export function resolveSandbox(
  { sandbox }: Pick<Config, "sandbox">,
  flag: string | boolean | undefined,
): SandboxSettings | null {
  if (typeof flag === "string" && flag !== "bubblewrap" && flag !== "docker")
    throw new RalphError("usage", `--sandbox is "${flag}"; expected bubblewrap or docker`);
  const usual = sandbox.kind === "none" ? "bubblewrap" : sandbox.kind;
  const kind = flag === true ? usual : flag === false ? "none" : (flag ?? sandbox.kind);
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
  if (command.trim() === "")
    throw new RalphError("usage", "--check is empty", {
      hint: 'name the command that must pass: --check "npm test"',
    });
  const check = gateSettings(gateSchema.parse({ name: command, command }));
  const same = gates.find(
    ({ plugin, command: own, cwd, env, expect }) =>
      plugin === undefined &&
      own.trim() === command.trim() &&
      cwd === null &&
      Object.keys(env).length === 0 &&
      expect.exitCode === check.expect.exitCode,
  );
  if (same === undefined) return [...gates, check];
  const { required, onMissing, onBaseline } = check;
  return gates.map((gate) => (gate === same ? { ...gate, required, onMissing, onBaseline } : gate));
}

function gateSettings({ timeout, expect, ...gate }: Config["gates"][number]): GateSettings {
  return {
    ...camelKeys(gate),
    timeoutMs: timeout,
    cwd: gate.cwd ?? null,
    kind: gate.kind ?? null,
    expect: {
      exitCode: expect.exit_code,
      outputContains: expect.output_contains ?? null,
      outputNotContains: expect.output_not_contains ?? null,
    },
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
