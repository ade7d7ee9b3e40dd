import { resolve } from "node:path";
import type { Command } from "commander";
import { RalphError } from "../../core/ralph-error.ts";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import type { Act, CliContext } from "../commands.ts";
import { openAgentFolder } from "../mcp/agent-folder.ts";

export function define(command: Command, act: Act): void {
  command
    .option("--folder <dir>", `the iteration's folder, instead of $${ITERATION_FILES.variable}`)
    .action((options: { folder?: string }) => act((context) => mcp(options.folder, context)));
}

/** Runs on the agent's side: it sees the iteration's folder, and neither the state nor the repository. */
async function mcp(given: string | undefined, { cwd, env, version }: CliContext): Promise<number> {
  const path = given ?? env[ITERATION_FILES.variable] ?? "";
  if (path === "")
    throw new RalphError(
      "usage",
      `${ITERATION_FILES.variable} is not set: there is no iteration to report for`,
      {
        hint: "runs start this server by themselves, for agents that take MCP servers; elsewhere: ralph mcp --folder DIR",
      },
    );
  const folder = openAgentFolder(resolve(cwd, path));
  const { serveTools } = await import("../mcp/serve-tools.ts");
  serveTools(folder, version);
  return 0;
}
