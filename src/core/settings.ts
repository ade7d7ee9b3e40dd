import type { BreakerSettings, Prices } from "./loop/brakes.ts";
import type { TimeoutSettings } from "./loop/iteration-timeout.ts";
import type { NoticeKind, PayloadFormat } from "./views/notice.ts";
import type { SourceIdentity, TaskId } from "./plan.ts";
import type { FactRecorder } from "./streams/stream-facts.ts";
import type { StreamFormat } from "./streams/stream-format.ts";
import type { ReviewMode } from "./review/story-review.ts";
import type { StageSettings } from "./loop/stages.ts";

/** Everything the operator asked for, resolved and frozen when a run starts; recorded in `run.started`. */
export interface Settings {
  readonly source: SourceIdentity;
  /** The agent of tasks that name none. */
  readonly agent: string;
  /** The model of that agent, where its own configuration is another machine's. */
  readonly model?: string;
  readonly gates: readonly GateSettings[];
  /** Only these tasks; null means all. */
  readonly onlyTasks: readonly TaskId[] | null;
  readonly lanes: number;
  /** Every task in a worktree of its own; null: all work happens in place. */
  readonly worktrees?: WorktreeSettings | null;
  /** Workers on several machines share the run; nobody drives it alone. */
  readonly shared?: true;
  readonly limits: LimitSettings;
  readonly breaker: BreakerSettings;
  readonly promise: {
    readonly completion: string;
    readonly requireXml: boolean;
    /** False: the agent's words are not held against its claim; changes, gates and protection still count. */
    readonly verify: boolean;
  };
  /** The operator's own prompt template; null is the built-in one. */
  readonly promptTemplate: string | null;
  /** A task's way, in this order; none in the settings of old runs, and of runs without a pipeline. */
  readonly stages?: readonly StageSettings[];
  /** How often later stages may send a task back before a person is asked. */
  readonly reviewCap?: number;
  /** Stories of a source with the review cycle go without it. */
  readonly skipReview?: boolean;
  /** The operator's own prompts for the modes of the review cycle. */
  readonly modeTemplates?: Readonly<Partial<Record<ReviewMode, string>>>;
  readonly mode: Mode;
  /** `--timeout`: taken exactly as given. */
  readonly timeoutMs: number | null;
  readonly adaptiveTimeout: TimeoutSettings;
  readonly keepGoing: boolean;
  /** A run whose only open work waits for a person waits, too. */
  readonly stay?: true;
  /** Optional tasks are worked on, after all others. */
  readonly includeOptional?: true;
  /** `--no-wait`: the run ends where it would wait for a limit. */
  readonly noWait: boolean;
  readonly gatesEveryIteration: boolean;
  /** Whether a task's iteration limit grows with its complexity. */
  readonly adaptiveIterations: boolean;
  readonly unblock: {
    /** Whether a run that ends with blocked tasks says what would help. */
    readonly autoSuggest: boolean;
    /** How often a task that timeouts blocked is tried again without a person. */
    readonly maxAutoAttempts: number;
  };
  readonly git: {
    readonly commit: "ralph" | "agent";
    readonly hooks: boolean;
    /** What becomes of work that was not accepted. Missing in older logs. */
    readonly unaccepted?: "aside" | "keep";
  };
  readonly protect: ProtectSettings;
  /** Missing in older logs. */
  readonly verify?: VerifySettings;
  readonly interventions: InterventionSettings;
  /** Who takes over, in this order, from an agent that is suspended. */
  readonly fallbackAgents: readonly string[];
  /** Paths that were dirty when the run started with `--allow-dirty`: never committed, never counted. */
  readonly leaveAlone: readonly string[];
  /** What agents run in; absent: nothing. Of a shared run each machine decides for itself. */
  readonly sandbox?: Pick<SandboxSettings, "kind" | "network">;
  /** The names of those that it has; missing: none. */
  readonly plugins?: readonly string[];
}

/** What agents run in, apart from the rest of the machine. */
export interface SandboxSettings {
  readonly kind: "bubblewrap" | "docker";
  /** A list: the hosts that agents reach, and nobody else. */
  readonly network: "on" | "off" | readonly string[];
  /** Of docker; null for others. */
  readonly image: string | null;
  /** Further places that agents see, and that they may change; `~` is the operator's HOME. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Variables that agents get although they look secret. */
  readonly env: readonly string[];
}

export interface WorktreeSettings {
  /** The branch that tasks begin from, and that their work is brought to. */
  readonly base: string;
  /** How it is brought there; `none`: the branches are the result. */
  readonly merge: "squash" | "merge" | "rebase" | "none" | "pr";
}

/** What the agent must not change. */
export interface ProtectSettings {
  /** Globs: the operator's own, the configuration and plugins. */
  readonly paths: readonly string[];
  /** The operator's own, which prompts name. Missing in older logs. */
  readonly named?: readonly string[];
}

/** How a claim is looked at beside its gates. */
export interface VerifySettings {
  /** Whether the gates run once more with the check files as they were before the task. */
  readonly oldChecks: "auto" | "always" | "never";
  /** What follows when they fail then, and nobody but the agent agrees. */
  readonly oldChecksFail: "ask" | "reject" | "accept";
  readonly reader: "auto" | "always" | "never";
  /** `person`: accepted work waits until a person has looked at it. Missing in older logs: auto. */
  readonly approve?: "auto" | "person";
  /** Null: the task's own agent, if it is one of `readers`. */
  readonly readerAgent: string | null;
  readonly readerModel: string | null;
  /** The configured agents that read without being named: the programs that we know. */
  readonly readers: readonly string[];
}

const WITHOUT_VERIFYING: VerifySettings = {
  oldChecks: "never",
  oldChecksFail: "ask",
  reader: "never",
  readerAgent: null,
  readerModel: null,
  readers: [],
};

export function verifyOf({ verify }: Settings): VerifySettings {
  return verify ?? WITHOUT_VERIFYING;
}

export interface InterventionSettings {
  /** False: events are recorded, nothing is fed back. */
  readonly enabled: boolean;
  /** Events in the last `window` iterations of a task that lead to aggressive reinforcement; 0 is off. */
  readonly thresholdNoFiles: number;
  readonly thresholdFalseCompletion: number;
  readonly window: number;
  readonly rotationDays: number;
  /** Reinforcement from the first event on. */
  readonly aggressive: boolean;
  /** One correction while the agent still runs, for agents that take messages. */
  readonly midStream: boolean;
}

export interface LimitSettings {
  /** Of the whole run. */
  readonly maxIterations: number;
  /** Consecutive iterations without progress; 0 is off. */
  readonly maxStuck: number;
  /** Failed iterations in a row on one task. */
  readonly maxAttempts: number;
  /** Of one task's loop, when the task does not say. */
  readonly maxIterationsPerTask: number;
  /** Transient failures in a row that are retried. */
  readonly retries: number;
  /** Of everybody who shares the store; 0 is off. */
  readonly callsPerHour: number;
  readonly budget: BudgetSettings;
  /** Of the run; null is for ever. */
  readonly maxDurationMs: number | null;
  /** Without a sign of life from the agent; 0 is off. */
  readonly idleMs: number;
}

/** In dollars; null is none. */
export interface BudgetSettings {
  readonly run: number | null;
  readonly task: number | null;
  /** Of everybody who shares the store. */
  readonly day: number | null;
}

/**
 * The programs to run, exactly as the operator gave them. They may hold secrets: the settings that are recorded
 * have redacted copies of the gates, and nothing of the agents but the name.
 */
export interface Commands {
  readonly agents: readonly AgentSettings[];
  readonly gates: readonly GateSettings[];
  /** So many at a time; absent: one after another. */
  readonly gatesParallel?: number;
  /** Null or absent: agents run like any other program. */
  readonly sandbox?: SandboxSettings | null;
  /** How people are told what happens; absent: not at all. */
  readonly notify?: NotifySettings;
}

export interface NotifySettings {
  readonly desktop: boolean;
  readonly webhook: WebhookSettings | null;
  readonly command: string | null;
  /** The kinds of notices that are sent. */
  readonly on: readonly NoticeKind[];
}

export interface WebhookSettings {
  /** Whoever knows it can write there. */
  readonly url: string;
  readonly format: PayloadFormat;
  /** Signs what is sent; null: nothing does. */
  readonly secret: string | null;
}

export interface AgentSettings {
  readonly name: string;
  /** How it takes its prompt and what it prints. */
  readonly format: AgentFormat;
  /** Program and arguments; `{prompt}` and `{prompt_file}` are replaced. Null: we know how the program is called. */
  readonly command: readonly string[] | null;
  /** Null is its own choice. */
  readonly model: string | null;
  /** Added to the arguments of a program whose command line we know. */
  readonly args: readonly string[];
  /** Whether an iteration goes on with the session of the one before. */
  readonly session: "fresh" | "resume";
  readonly permissions: Permissions;
  readonly env: Readonly<Record<string, string>>;
  readonly envDeny: readonly string[];
  /** For tokens whose cost the agent does not tell. */
  readonly prices: Prices;
  /** Of a plugin: how what it prints is read, whatever the format. */
  readonly lines?: AgentLines;
}

/** Reads what an agent prints on stdout. */
export interface AgentLines {
  /** For each process; what it answers is called with each line, and says whether it understood it. */
  readonly createReader: () => (line: string, facts: FactRecorder) => boolean;
  readonly tells: "cost" | "tokens" | "nothing";
}

export type AgentFormat = "text" | "demo" | StreamFormat;

/** What the agent may do without asking: everything, change files, what its own settings say, or only read. */
export type Permissions = "full" | "edits" | "own" | "read";

export interface GateSettings {
  readonly name: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly required: boolean;
  readonly onMissing: "warn" | "fail" | "skip";
  /** Relative to the workspace. */
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** What it checks; "test" means something to us. */
  readonly kind: string | null;
  /** How many more times it is run when it fails. */
  readonly retries: number;
  readonly expect: GateExpectation;
  /** Whether what failed before the agent began may go on failing. */
  readonly onBaseline: "require" | "tolerate";
  /** The plugin whose function it is; its command is only what people see. */
  readonly plugin?: string;
}

/** What a gate that passes looks like. */
export interface GateExpectation {
  readonly exitCode: number;
  readonly outputContains: string | null;
  readonly outputNotContains: string | null;
}

export type Mode = "speed" | "standard" | "thorough";

export const MODE_TIMEOUT_MS: Readonly<Record<Mode, number>> = {
  speed: 120_000,
  standard: 900_000,
  thorough: 1_800_000,
};
