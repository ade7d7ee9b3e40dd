import type { Question, TaskState } from "../state.ts";
import { isoTime, type Instant } from "../time.ts";

const ANSWER_HEADING = "## Answer";

/** `decide.txt`: the operator writes below the last heading. */
export function decideFileText(task: TaskState): string {
  const { question } = task;
  if (question === null) return "";
  const choice = [
    ...(question.options.length === 0 ? [] : [`Options: ${question.options.join(" | ")}`]),
    ...untilWhen(question),
  ];
  const details = choice.length === 0 ? "" : `\n${choice.join("\n")}\n`;
  return `## Question (from iteration ${question.iteration}, ${isoTime(question.askedAt)})\n${question.text}\n${details}\n---\n${ANSWER_HEADING}\n`;
}

function untilWhen({ default: answer, deadlineAt }: Question): readonly string[] {
  const until = deadlineAt === null ? null : isoTime(deadlineAt);
  if (answer === null) return until === null ? [] : [`Answer wanted until: ${until}`];
  return [until === null ? `Default: ${answer}` : `Default: ${answer} (taken at ${until} without an answer)`];
}

export function blockedFileText(task: TaskState, iteration: number, at: Instant): string {
  return `Task: ${task.id}\nIteration: ${iteration}\nTime: ${isoTime(at)}\nReason: ${task.blockedReason ?? ""}\n\nWhen it is settled, delete this file and start ralph again.\n`;
}

/** What stands below the answer heading; empty when there is nothing yet. */
export function readAnswer(text: string): string {
  const at = text.lastIndexOf(`\n${ANSWER_HEADING}`);
  return at < 0 ? "" : text.slice(at + 1 + ANSWER_HEADING.length).trim();
}
