import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { SourceIdentity, SourceKind } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { beadsFormat } from "./beads/beads-format.ts";
import { githubPlace, type GithubPlace } from "./github/gh.ts";
import { createGithubSource } from "./github/github-source.ts";
import { createGoalSource, createPromptSource, PROMPT_CHECKLISTS } from "./prompt-source.ts";
import { RALPHEX, scanRalphex } from "./ralphex/ralphex-format.ts";
import { createRoadmapSource, type RoadmapDefaults, roadmapItem } from "./roadmap-source.ts";
import { createChecklistSource, scanChecklist } from "./scan-checklist.ts";
import { createFormatSource, TaskFile } from "./task-format.ts";
import { looksLikeList, TASK_LIST } from "./task-list/task-list-format.ts";
import { createTasksJsonSource } from "./tasks-json-source.ts";

export type SourceRequest =
  | { readonly is: "goal"; readonly goal: string; readonly changes?: "none" }
  /** `base` is the folder a relative path counts from; without a kind the file shows what it is. */
  | {
      readonly is: "file";
      readonly path: string;
      readonly base: string;
      readonly kind?: FileKind | undefined;
    }
  | { readonly is: "github"; readonly place: GithubPlace; readonly env: NodeJS.ProcessEnv }
  | { readonly is: "auto" }
  | { readonly is: "plugin"; readonly name: string };

interface SourcePlaces extends Places {
  /** Where the file is kept while an agent works. */
  readonly stateFolder?: string;
}

export interface OpenedSource {
  readonly source: TaskSource;
  /** What was chosen and for what reason, as a sentence for the operator. */
  readonly why: string;
}

export function openSource(
  request: SourceRequest,
  places: SourcePlaces,
  defaults: RoadmapDefaults = {},
): OpenedSource {
  switch (request.is) {
    case "plugin":
      throw new RalphError("no-tasks", "the tasks come from a plugin, and this command loads none", {
        hint: "what the last run has seen of them: ralph status",
      });
    case "goal": {
      const { goal, changes } = request;
      return {
        source: createGoalSource(goal, { ...(changes && { changes }) }),
        why: "the tasks: one goal, given in words",
      };
    }
    case "file": {
      const path = inRepository(places, findFile(request.path, request.base, places));
      const { kind, why } =
        request.kind === undefined
          ? kindOf(path, new TaskFile({ root: places.root, path }).peek() ?? Buffer.alloc(0))
          : { kind: request.kind, why: `read as ${KIND_WORDS[request.kind]}` };
      return {
        source: sourceOf(kind, places, path, defaults),
        why: `the tasks: ${path}, as asked for; ${why}`,
      };
    }
    case "github": {
      const { place, env } = request;
      const source = createGithubSource(place, { root: places.root, env });
      const where = place.repo === null ? "" : ` of ${place.repo}`;
      return { source, why: `the tasks: the GitHub issues${where} with the label "${place.label}"` };
    }
    case "auto": {
      const { path: file, kind, why } = detectSource(places);
      const path = inRepository(places, file);
      const source = sourceOf(kind, places, path, defaults);
      return { source, why: `the tasks: ${path}, the first file found; ${why}` };
    }
  }
}

/** One that is known by now, whatever is in the folder. */
export function sourceNamed(
  { kind, label, path }: SourceIdentity,
  places: SourcePlaces,
  github: { readonly usual: GithubPlace; readonly env: NodeJS.ProcessEnv },
): TaskSource {
  const place = kind === "github" ? githubPlace(label, github.usual) : null;
  if (place !== null) return createGithubSource(place, { root: places.root, env: github.env });
  const isFile = kind !== "goal" && kind !== "github" && kind !== "plugin" && path !== null;
  return isFile ? sourceOf(kind, places, path, {}) : createGoalSource(label);
}

export const KIND_WORDS: Readonly<Record<FileKind, string>> = {
  checklist: "a checklist",
  roadmap: "a roadmap",
  "tasks-json": "a list of stories",
  prompt: "one open-ended prompt",
  "task-list": "a list of tasks",
  beads: "the issues of Beads",
  ralphex: "a plan of ralphex",
};

function sourceOf(
  kind: FileKind,
  { root, stateFolder }: SourcePlaces,
  path: string,
  defaults: RoadmapDefaults,
): TaskSource {
  const place = { root, path, keepIn: stateFolder };
  switch (kind) {
    case "checklist":
      return createChecklistSource(place);
    case "roadmap":
      return createRoadmapSource(place, defaults);
    case "tasks-json":
      return createTasksJsonSource(place);
    case "prompt":
      return createPromptSource(place);
    case "task-list":
      return createFormatSource(place, TASK_LIST);
    case "beads":
      return createFormatSource(place, beadsFormat());
    case "ralphex":
      return createFormatSource(place, RALPHEX);
  }
}

function findFile(path: string, base: string, { ralphDir }: Places): string {
  const candidates = [resolve(base, path), ...(path.includes("/") ? [] : [join(ralphDir, path)])];
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found !== undefined && !statSync(found).isDirectory()) return found;
  if (found !== undefined)
    throw new RalphError("no-tasks", `the task source ${path} is a folder`, {
      hint: "name the file in it that has the tasks; the list of another program is taken over by ralph import",
    });
  throw new RalphError("no-tasks", `the task source ${path} does not exist`, {
    hint: `give another with --source, or a goal: ralph run "what you want" --check "npm test"`,
  });
}

function inRepository({ root }: Places, file: string): string {
  const path = relative(root, file);
  if (path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path)) return path;
  throw new RalphError("usage", `the task source ${file} is outside the repository ${root}`, {
    hint: "move it into the repository",
  });
}

/** The task source that a run would find by itself; null when there is none. */
export function detectedSource(places: Places): SourceIdentity | null {
  try {
    return openSource({ is: "auto" }, places).source.identity;
  } catch (error) {
    if (error instanceof RalphError && error.code === "no-tasks") return null;
    throw error;
  }
}

interface DetectedList {
  readonly path: string;
  readonly kind: FileKind;
  readonly is: string;
}

/** All of them, the one that a run would take by itself first. */
export function detectedLists(places: Places): readonly DetectedList[] {
  return [...detectSources(places)].map(({ path, kind }) => ({
    path: relative(places.root, path),
    kind,
    is: KIND_WORDS[kind],
  }));
}

export type FileKind = Exclude<SourceKind, "goal" | "github" | "plugin">;

export interface Places {
  readonly root: string;
  readonly ralphDir: string;
}

/** Looked for in this order, first under `.ralph/`, then at the root. */
const KNOWN_NAMES = [
  "roadmap.md",
  "ROADMAP.md",
  "specs/roadmap.md",
  "tasks.json",
  "prd.json",
  "tasks.yaml",
  "tasks.yml",
  "@fix_plan.md",
  "fix_plan.md",
  "tasks.md",
  "TODO.md",
  "PRD.md",
  "prd.md",
  "PROMPT.md",
  ".taskmaster/tasks/tasks.json",
  ".beads/issues.jsonl",
  ".beads/beads.jsonl",
];

/** Where ralphex has its plans; those that are done it moves into a folder below. */
const PLANS = "docs/plans";

interface Detected {
  readonly path: string;
  readonly kind: FileKind;
  readonly why: string;
}

function detectSource(places: Places): Detected {
  for (const found of detectSources(places)) return found;
  throw new RalphError("no-tasks", "there is nothing to do: no goal was given and no checklist was found", {
    hint: `say what you want: ralph run "make the date parser handle leap years" --check "npm test"; or write TODO.md with lines such as "- [ ] first task"`,
  });
}

/** Every file that has tasks for us, the one that is taken by itself first. */
function* detectSources(places: Places): Generator<Detected> {
  const seen = new Set<string>();
  for (const folder of [places.ralphDir, places.root]) {
    for (const name of KNOWN_NAMES) {
      const found = candidate(places, folder, name);
      if (found === null || seen.has(found.path)) continue;
      seen.add(found.path);
      yield found;
    }
  }
  yield* openPlans(places);
}

/** What a file is, by its name and what is in it, and how that shows. */
export function kindOf(path: string, file: Buffer): { readonly kind: FileKind; readonly why: string } {
  const name = basename(path);
  if (/\.jsonl$/i.test(name)) return { kind: "beads", why: "the issues of Beads" };
  if (/\.ya?ml$/i.test(name)) return { kind: "task-list", why: "a list of tasks" };
  if (/\.json$/i.test(name))
    return !file.includes('"userStories"') && looksLikeList(file)
      ? { kind: "task-list", why: "a list of tasks" }
      : { kind: "tasks-json", why: "a list of stories" };
  if (/^prompt.*\.md$/i.test(name)) return { kind: "prompt", why: "one open-ended prompt" };
  const items = scanChecklist(file).map(roadmapItem);
  const isNamedSo = /roadmap/i.test(name);
  if (isNamedSo && items.some((item) => item.hasWrittenId))
    return { kind: "roadmap", why: "a roadmap by its name, with ids in front of its tasks" };
  if (scanRalphex(file).tasks.length > 0)
    return { kind: "ralphex", why: "a plan of ralphex: tasks under headings, with boxes below" };
  const haveIds = items.every((item) => item.hasWrittenId);
  if (haveIds && items.some((item) => item.properties.length > 0))
    return { kind: "roadmap", why: "a roadmap: all its tasks have ids, and some have properties" };
  return { kind: "checklist", why: "a checklist" };
}

function candidate({ root }: Places, folder: string, name: string): Detected | null {
  const path = join(folder, name);
  const file = existsSync(path) ? new TaskFile({ root, path: relative(root, path) }).peek() : null;
  if (file === null) return null;
  const prompt = join(folder, "PROMPT.md");
  if (PROMPT_CHECKLISTS.includes(name) && existsSync(prompt))
    return { path: prompt, kind: "prompt", why: `one open-ended prompt, with ${name} as its checklist` };
  const { kind, why } = kindOf(path, file);
  return hasTasks(kind, file) ? { path, kind, why } : null;
}

function* openPlans({ root }: Places): Generator<Detected> {
  const folder = join(root, PLANS);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")) : [];
  for (const name of names.toSorted()) {
    const path = join(folder, name);
    const file = new TaskFile({ root, path: relative(root, path) }).peek();
    if (file === null || scanRalphex(file).tasks.every(({ task }) => task.done)) continue;
    yield { path, kind: "ralphex", why: "a plan of ralphex that is not done" };
  }
}

function hasTasks(kind: FileKind, file: Buffer): boolean {
  switch (kind) {
    case "prompt":
      return true;
    case "tasks-json":
      return file.includes('"userStories"');
    case "task-list":
      return looksLikeList(file);
    case "beads":
      return file.includes('"id"');
    case "checklist":
    case "roadmap":
    case "ralphex":
      return scanChecklist(file).length > 0;
  }
}
