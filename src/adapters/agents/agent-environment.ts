import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import type { AgentRequest } from "../../engine/ports.ts";
import { outsidePath } from "../system/outside-path.ts";

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
