import { findProgram } from "../process/process-table.ts";
import { NO_BELONGINGS } from "../../core/agents.ts";
import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Ending,
  UNKNOWN_USAGE,
  type Usage,
  ITERATION_FILES,
  usageWithout,
} from "../../core/streams/agent-report.ts";
import { readJsonLine } from "../../core/streams/json-fields.ts";
import { claimWith, readToolReport, type ToolReport } from "../../core/streams/tool-reports.ts";
import type { AgentSettings } from "../../core/settings.ts";
import { readReview } from "../../core/verdict/reader.ts";
import type { AgentRequest } from "../../engine/ports.ts";
import type { AgentSandbox, AgentStartInside } from "../process/agent-sandbox.ts";
import { type FileEnd, fileError, readEnd } from "../process/atomic-file.ts";
import { outsidePath } from "../process/safe-path.ts";
import { sandboxesItself } from "./adapters.ts";
import {
  type AgentAdapter,
  type AgentCommand,
  type AgentResult,
  type Launch,
  USAGE_FILE,
} from "./agent-adapter.ts";

export interface LaunchOptions extends Pick<Launch, "gitDir" | "ownProgram" | "version"> {
  /** Where the agents work. */
  readonly cwd: string;
}

/** A second reader begins afresh, hears nobody, and may change nothing; what it sees of a sandbox holds it as well. */
export function asReader(request: AgentRequest, isSandboxed: boolean): AgentRequest {
  const agent: AgentSettings = { ...request.agent, permissions: "read" };
  const permissions = isSandboxed && sandboxesItself(agent) ? "full" : "read";
  return {
    ...request,
    agent: { ...agent, permissions },
    stage: "reader",
    session: null,
    mayGetMessages: false,
  };
}

export function launchOf(
  request: AgentRequest,
  { cwd, gitDir, ownProgram, version }: LaunchOptions,
  { path }: IterationFolder,
  env: Readonly<Record<string, string>>,
): Launch {
  const { session, marker } = request;
  const [command, ...args] = ownProgram;
  return {
    ...request,
    session: session === null ? { id: randomUUID(), isNew: true } : { id: session.id, isNew: false },
    workspace: request.root ?? cwd,
    folder: path,
    mcpServer: {
      name: "ralph",
      command,
      args: [...args, "mcp"],
      env: { [ITERATION_FILES.variable]: path, RALPH_MARKER: marker },
    },
    gitDir,
    ownProgram,
    version,
    env,
    isRoot: process.getuid?.() === 0,
  };
}

/** The command as the system is to start it, in the sandbox if there is one. */
export async function startOf(
  adapter: AgentAdapter,
  launch: Launch,
  promptFile: string,
  readsPrompt: boolean,
  sandbox?: AgentSandbox,
): Promise<Required<AgentCommand> & Partial<AgentStartInside>> {
  const { command, input, env = {} } = adapter.command(launch, promptFile);
  const [program = "", ...args] = command;
  const isOurs = sandbox?.hasOwnPrograms !== true;
  const found = isOurs && adapter.locate ? findProgram(program, launch.workspace, launch.env) : null;
  const real = found === null ? null : (adapter.locate?.(found) ?? null);
  const start = { command: [real ?? program, ...args], env: { ...launch.env, ...env } };
  if (sandbox === undefined) return { ...start, input };
  const { agent, workspace, folder, marker, part } = launch;
  const belongings = adapter.belongings?.(agent, start.env) ?? NO_BELONGINGS;
  const place = { agent: agent.name, workspace, folder, marker, promptFile: readsPrompt ? promptFile : null };
  const given = Object.keys(agent.env);
  const readsOnly = part === "reader";
  return { ...(await sandbox.around({ ...start, ...place, given, belongings, readsOnly })), input };
}

/** What the agent said in other ways than by its output. */
export function withFolder(
  result: AgentResult,
  adapter: AgentAdapter,
  folder: IterationFolder,
  { session, promise, part }: Pick<AgentRequest, "session" | "promise" | "part">,
): AgentResult {
  const usage = usageIn(folder, adapter) ?? result.usage;
  const isTotal = adapter.countsWholeSession === true && session !== null;
  const told = { ...result, usage: isTotal ? usageWithout(usage, session.used) : usage };
  const reports = folder.readReports();
  if (part === "reader") return withReview(told, reports);
  const claim = claimWith(result.claim, reports, promise.completion);
  if (claim === result.claim) return told;
  // A tool is one of the agreed ways to say it.
  return { ...told, claim, signals: { ...told.signals, confidence: 100 } };
}

/** What was submitted counts before what is said. Whoever has reviewed did not fail by what it might not do besides. */
function withReview(result: AgentResult, reports: readonly ToolReport[]): AgentResult {
  const { failure, finalText } = result;
  const submitted = reports.findLast((report) => report.tool === "submit_review");
  const read = submitted ?? readReview(finalText);
  if (!("review" in read)) return result;
  return { ...result, review: read.review, failure: failure?.class === "agent" ? null : failure };
}

/** A session that is gone is nobody's mistake: the next try has a fresh one. */
export function withoutLostSession(result: AgentResult, ending: Ending, { session }: Launch): AgentResult {
  const { failure, toolCalls } = result;
  const isLost = !session.isNew && ending.is === "exited" && toolCalls === 0;
  if (!isLost || failure?.class !== "config") return result;
  return { ...result, sessionId: null, failure: { ...failure, class: "transient" } };
}

function usageIn(folder: IterationFolder, adapter: AgentAdapter): Usage | null {
  const text = adapter.readUsage ? folder.read(USAGE_FILE) : null;
  try {
    return text === null ? null : (adapter.readUsage?.(text) ?? null);
  } catch {
    return UNKNOWN_USAGE; // damaged, so nobody knows
  }
}

export interface EnvironmentOptions {
  readonly baseEnv: Readonly<Record<string, string | undefined>>;
  readonly ralphDir: string;
  /** Where we ourselves are installed. */
  readonly ownRoot: string;
}

/** The environment of one agent process: ours, without what would mislead it, with what it may want to know. */
export function agentEnvironment(
  request: AgentRequest,
  options: EnvironmentOptions,
  folder: string,
): Record<string, string> {
  const { agent } = request;
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.baseEnv)) {
    if (value !== undefined && !MISLEADING.test(name) && !agent.envDeny.includes(name)) env[name] = value;
  }
  if (env["PATH"] !== undefined) env["PATH"] = outsidePath(env["PATH"], options.ownRoot);
  return {
    ...env,
    ...agent.env,
    RALPH_RUN_ID: request.run,
    RALPH_TASK_ID: request.task,
    RALPH_STAGE: request.stage,
    RALPH_ITERATION: String(request.ordinal),
    RALPH_ITERATION_NUMBER: String(request.iteration),
    RALPH_MAX_ITERATIONS: String(request.maxIterations),
    RALPH_DIR: options.ralphDir,
    [ITERATION_FILES.variable]: folder,
    RALPH_MARKER: request.marker,
  };
}

/**
 * What agents set for the programs they start (an agent that finds it believes that it runs inside another one)
 * and what npm sets for scripts. Settings of the operator with similar names stay: keys, models, registries.
 */
const MISLEADING = new RegExp(
  `^(?:${[
    "CLAUDECODE",
    "CLAUDE_CODE_(?:ENTRYPOINT|SSE_PORT|SESSION_ID|EXECPATH|CHILD_SESSION|PARENT_SESSION_ID|REMOTE_SESSION_ID)",
    "CLAUDE_(?:SESSION_ID|PROJECT_DIR|PLUGIN_ROOT|ENV_FILE)",
    "CODEX_SANDBOX.*",
    "CODEX_(?:CI|THREAD_ID|SESSION_ID|MANAGED_BY_.*)",
    "GEMINI_CLI",
    "GEMINI_(?:SESSION_ID|PROJECT_DIR)",
    "GEMINI_CLI_IDE_.*",
    "OPENCODE",
    "OPENCODE_(?:PID|RUN_ID|SESSION_ID|PROCESS_ROLE|CLIENT)",
    "COPILOT_(?:CLI|RUN_APP|CLI_RUN_AS_NODE|LOADER_PID|AGENT_.*|SESSION_.*)",
    "CURSOR_(?:AGENT|TRACE_ID)",
    "AI_AGENT",
    "npm_(?:lifecycle|package|command|execpath|node_execpath|config_(?:user_agent|local_prefix|npm_version|node_gyp)).*",
    "INIT_CWD",
  ].join("|")})$`,
);

/** What an agent's tools and hooks are told of the task. */
export type FolderTask = Pick<
  AgentRequest,
  "task" | "stage" | "ordinal" | "maxIterations" | "about" | "part"
>;

const REPORTS_MAX = 1_000;
export type IterationFolder = ReturnType<typeof iterationFolder>;

/** The one place where programs on the agent's side meet us. The agent may do anything to it. */
export function iterationFolder(marker: string) {
  const path = pathOf(marker);
  let made: Pick<Stats, "dev" | "ino"> | null = null;
  const readHere = (name: string): FileEnd | null => {
    const now = lstatSync(path, { throwIfNoEntry: false });
    // Another folder or a link in its place leads elsewhere.
    const isOurs = now?.isDirectory() === true && now.dev === made?.dev && now.ino === made.ino;
    return isOurs ? readEnd(join(path, name), { followsLinks: false }) : null;
  };
  return {
    path,
    make({ task, stage, ordinal, maxIterations, about, part }: FolderTask): void {
      const { title, description, criteria } = about;
      // The task's own count, as in RALPH_ITERATION.
      const count = { iteration: ordinal, max_iterations: maxIterations };
      const told = { id: task, title, description, acceptance_criteria: criteria, stage, ...count, part };
      try {
        // One that was killed may have left its own.
        removeIterationFolder(marker);
        mkdirSync(path, { mode: 0o700 });
        made = lstatSync(path);
        const text = `${JSON.stringify(told, null, 2)}\n`;
        writeFileSync(join(path, ITERATION_FILES.task), text, { mode: 0o600, flag: "wx" });
      } catch (error) {
        throw fileError(error, path);
      }
    },
    /** A file that the agent may have made; null when there is none, or a huge one. */
    read(name: string): string | null {
      const end = readHere(name);
      return end?.isWhole === true ? end.text : null;
    },
    /** What the tools were told, oldest first; without what makes no sense. Never fails. */
    readReports(): readonly ToolReport[] {
      const lines = (readHere(ITERATION_FILES.reports)?.text ?? "").split("\n");
      const reports = lines.flatMap((line) => readJsonLine(line) ?? []).map(readToolReport);
      return reports.filter((report) => typeof report !== "string").slice(-REPORTS_MAX);
    },
    dispose(): void {
      try {
        removeIterationFolder(marker);
      } catch {
        // One that the agent made undeletable is left to whoever clears the temporary files.
      }
    },
  };
}

/** What an iteration has left whose process was killed. */
export function removeIterationFolder(marker: string): void {
  rmSync(pathOf(marker), { recursive: true, force: true });
}

function pathOf(marker: string): string {
  return join(tmpdir(), `ralph-iteration-${marker}`);
}
