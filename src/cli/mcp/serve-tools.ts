import { formatDuration } from "../../core/time.ts";
import { ITERATION_FILES } from "../../core/streams/agent-report.ts";
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { McpServer, type CallToolResult } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { RalphError } from "../../core/errors.ts";
import { fieldsOf, type Fields } from "../../core/streams/json-fields.ts";
import {
  readToolReport,
  TOOL_OPTIONS_MAX,
  TOOL_WORDS_MAX,
  type ToolReport,
} from "../../core/streams/tool-reports.ts";

const INSTRUCTIONS =
  "These tools connect you with the loop that runs you. get_task shows the task; when one of task_complete, " +
  "task_blocked and ask_decision is true, call it and end your turn.";
const READERS_INSTRUCTIONS =
  "get_task shows the task that was worked on; give your review with submit_review.";

/** There are few tools and they are short: where tools wait to be searched for, these should not. */
const META = { "anthropic/alwaysLoad": true };

/** Serves on stdin and stdout. The process lives as long as the client keeps its stdin open. */
export function serveTools(folder: AgentFolder, version: string): void {
  serveStdio(() => createServer(folder, version));
}

function createServer(folder: AgentFolder, version: string): McpServer {
  const isReader = folder.task["part"] === "reader";
  const instructions = isReader ? READERS_INSTRUCTIONS : INSTRUCTIONS;
  const server = new McpServer({ name: "ralph", version }, { instructions });
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
    if (isReader !== (tool === "submit_review")) continue;
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

/** A tool with which the agent reports; both texts are for language models. */
interface ReportTool {
  readonly description: string;
  readonly input: z.ZodObject;
}

const words = z.string().max(TOOL_WORDS_MAX);

const REPORT_TOOLS: Readonly<Record<ToolReport["tool"], ReportTool>> = {
  task_complete: {
    description:
      "Claim that the whole task is done and every acceptance criterion holds. Call it last. The claim is checked " +
      "against git and the project's own checks after you stop; a false one is rejected.",
    input: z.object({ summary: words.describe("What you did, in one to three sentences.") }),
  },
  task_blocked: {
    description:
      "Say that the task cannot go on until a person changes something that is out of your reach, such as missing " +
      "access. Not for failing tests or work that is hard or long. The task then waits for that person.",
    input: z.object({ reason: words.describe("What is in the way, and what the person has to do.") }),
  },
  ask_decision: {
    description:
      "Ask a person for a decision that is not yours to make. The task waits; the answer comes with a later " +
      "iteration, never in this one.",
    input: z.object({
      question: words.describe("Understandable without having seen your work."),
      options: z.array(words).max(TOOL_OPTIONS_MAX).optional().describe("The answers you suggest."),
      default: words
        .optional()
        .describe("Taken when the deadline passes without an answer; one of the options, if there are any."),
      deadline: z.string().optional().describe('How long to wait, such as "30m" or "2h"; needs a default.'),
    }),
  },
  submit_review: {
    description:
      "Give your review: an answer with a reason for every criterion and every concern, by their numbers. Call it " +
      "once, last. Of several calls the last counts, and it counts before what you write.",
    input: z.object({
      criteria: z.array(
        z.object({
          criterion: z.int().min(1),
          answer: z.enum(["met", "not_met", "cannot_tell"]),
          reason: words.describe("What you saw, and in which file and line."),
        }),
      ),
      concerns: z
        .array(z.object({ concern: z.int().min(1), answer: z.enum(["harmless", "real"]), reason: words }))
        .default([]),
    }),
  },
  report_progress: {
    description:
      "Tell in a sentence what you are doing, for the record. Optional; it changes nothing about the task.",
    input: z.object({
      message: words,
      percent: z.number().min(0).max(100).optional().describe("How much of the task is done."),
    }),
  },
};

/** What the agent is told after its report was taken down. */
function whatHappensNext(report: ToolReport): string {
  switch (report.tool) {
    case "task_complete":
      return "Noted as a claim. It is checked against git and the project's own checks after you stop; now end your turn.";
    case "task_blocked":
      return "Noted. The task waits for a person now; do no more work on it and end your turn.";
    case "ask_decision": {
      const { default: usual, deadlineMs } = report;
      const isTimed = usual !== null && deadlineMs !== null;
      const taken = isTimed ? ` ("${usual}" is taken after ${formatDuration(deadlineMs)} without one)` : "";
      return `Noted. The answer comes with a later iteration${taken}; do no more work and end your turn.`;
    }
    case "submit_review":
      return "Noted. Do no more and end your turn.";
    case "report_progress":
      return "Noted. Go on with the task.";
  }
}

type AgentFolder = ReturnType<typeof openAgentFolder>;

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** The folder of one iteration, as programs on the agent's side see it. */
export function openAgentFolder(folder: string) {
  const reports = join(folder, ITERATION_FILES.reports);
  return {
    /** As it was when the folder was opened. */
    task: readTask(folder),
    /** Adds one report, whole or not at all; what is wrong with the file is thrown as it comes. */
    add(report: Fields): void {
      const file = openSync(reports, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      try {
        // In one write, since agents may run several of us at a time.
        writeSync(file, `${JSON.stringify(report)}\n`);
      } finally {
        closeSync(file);
      }
    },
  };
}

function readTask(folder: string): Fields {
  try {
    return fieldsOf(JSON.parse(readFileSync(join(folder, ITERATION_FILES.task), "utf8")));
  } catch (error) {
    throw new RalphError("usage", `${folder} is not the folder of an iteration that runs now`, {
      hint: "runs make such a folder for each iteration, and start this server by themselves",
      cause: error,
    });
  }
}
