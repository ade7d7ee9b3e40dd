import { join } from "node:path";
import { fieldsOf, listOf, textOf, type Fields } from "../../core/report/streams/json-fields.ts";
import { ITERATION_FILES } from "../../core/report/iteration-files.ts";
import { parsedJson, readEnd } from "./read-file.ts";

/** What the agent said before it wanted to stop. */
export interface LastWords {
  /** That a person has to do or to decide something. */
  readonly holds: boolean;
  /** Its review, as a signal. */
  readonly reviews: boolean;
}

const TRANSCRIPT_BYTES_MAX = 256 * 1024;
const REPORTS_BYTES_MAX = 1024 * 1024;

/** Generous: a signal that does not count after all is weighed with everything else. */
export function readLastWords(input: Fields, env: NodeJS.ProcessEnv): LastWords {
  const transcript = textOf(input["transcript_path"]);
  const words =
    textOf(input["last_assistant_message"]) ??
    (transcript === null ? "" : assistantWords(readEnd(transcript, TRANSCRIPT_BYTES_MAX)?.text ?? ""));
  return {
    holds: /<promise>\s*(?:BLOCKED|DECIDE):\s*[^\s<]/.test(words) || hasReported(env),
    reviews: /<promise>\s*(?:APPROVED\s*<|CHANGES_REQUESTED:\s*[^\s<])/.test(words),
  };
}

function assistantWords(text: string): string {
  return text
    .split("\n")
    .flatMap((line) => {
      if (!line.includes('"assistant"')) return [];
      const { message, isSidechain } = fieldsOf(parsedJson(line));
      const { role, content } = fieldsOf(message);
      if (role !== "assistant" || isSidechain === true) return [];
      if (typeof content === "string") return [content];
      return listOf(content).map((part) => textOf(fieldsOf(part)["text"]) ?? "");
    })
    .join("\n");
}

/** Through its tools. */
function hasReported(env: NodeJS.ProcessEnv): boolean {
  const folder = env[ITERATION_FILES.variable] ?? "";
  const reports = folder === "" ? null : readEnd(join(folder, ITERATION_FILES.reports), REPORTS_BYTES_MAX);
  return (reports?.text ?? "").split("\n").some((line) => {
    const { tool } = fieldsOf(parsedJson(line));
    return tool === "task_blocked" || tool === "ask_decision";
  });
}
