import { basename } from "node:path";
import { RalphError } from "../../../core/ralph-error.ts";
import { beadsFormat } from "../beads/beads-format.ts";
import { checkedTasks } from "../checked-tasks.ts";
import type { FileKind } from "../detect-source.ts";
import { ownTitle } from "../first-words.ts";
import { RALPHEX } from "../ralphex/ralphex-format.ts";
import { roadmapTasks } from "../roadmap-source.ts";
import { scanTasksJson } from "../scan-tasks-json.ts";
import type { TaskFormat } from "../task-format.ts";
import { loadTaskListFormat, TASK_LIST } from "../task-list/task-list-format.ts";
import { importChecklist, type ImportedTasks } from "./import-checklist.ts";
import { importedStories } from "./imported-stories.ts";
import type { Document } from "./read-document.ts";

/** A whole `tasks.json` out of a document of any kind that we can read; `project` names one that has no title. */
export async function importDocument(
  { bytes, shown }: Document,
  kind: FileKind,
  project: string,
): Promise<ImportedTasks> {
  switch (kind) {
    case "checklist":
    case "prompt":
      return importChecklist(bytes, basename(shown), project);
    case "roadmap": {
      const tasks = roadmapTasks(bytes, shown);
      if (tasks.length === 0) throw noTasks(shown);
      return importedStories(ownTitle(bytes) ?? project, tasks, []);
    }
    case "tasks-json": {
      const { stories } = scanTasksJson(bytes, shown);
      checkedTasks(stories, shown);
      return { json: bytes.toString("utf8"), count: stories.length, losses: [] };
    }
    case "task-list":
      await loadTaskListFormat();
      return fromFormat(TASK_LIST, bytes, shown, project);
    case "beads":
      return fromFormat(beadsFormat(), bytes, shown, project);
    case "ralphex":
      return fromFormat(RALPHEX, bytes, shown, ownTitle(bytes) ?? project);
  }
}

function fromFormat(format: TaskFormat, bytes: Buffer, shown: string, project: string): ImportedTasks {
  const { tasks, demands } = format.read(bytes, shown);
  if (tasks.length === 0) throw noTasks(shown);
  return importedStories(project, tasks, demands.checks);
}

function noTasks(shown: string): RalphError {
  return new RalphError("no-tasks", `${shown} has no tasks`);
}
