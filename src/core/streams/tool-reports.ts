import { parseDuration } from "../time.ts";
import { parseReview, type Review } from "../verdict/reader.ts";
import type { Claim } from "./agent-report.ts";
import { fieldsOf, listOf, numberOf, type Fields } from "./json-fields.ts";
import { stripEscapes } from "../words/strip-escapes.ts";

/** What an agent says through the tools we give it; trusted as little as its words. */
export type ToolReport =
  | { readonly tool: "task_complete"; readonly summary: string }
  | { readonly tool: "task_blocked"; readonly reason: string }
  | AskedDecision
  | { readonly tool: "submit_review"; readonly review: Review }
  | { readonly tool: "report_progress"; readonly message: string; readonly percent?: number };

interface AskedDecision {
  readonly tool: "ask_decision";
  readonly question: string;
  readonly options: readonly string[];
  readonly default: string | null;
  readonly deadlineMs: number | null;
}

export const TOOL_WORDS_MAX = 2_000;
export const TOOL_OPTIONS_MAX = 20;

/** What the agent claims, in its words and through its tools together. */
export function claimWith(words: Claim, reports: readonly ToolReport[], promise: string): Claim {
  const held = reports.map(holdOf).findLast((claim) => claim !== null);
  if (held !== undefined) return held;
  if (words.is === "blocked" || words.is === "undecided" || words.is === "already-done") return words;
  return reports.some(({ tool }) => tool === "task_complete") ? { is: "complete", promise } : words;
}

/** A blocker or a question holds the task, whatever else is claimed. */
function holdOf(report: ToolReport): Claim | null {
  if (report.tool === "task_blocked") return { is: "blocked", reason: report.reason };
  if (report.tool !== "ask_decision") return null;
  const { question, options, default: answer, deadlineMs } = report;
  return { is: "undecided", question, options, default: answer, deadlineMs };
}

/** Reads the name of a tool with its arguments; a text as the answer says what is wrong with them. */
export function readToolReport(value: unknown): ToolReport | string {
  const fields = fieldsOf(value);
  const { tool } = fields;
  switch (tool) {
    case "task_complete":
      return { tool, summary: wordsOf(fields["summary"]) };
    case "task_blocked": {
      const reason = wordsOf(fields["reason"]);
      return reason === "" ? "reason is empty: say what a person has to change" : { tool, reason };
    }
    case "ask_decision":
      return readQuestion(fields);
    case "submit_review": {
      const review = parseReview(fields);
      return review === null ? "it answers nothing: give each criterion and each concern" : { tool, review };
    }
    case "report_progress": {
      const message = wordsOf(fields["message"]);
      const percent = numberOf(fields["percent"]);
      if (message === "") return "message is empty: say what you are doing";
      return { tool, message, ...(percent !== null && percent >= 0 && percent <= 100 && { percent }) };
    }
    default:
      return "no such tool";
  }
}

function readQuestion(fields: Fields): AskedDecision | string {
  const question = wordsOf(fields["question"]);
  const options = listOf(fields["options"]).map(wordsOf).filter(isSaid).slice(0, TOOL_OPTIONS_MAX);
  const answer = wordsOf(fields["default"]);
  const deadline = wordsOf(fields["deadline"]);
  const deadlineMs = parseDuration(deadline);
  if (question === "") return "question is empty: say what is to be decided";
  if (isSaid(answer) && options.length > 0 && !options.includes(answer))
    return `default is "${answer}", which is none of the options: ${options.join(", ")}`;
  if (isSaid(deadline)) {
    if (deadlineMs === null || deadlineMs <= 0 || !Number.isFinite(deadlineMs))
      return `deadline "${deadline}" is no duration longer than 0, such as "30m" or "2h"`;
    if (!isSaid(answer)) return "a deadline needs a default: what is taken when nobody answers in time";
  }
  return { tool: "ask_decision", question, options, default: isSaid(answer) ? answer : null, deadlineMs };
}

function isSaid(words: string): boolean {
  return words !== "";
}

function wordsOf(value: unknown): string {
  return typeof value === "string" ? stripEscapes(value).trim().slice(0, TOOL_WORDS_MAX).toWellFormed() : "";
}
