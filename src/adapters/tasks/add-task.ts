import { posix } from "node:path";
import type { SourceIdentity, TaskId } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { addBox } from "./add-box.ts";
import { addStory } from "./add-story.ts";
import { nextId } from "./next-id.ts";
import { PROMPT_CHECKLISTS } from "./prompt-source.ts";
import { scanRalphex } from "./ralphex/scan-ralphex.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { scanRoadmap } from "./scan-roadmap.ts";
import { findStories } from "./scan-tasks-json.ts";
import { TaskFile } from "./task-file.ts";

export interface AddedTask {
  readonly id: TaskId;
  /** The file it was written into, relative to the root. */
  readonly path: string;
}

/** Writes a new task into the source's file, in the manner of those that are there. */
export function addTask(root: string, source: SourceIdentity, words: string): AddedTask {
  const title = titleOf(words);
  const { kind } = source;
  const elsewhere = ELSEWHERE[kind];
  if (elsewhere !== undefined)
    throw new RalphError("usage", `${source.path ?? source.label} belongs to another program`, {
      hint: elsewhere(() => new TaskFile({ root, path: fileFor(root, source) }).peek()),
    });
  const file = new TaskFile({ root, path: fileFor(root, source) });
  const before = new Set(file.read((bytes) => idsIn(kind, bytes, file.path)));
  let added: TaskId | undefined;
  file.edit((bytes) => {
    const longer = withTask(kind, bytes, title, file.path);
    added = idsIn(kind, longer, file.path).find((id) => !before.has(id));
    return added === undefined ? null : longer;
  });
  if (added !== undefined) return { id: added, path: file.path };
  throw new RalphError("bad-tasks", `${file.path}: there is no place for another task`, {
    hint: "look for code or a comment that is never closed",
  });
}

/** On one line. */
export function titleOf(words: string): string {
  const title = words.replaceAll(/\s+/g, " ").trim();
  if (title !== "") return title;
  throw new RalphError("usage", "the new task has no title", {
    hint: 'say what is to be done: ralph tasks add "what is to be done"',
  });
}

/** How a task is added to a list that is not ours to extend. */
const ELSEWHERE: Partial<Record<SourceIdentity["kind"], (file: () => Buffer | null) => string>> = {
  "task-list": () => "add it there by hand, or with the program that made the list",
  beads: () => 'add it there: bd create "what is to be done"',
  ralphex: (file) => {
    const { nextNumber } = scanRalphex(file() ?? Buffer.alloc(0));
    return `add it there: a heading "### Task ${nextNumber}: what is to be done", with "- [ ]" boxes below`;
  },
  github: () => 'open an issue: gh issue create --title "what is to be done" --label LABEL',
};

function fileFor(root: string, { kind, path, label }: SourceIdentity): string {
  if (path !== null) return path;
  if (kind !== "prompt") throw new RalphError("usage", `${label} has no file to which a task could be added`);
  const beside = PROMPT_CHECKLISTS.map((name) => posix.join(posix.dirname(label), name));
  const found = beside.find((one) => new TaskFile({ root, path: one }).peek() !== null);
  if (found !== undefined) return found;
  throw new RalphError("usage", `${label} has no list of tasks beside it`, {
    hint: `make one: ${beside[0]} with lines such as "- [ ] first task"`,
  });
}

function withTask(kind: SourceIdentity["kind"], file: Buffer, title: string, path: string): Buffer {
  if (kind === "tasks-json") return addStory(file, title, path);
  if (kind !== "roadmap") return addBox(file, title);
  const ids = scanRoadmap(file).flatMap((item) => (item.hasWrittenId ? [item.id] : []));
  return addBox(file, `**${nextId(ids, "task-")}**: ${title}`);
}

function idsIn(kind: SourceIdentity["kind"], file: Buffer, path: string): readonly TaskId[] {
  if (kind === "tasks-json") return findStories(file, path).map(({ id }) => id);
  if (kind === "roadmap") return scanRoadmap(file).map(({ id }) => id);
  return scanChecklist(file).map(({ task }) => task.id);
}
