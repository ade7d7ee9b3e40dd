import type { Belongings } from "../../core/agents.ts";
import type { AgentReport, Ending, Usage } from "../../core/streams/agent-report.ts";
import type { ExpectedPromise } from "../../core/words/read-promise.ts";
import type { TextPiece } from "../../core/streams/stream-format.ts";
import type { AgentSettings } from "../../core/settings.ts";
import type { AgentRequest, Progress } from "../../engine/ports.ts";

/** In the folder of the iteration: what the agent wrote about what it used. */
export const USAGE_FILE = "usage.json";

/**
 * Translates between us and one kind of agent. At most it looks at files, for `locate` or for settings that the agent
 * reads itself; processes and secrets are not its business.
 */
export interface AgentAdapter {
  readonly can: Capabilities;
  command(launch: Launch, promptFile: string): AgentCommand;
  /** The file to start in place of the one that the PATH has; null when that is the right one. */
  locate?(program: string): string | null;
  createReader(request: ReaderRequest, launch: Launch): AgentReader;
  /** What it used in a resumed session counts from that session's beginning. */
  readonly countsWholeSession?: boolean;
  /** What of its operator's it needs in a sandbox; nothing when it does not say. */
  belongings?(agent: AgentSettings, env: Readonly<Record<string, string>>): Belongings;
  /** Whether it puts its own commands into a sandbox, which cannot be made inside of another. */
  sandboxesItself?(agent: AgentSettings): boolean;
  /** Reads what it used from the file that `command` asked it to write; may throw when that is damaged. */
  readUsage?(text: string): Usage | null;
}

export interface Capabilities {
  /** Go on with an earlier session, by its id. */
  readonly resumes: boolean;
  readonly takesMessages: boolean;
  readonly takesMcpServers: boolean;
  /** Of what it used: its cost, at least its tokens, or nothing. */
  readonly tells: "cost" | "tokens" | "nothing";
}

/** What one process of an agent is started with. */
export interface Launch extends Pick<
  AgentRequest,
  "agent" | "prompt" | "mayGetMessages" | "marker" | "budgetUsd" | "part"
> {
  /** Of a new one the id is a suggestion: not every agent lets us choose. */
  readonly session: { readonly id: string; readonly isNew: boolean };
  readonly workspace: string;
  /** Of the repository that the workspace belongs to. */
  readonly gitDir: string;
  /** The one folder of ours that it may write to. */
  readonly folder: string;
  /** How we ourselves are started, wherever that is and whatever the PATH has. */
  readonly ownProgram: readonly [command: string, ...args: string[]];
  /** Our own server, for agents that take any. */
  readonly mcpServer: McpServer;
  readonly version: string;
  readonly env: Readonly<Record<string, string>>;
  readonly isRoot: boolean;
}

export interface McpServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A server in the form that most agents read. */
export function mcpServerJson({ name, command, args, env }: McpServer, more: object = {}): string {
  return JSON.stringify({ mcpServers: { [name]: { ...more, command, args, env } } });
}

export interface AgentCommand {
  readonly command: readonly string[];
  /** For stdin, which is closed after it; null leaves stdin empty, or to the reader's conversation. */
  readonly input: string | null;
  /** Over what it finds in its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ReaderRequest {
  /** Without secrets. */
  readonly prompt: string;
  readonly promise: ExpectedPromise;
  /** The clock, and the zone of times that name none: when a limit ends is told in both. The machine's by default. */
  readonly now?: () => number;
  readonly zone?: string;
  /** Where the agent works; files inside are named from here. */
  readonly workspace?: string;
  /** The price of such a use of a model; null when it is unknown. */
  readonly costOf?: (usage: Usage, model: string | null) => number | null;
  /** For whoever watches: what the agent says, in the reader's words if it has any of its own. */
  readonly show?: (text: string) => void;
}

/** Follows one agent's output. Its memory is bounded, whatever comes. */
export interface AgentReader {
  /** Of a longer line only the beginning is read; the usual length when it does not say. */
  readonly lineBytesMax?: number;
  /** It shows what the agent says; of others the output is shown as it is. */
  readonly showsItself?: boolean;
  /** Where a line has one of several pieces of a text: a secret may be in two of them. */
  readonly pieceIn?: (line: string) => TextPiece | null;
  stdoutLine(line: string): void;
  /** Many lines at once, with a newline between them; one that does not take them gets each alone. */
  readonly stdoutPassage?: (passage: string) => void;
  stderrLine(line: string): void;
  /** Speaks with the agent over its stdin, which stays open; answers how a message reaches it while it runs. */
  converse?(write: Write): Send;
  /** Asks the agent, over its stdin, to end its turn by itself; false when it has none, or could not be asked. */
  cancel?(): Promise<boolean>;
  activity(): AgentActivity;
  /** Whether the agent has given its final result and need only exit; one that never says so has no such method. */
  isOver?(): boolean;
  /** Whether the program has done nothing for long but to try again by itself. */
  isUnreachable?(): boolean;
  /** So long it may take to exit then; the usual time when it does not say. */
  readonly exitMs?: number;
  /** Called once, after the last line. */
  result(ending: Ending): AgentResult;
}

/** False: it could not be written. */
export type Write = (text: string) => Promise<boolean>;
/** False: the agent did not get it. */
export type Send = (text: string) => Promise<boolean>;

/** What the agent is doing right now, as far as it tells. */
export type AgentActivity = Pick<
  Progress,
  "lastLine" | "toolCalls" | "lastTool" | "currentFile" | "filesTouched" | "costUsd"
>;

/** The part of an agent's report that its output alone gives; the run adds the rest. */
export type AgentResult = Required<
  Pick<
    AgentReport,
    | "claim"
    | "promise"
    | "signals"
    | "failure"
    | "finalText"
    | "toolCalls"
    | "usage"
    | "model"
    | "sessionId"
    | "filesWritten"
    | "unknownEvents"
  >
> &
  Pick<AgentReport, "ranCommands" | "denied" | "review">;

let known: string | null = null;

/** The machine's. Asking for it is slow, and it does not change. */
export function localZone(): string {
  return (known ??= Intl.DateTimeFormat().resolvedOptions().timeZone);
}
