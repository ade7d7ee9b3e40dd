import { posix } from "node:path";
import { plainTask, type SourceIdentity, type Task } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { firstWords } from "./first-words.ts";
import { NO_DEMANDS } from "./no-demands.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { TaskFile } from "./task-file.ts";

/** The names of the checklist that may stand beside a prompt. */
export const PROMPT_CHECKLISTS = ["@fix_plan.md", "fix_plan.md"];

/**
 * One open-ended task: the whole prompt. The agent itself ticks the checklist beside it, so marks are neither
 * made nor taken back.
 */
export function createPromptSource(place: { root: string; path: string }): TaskSource {
  const { root, path } = place;
  // There is no mark in the file, so for the log it has no path; its label is the path, which tells two apart.
  const identity: SourceIdentity = { kind: "prompt", label: path, path: null };
  const file = new TaskFile(place);
  const checklists = PROMPT_CHECKLISTS.map((name) => new TaskFile({ root, path: beside(path, name) }));
  return {
    identity,
    files: [
      { path, isAgents: false },
      ...PROMPT_CHECKLISTS.map((name) => ({ path: beside(path, name), isAgents: true })),
    ],
    observe: async () => {
      const checklist = checklists.map((one) => one.peek()).find((bytes) => bytes !== null) ?? null;
      return { source: identity, tasks: [file.read((bytes) => promptTask(bytes, checklist, path))] };
    },
    demands: () => Promise.resolve(NO_DEMANDS),
    mark: () => Promise.resolve(),
    markedIn: (file) => file,
    takeBackMarks: async () => {
      file.putBack();
      return [];
    },
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
    title: firstWords(prompt, posix.basename(path)),
    description,
    criteria: items
      .filter((item) => !item.done)
      .slice(0, CRITERIA_MAX)
      .map((item) => item.title),
    done: items.length > 0 && required.every((item) => item.done),
  });
}
