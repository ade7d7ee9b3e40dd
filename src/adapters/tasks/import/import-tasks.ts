import { few } from "../../../core/text.ts";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Task, TaskId } from "../../../core/plan/task.ts";
import { RalphError } from "../../../core/ralph-error.ts";
import { writeFileAtomically } from "../../system/atomic-file.ts";
import { beadsFormat } from "../beads/beads-format.ts";
import { type FileKind, KIND_WORDS, kindOf } from "../open-source.ts";
import type { GithubPlace } from "../github/gh.ts";
import { createGithubSource } from "../github/github-source.ts";
import { RALPHEX } from "../ralphex/ralphex-format.ts";
import { roadmapTasks } from "../roadmap-source.ts";
import { scanChecklist } from "../scan-checklist.ts";
import { ownTitle } from "../scan-lines.ts";
import { isJson, scanTasksJson } from "../tasks-json-source.ts";
import { checkedTasks, type TaskFormat } from "../task-format.ts";
import { loadTaskListFormat, looksLikeList, TASK_LIST } from "../task-list/task-list-format.ts";

interface ImportPlaces {
  readonly root: string;
  readonly ralphDir: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export type ImportRequest =
  | { readonly is: "file"; readonly path: string; readonly from: string | undefined }
  | { readonly is: "github"; readonly place: GithubPlace };

/** A `tasks.json` that was made, and is not written yet. */
interface Imported extends ImportedTasks {
  readonly path: string;
  readonly isThere: boolean;
  /** What it was read as, in words. */
  readonly as: string;
  /** What `--source` would take to work on the original instead. */
  readonly source: string;
}

export async function importTasks(request: ImportRequest, places: ImportPlaces): Promise<Imported> {
  const path = join(places.ralphDir, "tasks.json");
  const target = { path, isThere: existsSync(path) };
  if (request.is === "github") {
    const source = createGithubSource(request.place, places);
    const { tasks } = await source.observe();
    const project = request.place.repo ?? basename(places.root);
    return {
      ...target,
      ...importedStories(project, tasks, []),
      as: "GitHub issues",
      source: source.identity.label,
    };
  }
  const document = readDocument(resolve(places.cwd, request.path), request.path);
  if (document.path === path)
    throw new RalphError("usage", `${document.shown} is the tasks.json that an import would write`, {
      hint: "it is worked on as it is: ralph run",
    });
  const kind = importKind(document.path, document.bytes, request.from);
  const imported = await importDocument(document, kind, basename(places.root));
  return { ...target, ...imported, as: KIND_WORDS[kind], source: document.shown };
}

/** Puts it in its place, whose folder is ready; what is there stays, unless it is forced. */
export function writeImported({ path, isThere, json }: Imported, force: boolean): void {
  if (isThere && !force)
    throw new RalphError("usage", `${path} is there already`, {
      hint: "replace it with --force, or look first: --dry-run",
    });
  writeFileAtomically(path, json);
}

/** A whole `tasks.json` out of a document of any kind that we can read; `project` names one that has no title. */
async function importDocument(
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

/** A file to import, as it was read; of a folder of another program, the file that it keeps its tasks in. */
interface Document {
  /** As it was named, with what was found below it. */
  readonly shown: string;
  readonly path: string;
  readonly bytes: Buffer;
}

const INSIDE = [
  "issues.jsonl",
  "beads.jsonl",
  "tasks/tasks.json",
  "tasks.json",
  "prd.json",
  "@fix_plan.md",
  "fix_plan.md",
];

const WANTED = "name a file with tasks, or the folder of a program that keeps them; a path counts from here";

function readDocument(path: string, shown: string): Document {
  if (shown.trim() === "") throw new RalphError("usage", "the file to import has no name", { hint: WANTED });
  try {
    const stats = statSync(path);
    if (stats.isFile()) return { shown, path, bytes: readFileSync(path) };
    if (!stats.isDirectory())
      throw new RalphError("no-tasks", `${shown} is not a file`, {
        hint: "write what comes out of it into a file, and name that",
      });
    const name = INSIDE.find((inside) => existsSync(join(path, inside)));
    if (name === undefined)
      throw new RalphError("no-tasks", `${shown} is a folder, and no list of tasks that is known is in it`, {
        hint: "name the file",
      });
    return readDocument(join(path, name), join(shown, name));
  } catch (error) {
    if (error instanceof RalphError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new RalphError("no-tasks", `${shown} does not exist`, { hint: WANTED, cause: error });
    throw new RalphError("no-tasks", `${shown} cannot be read (${code})`, {
      hint: "make it readable for this user",
      cause: error,
    });
  }
}

/** What `--from` may say, and what it means. */
export const IMPORT_FORMATS = {
  checklist: "checklist",
  roadmap: "roadmap",
  "prd.json": "tasks-json",
  yaml: "task-list",
  taskmaster: "task-list",
  beads: "beads",
  ralphex: "ralphex",
} as const satisfies Record<string, FileKind>;

/** What a document is: as was said, else by its name, else by what is in it. */
function importKind(path: string, file: Buffer, from: string | undefined): FileKind {
  if (from !== undefined) return named(from);
  if (/\.(?:md|markdown|json|jsonl|ya?ml)$/i.test(path)) {
    const { kind } = kindOf(path, file);
    return kind === "prompt" ? "checklist" : kind;
  }
  const text = file.toString("latin1").trimStart();
  if (text.startsWith("{")) {
    if (isJson(file))
      return looksLikeList(file) && !file.includes('"userStories"') ? "task-list" : "tasks-json";
    return "beads";
  }
  return looksLikeList(file) ? "task-list" : kindOf(`${basename(path)}.md`, file).kind;
}

function named(from: string): FileKind {
  const found = Object.entries(IMPORT_FORMATS).find(([name]) => name === from);
  if (found !== undefined) return found[1];
  throw new RalphError(
    "usage",
    `--from is "${from}"; expected one of ${Object.keys(IMPORT_FORMATS).join(", ")}`,
  );
}

/** The tasks of another list as stories, under the same ids; what a story cannot say is named. */
function importedStories(project: string, tasks: readonly Task[], checks: readonly string[]): ImportedTasks {
  const ids = new Set(tasks.map(({ id }) => id));
  const userStories = tasks.map((task) => ({
    id: task.id,
    title: task.title,
    description: task.description,
    acceptanceCriteria: [...task.criteria, ...(task.success === null ? [] : [task.success])],
    priority: task.priority,
    dependsOn: task.dependsOn.filter((id) => ids.has(id)),
    ...(task.labels && { labels: task.labels }),
    ...(task.changes && { changes: task.changes }),
    passes: task.done,
  }));
  const plan = { project, branchName: null, description: "", verifyCommands: checks, userStories };
  return {
    json: `${JSON.stringify(plan, null, 2)}\n`,
    count: tasks.length,
    losses: LOSSES.flatMap(([what, isLost]) => {
      const losing = tasks.filter((task) => isLost(task, ids)).map(({ id }) => id);
      return losing.length === 0 ? [] : [`${what} of ${few(losing)}`];
    }),
  };
}

const LOSSES: readonly (readonly [
  what: string,
  isLost: (task: Task, listed: ReadonlySet<TaskId>) => boolean,
])[] = [
  [
    "what is waited for outside of the list",
    ({ dependsOn }, listed) => !dependsOn.every((id) => listed.has(id)),
  ],
  ["the agent", ({ agent }) => agent !== null],
  ["the timeout", ({ timeoutMs }) => timeoutMs !== null],
  ["the iteration limit", ({ maxIterations }) => maxIterations !== null],
  ["the completion promise", ({ promise }) => promise !== null],
  ["the single attempt", ({ loops }) => !loops],
  [`the heading "Optional"`, ({ optional }) => optional],
];

interface ImportedTasks {
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
