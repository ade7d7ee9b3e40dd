import type { CommitRequest } from "../../engine/ports.ts";

const SUBJECT_LENGTH_MAX = 72;

/** The trailers tell which iteration a commit belongs to. */
export function commitMessage({ task, run, iteration }: CommitRequest, what: string): string {
  const subject = `ralph(${oneLine(task)}): ${oneLine(what)}`;
  const short = Array.from(subject).length > SUBJECT_LENGTH_MAX ? cut(subject) : subject;
  return `${short}\n\nRalph-Run: ${oneLine(run)}\nRalph-Iteration: ${iteration}\n`;
}

function cut(subject: string): string {
  return `${Array.from(subject)
    .slice(0, SUBJECT_LENGTH_MAX - 1)
    .join("")
    .trimEnd()}…`;
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}
