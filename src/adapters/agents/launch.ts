import { randomUUID } from "node:crypto";
import { UNKNOWN_USAGE, type Ending, type Usage } from "../../core/report/agent-report.ts";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import { usageWithout } from "../../core/report/usage.ts";
import { claimWith } from "../../core/report/tool-reports.ts";
import type { AgentRequest } from "../../engine/ports.ts";
import { NO_BELONGINGS } from "../../core/belongings.ts";
import { findProgram } from "../system/find-program.ts";
import {
  USAGE_FILE,
  type AgentAdapter,
  type AgentCommand,
  type AgentResult,
  type Launch,
} from "./agent-adapter.ts";
import type { AgentSandbox, AgentStartInside } from "../system/agent-sandbox.ts";
import type { FolderTask, IterationFolder } from "./iteration-folder.ts";

export interface LaunchOptions {
  /** Where the agents work. */
  readonly cwd: string;
  /** Of the repository that this belongs to. */
  readonly gitDir: string;
  /** How we ourselves are started, wherever that is and whatever the PATH has. */
  readonly ownProgram: Launch["ownProgram"];
  /** Ours. */
  readonly version: string;
}

export function folderTask({ task, stage, ordinal, maxIterations, about }: AgentRequest): FolderTask {
  const { title, description, criteria } = about;
  return { id: task, title, description, criteria, stage, iteration: ordinal, maxIterations };
}

export function launchOf(
  request: AgentRequest,
  { cwd, gitDir, ownProgram, version }: LaunchOptions,
  { path }: IterationFolder,
  env: Readonly<Record<string, string>>,
): Launch {
  const { agent, prompt, mayGetMessages, session, marker } = request;
  const [command, ...args] = ownProgram;
  return {
    agent,
    prompt,
    mayGetMessages,
    session: session === null ? { id: randomUUID(), isNew: true } : { id: session.id, isNew: false },
    workspace: request.root ?? cwd,
    gitDir,
    folder: path,
    marker,
    ownProgram,
    mcpServer: {
      name: "ralph",
      command,
      args: [...args, "mcp"],
      env: { [ITERATION_FILES.variable]: path, RALPH_MARKER: marker },
    },
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
  const { agent, workspace, folder, marker } = launch;
  const belongings = adapter.belongings?.(agent, start.env) ?? NO_BELONGINGS;
  const place = { agent: agent.name, workspace, folder, marker, promptFile: readsPrompt ? promptFile : null };
  const given = Object.keys(agent.env);
  return { ...(await sandbox.around({ ...start, ...place, given, belongings })), input };
}

/** What the agent said in other ways than by its output. */
export function withFolder(
  result: AgentResult,
  adapter: AgentAdapter,
  folder: IterationFolder,
  { session, promise }: Pick<AgentRequest, "session" | "promise">,
): AgentResult {
  const usage = usageIn(folder, adapter) ?? result.usage;
  const isTotal = adapter.countsWholeSession === true && session !== null;
  const told = { ...result, usage: isTotal ? usageWithout(usage, session.used) : usage };
  const claim = claimWith(result.claim, folder.readReports(), promise.completion);
  if (claim === result.claim) return told;
  // A tool is one of the agreed ways to say it.
  return { ...told, claim, signals: { ...told.signals, confidence: 100 } };
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
