import type { Claim, Ending, Failure, Usage } from "../../core/report/agent-report.ts";
import type { Signals } from "../../core/report/signals.ts";
import type { ExpectedPromise } from "../../core/report/read-promise.ts";
import type { AgentSettings } from "../../core/settings.ts";

/** Translates between us and one kind of agent. Pure: processes, files and secrets are not its business. */
export interface AgentAdapter {
  command(request: CommandRequest): AgentCommand;
  /** How a message is written to its stdin while it runs, the prompt first; null when it takes none. */
  readonly messages: ((text: string) => string) | null;
  createReader(request: ReaderRequest): AgentReader;
  /** It tells what it costs, or at least its tokens. */
  readonly tellsUsage: boolean;
}

export interface CommandRequest {
  readonly agent: AgentSettings;
  readonly prompt: string;
  /** A file that holds the prompt. */
  readonly promptFile: string;
  /** Messages may follow the prompt on stdin, if it takes any. */
  readonly mayGetMessages: boolean;
}

export interface AgentCommand {
  readonly command: readonly string[];
  /** For stdin, which is closed after it; null leaves stdin empty. */
  readonly input: string | null;
}

export interface ReaderRequest {
  readonly prompt: string;
  readonly promise: ExpectedPromise;
  /** The clock, and the zone of times that name none: when a limit ends is told in both. The machine's by default. */
  readonly now?: () => number;
  readonly zone?: string;
  /** Where the agent works; files inside are named from here. */
  readonly workspace?: string;
}

/** Follows one agent's output. Its memory is bounded, whatever comes. */
export interface AgentReader {
  /** Of a longer line only the beginning is read; the usual length when it does not say. */
  readonly lineBytesMax?: number;
  stdoutLine(line: string): void;
  stderrLine(line: string): void;
  activity(): AgentActivity;
  /** Whether the agent has given its final result and need only exit; one that never says so has no such method. */
  isOver?(): boolean;
  /** Called once, after the last line. */
  result(ending: Ending): AgentResult;
}

/** What the agent is doing right now, as far as it tells. */
export interface AgentActivity {
  readonly lastLine: string;
  readonly toolCalls: number;
  readonly lastTool: string | null;
  readonly currentFile: string | null;
  readonly filesTouched: number;
  readonly costUsd: number | null;
}

export interface AgentResult {
  readonly claim: Claim;
  readonly promise: string | null;
  readonly signals: Signals;
  readonly failure: Failure | null;
  readonly finalText: string;
  readonly toolCalls: number;
  readonly usage: Usage;
  /** Whose tokens they are; null when it does not say. */
  readonly model: string | null;
  /** By which its session can be resumed. */
  readonly sessionId: string | null;
  /** Those that it tells of, without denied and failed writes. */
  readonly filesWritten: readonly string[];
}
