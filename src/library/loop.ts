import type { Outcome } from "../core/events.ts";
import type { FailureClass } from "../core/streams/agent-report.ts";
import type { ProjectEvent } from "./project-event.ts";
import type { Environment, Plugin } from "../adapters/plugins/plugin.ts";

/** What a loop is to do. Whatever is left out is as the project's configuration says. */
export interface LoopOptions {
  /** A folder of the repository to work in; the current one without it. */
  readonly cwd?: string;
  /** The environment of the run and of its agents; this process's own without it. */
  readonly env?: Environment;
  /** Another folder than `.ralph`, as `--dir`. */
  readonly dir?: string;
  /** One task, in words. Without it the task source is worked on. */
  readonly goal?: string;
  /** False: the goal is reached without a change of files. */
  readonly changesNeeded?: boolean;
  /** The file with the tasks, or `plugin:NAME`. */
  readonly source?: string;
  /** Only these tasks. */
  readonly tasks?: readonly string[];
  readonly agent?: string;
  readonly model?: string;
  /** Commands that must pass, beside the configured gates. */
  readonly checks?: readonly string[];
  readonly maxIterations?: number;
  /** Iterations in a row without progress; 0 is off. */
  readonly maxStuck?: number;
  /** Of each iteration. */
  readonly timeoutMs?: number;
  readonly mode?: "speed" | "standard" | "thorough";
  /** In dollars; 0 is none. */
  readonly budgetUsd?: number;
  readonly maxDurationMs?: number;
  /** So many tasks at a time, each in a worktree of its own. */
  readonly parallel?: number;
  /** Work in worktrees also with one lane. */
  readonly worktree?: boolean;
  /** False: it stops at the first task that is blocked, undecided or stuck. */
  readonly keepGoing?: boolean;
  /** False: it ends where it would wait for a limit or a deadline. */
  readonly wait?: boolean;
  /** Start on uncommitted changes, and leave exactly those paths alone. */
  readonly allowDirty?: boolean;
  /** False: agents run like any other program, whatever is configured. */
  readonly sandbox?: boolean | "bubblewrap" | "docker";
  /** False: what goes wrong is recorded, and the agent is not told. */
  readonly interventions?: boolean;
  /** False: the machine may fall asleep while an agent works. */
  readonly keepAwake?: boolean;
  /** Plugins of this very program, beside the configured ones. */
  readonly plugins?: readonly Plugin[];
  /** An abort asks for what Ctrl-C asks for: the agent is ended, the iteration recorded. */
  readonly signal?: AbortSignal;
  /** Called with each event, in order, after it is recorded. What it throws ends the loop. */
  readonly onEvent?: (event: ProjectEvent) => void | Promise<void>;
  /** Called with what the command line would say to a person on stderr. */
  readonly onNotice?: (text: string) => void;
}

/** How a loop ended. */
export interface LoopResult {
  /** Every task is verifiably done. */
  readonly success: boolean;
  readonly outcome: Outcome;
  /** What `ralph run` would have exited with. */
  readonly exitCode: number;
  /** Why it ended, in a sentence. */
  readonly reason: string;
  /** Its id in the log. */
  readonly run: string;
  readonly iterations: number;
  /** From its start to its end. */
  readonly durationMs: number;
  /** As far as it is known. */
  readonly costUsd: number | null;
  /** The last words of the agent that ended last. */
  readonly finalOutput: string;
  /** The text of its promise, whether or not it counted. */
  readonly promise: string | null;
  /** How that agent failed, if it did. */
  readonly error: { readonly class: FailureClass; readonly message: string } | null;
}

/**
 * Runs a loop from its start to its end, in this process and as `ralph run` does it. Rejects with a `RalphError` when it
 * cannot start; however it ends after that is a result.
 */
export async function runLoop(options: LoopOptions = {}): Promise<LoopResult> {
  // Loaded when it is needed: whoever only reads a project needs none of it.
  const { embeddedLoop } = await import("./embedded-loop.ts");
  return embeddedLoop(options);
}
