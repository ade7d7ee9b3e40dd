import type { TaskState } from "../state.ts";
import { isoTime, type Instant } from "../time.ts";

const ANSWER_HEADING = "## Answer";

/** `decide.txt`: the operator writes below the last heading. */
export function decideFileText({ question }: TaskState): string {
  if (question === null) return "";
  const { text, options, default: answer, deadlineAt, iteration, askedAt } = question;
  const until = deadlineAt === null ? null : isoTime(deadlineAt);
  const choice: string[] = [];
  if (options.length > 0) choice.push(`Options: ${options.join(" | ")}`);
  if (answer === null && until !== null) choice.push(`Answer wanted until: ${until}`);
  if (answer !== null)
    choice.push(`Default: ${answer}${until === null ? "" : ` (taken at ${until} without an answer)`}`);
  const details = choice.length === 0 ? "" : `\n${choice.join("\n")}\n`;
  return `## Question (from iteration ${iteration}, ${isoTime(askedAt)})\n${text}\n${details}\n---\n${ANSWER_HEADING}\n`;
}

export function blockedFileText(task: TaskState, iteration: number, at: Instant): string {
  return `Task: ${task.id}\nIteration: ${iteration}\nTime: ${isoTime(at)}\nReason: ${task.blockedReason ?? ""}\n\nWhen it is settled, delete this file and start ralph again.\n`;
}

/** What stands below the answer heading; empty when there is nothing yet. */
export function readAnswer(text: string): string {
  const at = text.lastIndexOf(`\n${ANSWER_HEADING}`);
  return at < 0 ? "" : text.slice(at + 1 + ANSWER_HEADING.length).trim();
}
