import { McpServer, type CallToolResult } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Fields } from "../../core/report/streams/json-fields.ts";
import { readToolReport } from "../../core/report/tool-reports.ts";
import type { AgentFolder } from "./agent-folder.ts";
import { REPORT_TOOLS, whatHappensNext } from "./report-tools.ts";

const INSTRUCTIONS =
  "These tools connect you with the loop that runs you. get_task shows the task; when one of task_complete, " +
  "task_blocked and ask_decision is true, call it and end your turn.";

/** There are few tools and they are short: where tools wait to be searched for, these should not. */
const META = { "anthropic/alwaysLoad": true };

/** Serves on stdin and stdout. The process lives as long as the client keeps its stdin open. */
export function serveTools(folder: AgentFolder, version: string): void {
  serveStdio(() => createServer(folder, version));
}

function createServer(folder: AgentFolder, version: string): McpServer {
  const server = new McpServer({ name: "ralph", version }, { instructions: INSTRUCTIONS });
  server.registerTool(
    "get_task",
    {
      description:
        "The task of this iteration: what is to be done, its acceptance criteria, stage and limits.",
      annotations: { readOnlyHint: true, openWorldHint: false },
      _meta: META,
    },
    () => ({ ...said(JSON.stringify(folder.task, null, 2)), structuredContent: { ...folder.task } }),
  );
  for (const [tool, { description, input }] of Object.entries(REPORT_TOOLS)) {
    // Agents ask a person before they call what may do harm.
    const annotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
    const config = { description, inputSchema: input, annotations, _meta: META };
    server.registerTool(tool, config, (fields) => take(folder, { tool, ...fields }));
  }
  return server;
}

function take(folder: AgentFolder, given: Fields): CallToolResult {
  const report = readToolReport(given);
  if (typeof report === "string") return refused(report);
  try {
    folder.add(given);
  } catch (error) {
    // The agent is there to read it, and can still use its words.
    const why = error instanceof Error ? error.message : String(error);
    return refused(`not noted (${why}): say it in your final message instead`);
  }
  return said(whatHappensNext(report));
}

function said(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function refused(why: string): CallToolResult {
  return { ...said(why), isError: true };
}
