import { randomUUID } from "node:crypto";
import { UNKNOWN_USAGE, type Usage } from "../../core/report/agent-report.ts";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import { claimWith } from "../../core/report/tool-reports.ts";
import type { AgentRequest } from "../../engine/ports.ts";
import { findProgram } from "../system/find-program.ts";
import {
  USAGE_FILE,
  type AgentAdapter,
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

/** The command as the system is to start it, with the files that it needs. */
export async function startOf(
  adapter: AgentAdapter,
  launch: Launch,
  promptFile: string,
  folder: IterationFolder,
): Promise<{
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string | null;
}> {
  const { command, input, env = {}, files = {} } = adapter.command(launch, promptFile);
  for (const [name, text] of Object.entries(files)) await folder.write(name, text);
  const [program = "", ...args] = command;
  const found = adapter.locate && findProgram(program, launch.workspace, launch.env);
  const real = found == null ? null : (adapter.locate?.(found) ?? null);
  return { command: [real ?? program, ...args], env: { ...launch.env, ...env }, input };
}

/** What the agent said in other ways than by its output. */
export async function withFolder(
  result: AgentResult,
  adapter: AgentAdapter,
  folder: IterationFolder,
  promise: string,
): Promise<AgentResult> {
  const usage = adapter.readUsage ? await usageIn(folder, adapter.readUsage) : null;
  const told = { ...result, usage: usage ?? result.usage };
  const claim = claimWith(result.claim, await folder.readReports(), promise);
  if (claim === result.claim) return told;
  // A tool is one of the agreed ways to say it.
  return { ...told, claim, signals: { ...told.signals, confidence: 100 } };
}

async function usageIn(
  folder: IterationFolder,
  read: NonNullable<AgentAdapter["readUsage"]>,
): Promise<Usage | null> {
  const text = await folder.read(USAGE_FILE);
  try {
    return text === null ? null : read(text);
  } catch {
    return UNKNOWN_USAGE; // damaged, so nobody knows
  }
}
