import { randomUUID } from "node:crypto";
import { UNKNOWN_USAGE, type Usage } from "../../core/report/agent-report.ts";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import { claimWith } from "../../core/report/tool-reports.ts";
import type { AgentRequest } from "../../engine/ports.ts";
import { findProgram } from "../system/find-program.ts";
import {
  USAGE_FILE,
  type AgentAdapter,
  type AgentCommand,
  type AgentResult,
  type Launch,
  type McpServer,
} from "./agent-adapter.ts";
import type { FolderTask, IterationFolder } from "./iteration-folder.ts";

export interface LaunchOptions {
  readonly cwd: string;
  readonly gitDir: string;
  readonly mcpServer: Omit<McpServer, "env">;
}

export function folderTask({ task, stage, ordinal, maxIterations, about }: AgentRequest): FolderTask {
  return { id: task, stage, iteration: ordinal, maxIterations, ...about };
}

export function launchOf(
  request: AgentRequest,
  { cwd, gitDir, mcpServer }: LaunchOptions,
  { path }: IterationFolder,
  env: Readonly<Record<string, string>>,
): Launch {
  const { agent, prompt, mayGetMessages, session, marker } = request;
  return {
    agent,
    prompt,
    mayGetMessages,
    session: session === null ? { id: randomUUID(), isNew: true } : { id: session, isNew: false },
    workspace: cwd,
    gitDir,
    folder: path,
    mcpServer: { ...mcpServer, env: { [ITERATION_FILES.variable]: path, RALPH_MARKER: marker } },
    env,
    isRoot: process.getuid?.() === 0,
  };
}

/** The command as the system is to start it. */
export function startOf(adapter: AgentAdapter, launch: Launch, promptFile: string): Required<AgentCommand> {
  const { command, input, env = {} } = adapter.command(launch, promptFile);
  const [program = "", ...args] = command;
  const found = adapter.locate && findProgram(program, launch.workspace, launch.env);
  const real = found == null ? null : (adapter.locate?.(found) ?? null);
  return { command: [real ?? program, ...args], env: { ...launch.env, ...env }, input };
}

/** What the agent said in other ways than by its output. */
export function withFolder(
  result: AgentResult,
  adapter: AgentAdapter,
  folder: IterationFolder,
  promise: string,
): AgentResult {
  const usage = usageIn(folder, adapter);
  const told = { ...result, usage: usage ?? result.usage };
  const claim = claimWith(result.claim, folder.readReports(), promise);
  if (claim === result.claim) return told;
  // A tool is one of the agreed ways to say it.
  return { ...told, claim, signals: { ...told.signals, confidence: 100 } };
}

function usageIn(folder: IterationFolder, adapter: AgentAdapter): Usage | null {
  const text = adapter.readUsage ? folder.read(USAGE_FILE) : null;
  try {
    return text === null ? null : (adapter.readUsage?.(text) ?? null);
  } catch {
    return UNKNOWN_USAGE; // damaged, so nobody knows
  }
}
