import { few } from "../../core/text.ts";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Task, TaskId } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import { writeFileAtomically } from "../process/atomic-file.ts";
import { formatOf, KIND_WORDS, kindOf } from "./open-source.ts";
import type { GithubPlace } from "./gh.ts";
import { createGithubSource } from "./github-source.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { documentTitle } from "./scan-lines.ts";

interface ImportPlaces {
  readonly root: string;
  readonly ralphDir: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export type ImportRequest =
  { readonly is: "file"; readonly path: string } | { readonly is: "github"; readonly place: GithubPlace };

interface ImportedTasks {
  readonly json: string;
  readonly count: number;
  /** What a `tasks.json` cannot say. */
  readonly losses: readonly string[];
}

/** Makes a `tasks.json`, and does not write it yet; `as` and `source` say in words what it was read from. */
export async function importTasks(request: ImportRequest, places: ImportPlaces) {
  const path = join(places.ralphDir, "tasks.json");
  const target = { path, isThere: existsSync(path) };
  const project = basename(places.root);
  if (request.is === "github") {
    const source = createGithubSource(request.place, places);
    const { tasks } = await source.observe();
    const imported = importStories(request.place.repo ?? project, tasks);
    return { ...target, ...imported, as: "GitHub issues", source: source.identity.label };
  }
  const shown = request.path;
  const file = resolve(places.cwd, shown);
  const bytes = readDocument(file, shown);
  if (file === path)
    throw new RalphError("usage", `${shown} is the tasks.json that an import would write`, {
      hint: "it is worked on as it is: ralph run",
    });
  const { kind } = kindOf(file, bytes);
  const as = KIND_WORDS[kind === "prompt" ? "checklist" : kind];
  return { ...target, ...importDocument(bytes, shown, project), as, source: shown };
}

/** Puts it in its place, whose folder is ready; what is there stays, unless it is forced. */
export function writeImported(
  { path, isThere, json }: Awaited<ReturnType<typeof importTasks>>,
  force: boolean,
): void {
  if (isThere && !force)
    throw new RalphError("usage", `${path} is there already`, {
      hint: "replace it with --force, or look first: --dry-run",
    });
  writeFileAtomically(path, json);
}

function readDocument(path: string, shown: string): Buffer {
  if (shown.trim() === "")
    throw new RalphError("usage", "the file to import has no name", { hint: "name a file with tasks" });
  try {
    // Reading a pipe would wait for somebody to write.
    if (statSync(path).isFile()) return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isGone = code === "ENOENT" || code === "ENOTDIR";
    throw new RalphError("no-tasks", `${shown} ${isGone ? "does not exist" : `cannot be read (${code})`}`, {
      hint: isGone ? "name a file with tasks; a path counts from here" : "make it readable for this user",
      cause: error,
    });
  }
  throw new RalphError("no-tasks", `${shown} is not a file`, { hint: "name the file that has the tasks" });
}

/** A whole `tasks.json` out of a document of any kind that we can read; `project` names one that has no title. */
export function importDocument(bytes: Buffer, shown: string, project: string): ImportedTasks {
  const { kind } = kindOf(shown, bytes);
  if (kind === "checklist" || kind === "prompt") return importChecklist(bytes, shown, project);
  const { tasks } = formatOf(kind).read(bytes, shown);
  if (kind === "tasks-json") return { json: bytes.toString("utf8"), count: tasks.length, losses: [] };
  return importStories(documentTitle(bytes) ?? project, tasks);
}

/** The boxes of a Markdown file as stories, in its order. */
function importChecklist(bytes: Buffer, shown: string, project: string): ImportedTasks {
  const tasks = scanChecklist(bytes).map(({ task }, at): Task => {
    const id = `US-${String(at + 1).padStart(3, "0")}`;
    return { ...task, id, priority: at + 1 };
  });
  if (tasks.length === 0)
    throw new RalphError("no-tasks", `${basename(shown)} has no checklist`, {
      hint: `write its tasks as lines such as "- [ ] first task", with what must be true of each below it; of requirements in prose the agent makes tasks: ralph plan`,
    });
  return importStories(documentTitle(bytes) ?? project, tasks, { areLinked: false });
}

/** Tasks as stories, under the same ids; what a story cannot say is named. */
function importStories(
  project: string,
  tasks: readonly Task[],
  { areLinked } = { areLinked: true },
): ImportedTasks {
  const ids = new Set(tasks.map(({ id }) => id));
  const userStories = tasks.map((task) => ({
    id: task.id,
    title: task.title,
    description: task.description,
    acceptanceCriteria: [...task.criteria, ...(task.success === null ? [] : [task.success])],
    priority: task.priority,
    ...(areLinked && { dependsOn: task.dependsOn.filter((id) => ids.has(id)) }),
    ...(task.labels && { labels: task.labels }),
    ...(task.changes && { changes: task.changes }),
    passes: task.done,
  }));
  const plan = { project, branchName: null, description: "", verifyCommands: [], userStories };
  return {
    json: `${JSON.stringify(plan, null, 2)}\n`,
    count: tasks.length,
    losses: LOSSES.flatMap(([what, isLost]) => {
      const losing = tasks.filter((task) => isLost(task, ids)).map(({ id }) => id);
      return losing.length === 0 ? [] : [`${what} of ${few(losing)}`];
    }),
  };
}

type Loss = readonly [what: string, isLost: (task: Task, listed: ReadonlySet<TaskId>) => boolean];

const LOSSES: readonly Loss[] = [
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
