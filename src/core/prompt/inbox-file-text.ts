import type { Event, InboxFileKind } from "../events.ts";
import type { TaskId } from "../plan.ts";
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

/** What stands below the answer heading, or without one below the line; empty when there is nothing yet. */
export function readAnswer(text: string): string {
  const at = text.lastIndexOf(`\n${ANSWER_HEADING}`);
  if (at >= 0) return text.slice(at + 1 + ANSWER_HEADING.length).trim();
  return (SEPARATED.exec(text)?.[2] ?? "").trim();
}

const SEPARATED = /^([^]*?)\n---[ \t]*\r?\n([^]*)$/;
const TEXT_MAX = 2_000;

/** An inbox file that was there before the first run. */
export interface EarlierFile {
  readonly kind: InboxFileKind;
  readonly file: string;
  readonly text: string;
  readonly sha256: string;
}

/**
 * The facts in which the files of another program are taken over. Each is about the open task that it names, else about
 * the first that no other file is about.
 */
export function takenOver(files: readonly EarlierFile[], open: readonly TaskId[]): readonly Event[] {
  const taken = new Set<TaskId>();
  return files.flatMap(({ kind, file, text, sha256 }): readonly Event[] => {
    const free = open.filter((id) => !taken.has(id));
    const task = free.find((id) => namesTask(text, id)) ?? free[0];
    const says = (kind === "blocked" ? earlierReason(text) : earlierQuestion(text)).slice(0, TEXT_MAX);
    if (task === undefined || says === "") return [];
    taken.add(task);
    const about = { run: "earlier", task, iteration: 0 } as const;
    const published = { type: "letter.published", task, kind, file } as const;
    if (kind === "blocked")
      return [
        { ...about, type: "task.blocked", reason: says },
        { ...published, sha256 },
      ];
    const asked = { options: [], default: null, deadlineAt: null } as const;
    // As if it had been empty: an answer that is there is found by the first look.
    return [
      { ...about, type: "question.asked", question: says, ...asked },
      { ...published, sha256: "" },
    ];
  });
}

function namesTask(text: string, id: TaskId): boolean {
  return text.split(/[\s,;:()"'`]+/).includes(id);
}

function earlierReason(text: string): string {
  const written = /^Reason:(.*)$/m.exec(text)?.[1] ?? text;
  return written.replaceAll(/\s+/g, " ").trim();
}

function earlierQuestion(text: string): string {
  const above = SEPARATED.exec(text)?.[1] ?? text;
  return above.replace(/^\s*## Question.*$/m, "").trim();
}
