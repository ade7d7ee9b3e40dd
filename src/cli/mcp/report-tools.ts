import { z } from "zod";
import { formatDuration } from "../../core/duration.ts";
import { TOOL_OPTIONS_MAX, TOOL_WORDS_MAX, type ToolReport } from "../../core/report/tool-reports.ts";
import { unreachable } from "../../core/unreachable.ts";

/** A tool with which the agent reports; both texts are for language models. */
interface ReportTool {
  readonly description: string;
  readonly input: z.ZodObject;
}

const words = z.string().max(TOOL_WORDS_MAX);

export const REPORT_TOOLS: Readonly<Record<ToolReport["tool"], ReportTool>> = {
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
export function whatHappensNext(report: ToolReport): string {
  switch (report.tool) {
    case "task_complete":
      return "Noted as a claim. It is checked against git and the project's own checks after you stop; now end your turn.";
    case "task_blocked":
      return "Noted. The task waits for a person now; do no more work on it and end your turn.";
    case "ask_decision":
      return `Noted. The answer comes with a later iteration${takenIn(report)}; do no more work and end your turn.`;
    case "report_progress":
      return "Noted. Go on with the task.";
    default:
      return unreachable(report);
  }
}

function takenIn(asked: Extract<ToolReport, { tool: "ask_decision" }>): string {
  if (asked.default === null || asked.deadlineMs === null) return "";
  return ` ("${asked.default}" is taken after ${formatDuration(asked.deadlineMs)} without one)`;
}
