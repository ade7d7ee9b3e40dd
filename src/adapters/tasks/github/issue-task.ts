import { plainTask, type Task, type TaskId } from "../../../core/plan/task.ts";
import { readPriority } from "../priority-words.ts";
import { scanChecklist } from "../scan-checklist.ts";
import { dependenciesIn, shownText } from "./issue-text.ts";

/** An issue as gh prints it; of a closed one we only ask for its title. */
export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body?: string | null;
  readonly labels?: readonly { readonly name: string }[];
}

const TITLE_MAX = 200;
const CRITERIA_MAX = 50;

/** Anybody may have written it, so everything in it has a limit. */
export function issueTask({ number, title, body, labels = [] }: Issue, isDone: boolean): Task {
  const text = shownText(body ?? "");
  const boxes = scanChecklist(Buffer.from(text));
  return plainTask({
    id: issueId(number),
    title: shownText(title).replaceAll(/\s+/g, " ").slice(0, TITLE_MAX) || `issue ${number}`,
    description: text,
    criteria: boxes.flatMap(({ task }) => [task.title, ...task.criteria]).slice(0, CRITERIA_MAX),
    dependsOn: dependenciesIn(text)
      .filter((other) => other !== number)
      .map(issueId),
    priority: priorityOf(labels.map(({ name }) => name)),
    done: isDone,
  });
}

export function issueId(number: number): TaskId {
  return `issue-${number}`;
}

export function issueNumber(id: TaskId): number | null {
  const digits = /^issue-(\d{1,9})$/.exec(id)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** `P1`, `priority: high`, `priority/2`; of several the first in line. */
function priorityOf(labels: readonly string[]): number | null {
  const found = labels.flatMap((label) => {
    const word = /^p(?:rio(?:rity)?)?[ \t:/_-]*(\S+)$/i.exec(label.trim())?.[1];
    const priority = word === undefined ? null : readPriority(word);
    return priority === null ? [] : [priority];
  });
  return found.length === 0 ? null : Math.min(...found);
}
