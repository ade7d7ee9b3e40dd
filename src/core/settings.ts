import type { SourceIdentity, TaskId } from "./plan/task.ts";

/** Everything the operator asked for, resolved and frozen when a run starts; recorded in `run.started`. */
export interface Settings {
  readonly source: SourceIdentity;
  /** The agent of tasks that name none. */
  readonly agent: string;
  readonly gates: readonly GateSettings[];
  /** Only these tasks; null means all. */
  readonly onlyTasks: readonly TaskId[] | null;
  readonly lanes: number;
  readonly limits: LimitSettings;
  readonly promise: { readonly completion: string; readonly requireXml: boolean };
  /** The operator's own prompt template; null is the built-in one. */
  readonly promptTemplate: string | null;
  readonly mode: Mode;
  /** `--timeout`: taken exactly as given. */
  readonly timeoutMs: number | null;
  readonly keepGoing: boolean;
  readonly gatesEveryIteration: boolean;
  readonly git: { readonly commit: "ralph" | "agent"; readonly hooks: boolean };
  /** Paths that were dirty when the run started with `--allow-dirty`: never committed, never counted. */
  readonly leaveAlone: readonly string[];
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
}

/**
 * The programs to run, exactly as the operator gave them. They may hold secrets: the settings that are recorded
 * have redacted copies of the gates, and nothing of the agents but the name.
 */
export interface Commands {
  readonly agents: readonly AgentSettings[];
  readonly gates: readonly GateSettings[];
}

export interface AgentSettings {
  readonly name: string;
  /** Program and arguments; `{prompt}` and `{prompt_file}` are replaced. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly envDeny: readonly string[];
}

export interface GateSettings {
  readonly name: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly required: boolean;
  readonly onMissing: "warn" | "fail" | "skip";
  /** Relative to the workspace. */
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
}

export type Mode = "speed" | "standard" | "thorough";

export const MODE_TIMEOUT_MS: Readonly<Record<Mode, number>> = {
  speed: 120_000,
  standard: 900_000,
  thorough: 1_800_000,
};
