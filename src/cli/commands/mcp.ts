import { ITERATION_FILES } from "../../core/streams/agent-report.ts";
import { resolve } from "node:path";
import type { Command } from "commander";
import { RalphError } from "../../core/errors.ts";
import type { Act, CliContext } from "../commands.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--folder <dir>", `the iteration's folder, instead of $${ITERATION_FILES.variable}`)
    .action(act(mcp));
}

/** Runs on the agent's side: it sees the iteration's folder, and neither the state nor the repository. */
async function mcp({ cwd, env, version }: CliContext, { folder }: { folder?: string }): Promise<number> {
  const path = folder ?? env[ITERATION_FILES.variable] ?? "";
  if (path === "")
    throw new RalphError(
      "usage",
      `${ITERATION_FILES.variable} is not set: there is no iteration to report for`,
      {
        hint: "runs start this server by themselves, for agents that take MCP servers; elsewhere: ralph mcp --folder DIR",
      },
    );
  const { openAgentFolder, serveTools } = await import("../mcp/serve-tools.ts");
  serveTools(openAgentFolder(resolve(cwd, path)), version);
  return 0;
}
