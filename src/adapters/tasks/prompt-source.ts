import { createHash } from "node:crypto";
import { posix } from "node:path";
import { plainTask, type SourceIdentity, type Task } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { documentTitle, shortened } from "./scan-lines.ts";
import { guardList, type ListPlace } from "./operators-list.ts";
import { meaningOf, NO_FILE, TaskFile } from "./task-format.ts";

export const PROMPT_CHECKLISTS = ["@fix_plan.md", "fix_plan.md"];

/** One open-ended task: the whole prompt. The agent ticks the checklist beside it, so we mark nothing. */
export function createPromptSource(place: ListPlace): TaskSource {
  const { root, path } = place;
  // There is no mark in the file, so for the log it has no path; its label is the path, which tells two apart.
  const identity: SourceIdentity = { kind: "prompt", label: path, path: null };
  const file = new TaskFile(place);
  const checklists = PROMPT_CHECKLISTS.map((name) => new TaskFile({ root, path: beside(path, name) }));
  return {
    ...NO_FILE,
    identity,
    files: [
      { path, isAgents: false },
      ...PROMPT_CHECKLISTS.map((name) => ({ path: beside(path, name), isAgents: true })),
    ],
    observe: async () => {
      const checklist = checklists.map((one) => one.peek()).find((bytes) => bytes !== null) ?? null;
      return { source: identity, tasks: [promptTask(file.read(), checklist, path)] };
    },
    mark: async () => {},
    list: guardList(place, {
      compare: (before, after) =>
        meaningOf(before) === meaningOf(after) ? [] : [{ is: "other", what: `changed ${path}` }],
    }),
  };
}

function beside(path: string, name: string): string {
  return posix.join(posix.dirname(path), name);
}

const CRITERIA_MAX = 50;

function promptTask(prompt: Buffer, checklist: Buffer | null, path: string): Task {
  const description = prompt.toString("utf8").replace(/^\uFEFF/, "");
  if (description.trim() === "")
    throw new RalphError("no-tasks", `${path} is empty; say there what is to be done`);
  const items = checklist === null ? [] : scanChecklist(checklist).map((item) => item.task);
  const required = items.some((item) => !item.optional) ? items.filter((item) => !item.optional) : items;
  return plainTask({
    id: "prompt",
    title: documentTitle(prompt) ?? posix.basename(path),
    description,
    criteria: items
      .filter((item) => !item.done)
      .slice(0, CRITERIA_MAX)
      .map((item) => item.title),
    done: items.length > 0 && required.every((item) => item.done),
  });
}

/** One task from the words that the operator gave. There is no file, so there is nothing to mark. */
export function createGoalSource(goal: string, more: Pick<Task, "changes"> = {}): TaskSource {
  const title = shortened(goal.trim().split(/\r?\n/)[0] ?? "", TITLE_LENGTH_MAX);
  const id = `goal-${createHash("sha256").update(goal).digest("hex").slice(0, 6)}`;
  const task = plainTask({ id, title, description: goal, ...more });
  const identity: SourceIdentity = { kind: "goal", label: title, path: null };
  return {
    ...NO_FILE,
    identity,
    observe: async () => ({ source: identity, tasks: [task] }),
    mark: async () => {},
  };
}

const TITLE_LENGTH_MAX = 80;
