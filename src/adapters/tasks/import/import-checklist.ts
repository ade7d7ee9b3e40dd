import { few } from "../../../core/few.ts";
import { RalphError } from "../../../core/ralph-error.ts";
import { ownTitle } from "../first-words.ts";
import { scanChecklist } from "../scan-checklist.ts";

export interface ImportedTasks {
  /** A whole `tasks.json`. */
  readonly json: string;
  readonly count: number;
  /** What a `tasks.json` cannot say. */
  readonly losses: readonly string[];
}

/** The boxes of a Markdown file as stories, in its order; `project` stands in for a missing heading. */
export function importChecklist(file: Buffer, name: string, project: string): ImportedTasks {
  const items = scanChecklist(file);
  if (items.length === 0) {
    throw new RalphError("no-tasks", `${name} has no checklist`, {
      hint: `write its tasks as lines such as "- [ ] first task", with what must be true of each below it; of requirements in prose the agent makes tasks: ralph plan`,
    });
  }
  const idAt = (at: number): string => `US-${String(at + 1).padStart(3, "0")}`;
  const optional = items.flatMap(({ task }, at) => (task.optional ? [idAt(at)] : []));
  const userStories = items.map(({ task }, at) => ({
    id: idAt(at),
    title: task.title,
    description: task.description,
    acceptanceCriteria: task.criteria,
    priority: at + 1,
    passes: task.done,
  }));
  const plan = {
    project: ownTitle(file) ?? project,
    branchName: null,
    description: "",
    verifyCommands: [],
    userStories,
  };
  return {
    json: `${JSON.stringify(plan, null, 2)}\n`,
    count: items.length,
    losses: optional.length === 0 ? [] : [`the heading "Optional" of ${few(optional)}`],
  };
}
