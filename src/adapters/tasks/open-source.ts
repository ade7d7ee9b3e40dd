import { existsSync, statSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import type { SourceIdentity, SourceKind } from "../../core/plan.ts";
import { RalphError } from "../../core/errors.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { isOutside } from "../process/safe-path.ts";
import { CHECKLIST } from "./checklist-format.ts";
import { githubPlace, type GithubPlace } from "./gh.ts";
import { createGithubSource } from "./github-source.ts";
import type { ListPlace } from "./operators-list.ts";
import { createGoalSource, createPromptSource, PROMPT_CHECKLISTS } from "./prompt-source.ts";
import { type RoadmapDefaults, roadmapFormat, scanRoadmap } from "./roadmap-format.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { STORIES } from "./stories-format.ts";
import { createFileSource, TaskFile, type TaskFormat } from "./task-format.ts";

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
      const { is: _goal, goal, ...more } = request;
      return { source: createGoalSource(goal, more), why: "the tasks: one goal, given in words" };
    }
    case "file": {
      const path = inRepository(places, findFile(request.path, request.base, places));
      const asked = request.kind && { kind: request.kind, why: `read as ${KIND_WORDS[request.kind]}` };
      const file = new TaskFile({ root: places.root, path }).peek() ?? Buffer.alloc(0);
      const { kind, why } = asked ?? kindOf(path, file);
      const source = sourceOf(kind, places, path, defaults);
      return { source, why: `the tasks: ${path}, as asked for; ${why}` };
    }
    case "github": {
      const { place, env } = request;
      const source = createGithubSource(place, { root: places.root, env });
      const where = place.repo === null ? "" : ` of ${place.repo}`;
      return { source, why: `the tasks: the GitHub issues${where} with the label "${place.label}"` };
    }
    case "auto": {
      const [first] = detectSources(places);
      if (first === undefined)
        throw new RalphError(
          "no-tasks",
          "there is nothing to do: no goal was given and no checklist was found",
          {
            hint: `say what you want: ralph run "make the date parser handle leap years" --check "npm test"; or write TODO.md with lines such as "- [ ] first task"`,
          },
        );
      const { path, kind, why } = first;
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
  return isFileKind(kind) && path !== null ? sourceOf(kind, places, path, {}) : createGoalSource(label);
}

export const KIND_WORDS: Readonly<Record<FileKind, string>> = {
  checklist: "a checklist",
  roadmap: "a roadmap",
  "tasks-json": "a list of stories",
  prompt: "one open-ended prompt",
};

export function isFileKind(kind: SourceKind): kind is FileKind {
  return Object.hasOwn(KIND_WORDS, kind);
}

/** How a file of a kind is read and edited; a prompt is the agent's, with a checklist beside it. */
export function formatOf(kind: FileKind, defaults: RoadmapDefaults = {}): TaskFormat {
  if (kind === "roadmap") return roadmapFormat(defaults);
  return kind === "tasks-json" ? STORIES : CHECKLIST;
}

function sourceOf(
  kind: FileKind,
  { root, stateFolder }: SourcePlaces,
  path: string,
  defaults: RoadmapDefaults,
): TaskSource {
  const place: ListPlace = { root, path, keepIn: stateFolder };
  return kind === "prompt" ? createPromptSource(place) : createFileSource(place, formatOf(kind, defaults));
}

function findFile(path: string, base: string, { ralphDir }: Places): string {
  const candidates = [resolve(base, path), ...(path.includes("/") ? [] : [join(ralphDir, path)])];
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found !== undefined && !statSync(found).isDirectory()) return found;
  if (found !== undefined)
    throw new RalphError("no-tasks", `the task source ${path} is a folder`, {
      hint: "name the file in it that has the tasks",
    });
  throw new RalphError("no-tasks", `the task source ${path} does not exist`, {
    hint: `give another with --source, or a goal: ralph run "what you want" --check "npm test"`,
  });
}

function inRepository({ root }: Places, file: string): string {
  if (!isOutside(root, file)) return relative(root, file);
  throw new RalphError("usage", `the task source ${file} is outside the repository ${root}`, {
    hint: "move it into the repository",
  });
}

/** The task source that a run would find by itself; null when there is none. */
export function detectedSource(places: Places): SourceIdentity | null {
  const [first] = detectSources(places);
  return first === undefined ? null : sourceOf(first.kind, places, first.path, {}).identity;
}

/** All of them, the one that a run would take by itself first. */
export function detectedLists(places: Places) {
  return detectSources(places).map(({ path, kind }) => ({ path, kind, is: KIND_WORDS[kind] }));
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
  "ralph/tasks.json",
  "ralph/prd.json",
  "@fix_plan.md",
  "fix_plan.md",
  "tasks.md",
  "TODO.md",
  "PRD.md",
  "prd.md",
  "PROMPT.md",
];

interface Detected {
  /** Relative to the root. */
  readonly path: string;
  readonly kind: FileKind;
  readonly why: string;
}

/** Every file that has tasks for us, the one that is taken by itself first. */
function detectSources(places: Places): readonly Detected[] {
  const found = [places.ralphDir, places.root].flatMap((folder) =>
    KNOWN_NAMES.flatMap((name) => candidate(places, folder, name) ?? []),
  );
  const paths = found.map(({ path }) => path);
  return found.filter(({ path }, at) => paths.indexOf(path) === at);
}

/** What a file is, by its name and what is in it, and how that shows. */
export function kindOf(path: string, file: Buffer): { readonly kind: FileKind; readonly why: string } {
  const name = basename(path);
  if (/\.json$/i.test(name)) return { kind: "tasks-json", why: "a list of stories" };
  if (/^prompt.*\.md$/i.test(name)) return { kind: "prompt", why: "one open-ended prompt" };
  const items = scanRoadmap(file);
  const isRoadmap = items.some(({ hasWrittenId }) => hasWrittenId);
  if (isRoadmap && /roadmap/i.test(name))
    return { kind: "roadmap", why: "a roadmap by its name, with ids in front of its tasks" };
  const haveIds = items.every(({ hasWrittenId }) => hasWrittenId);
  if (haveIds && items.some(({ properties }) => properties.length > 0))
    return { kind: "roadmap", why: "a roadmap: all its tasks have ids, and some have properties" };
  return { kind: "checklist", why: "a checklist" };
}

function candidate({ root }: Places, folder: string, name: string): Detected | null {
  const path = relative(root, join(folder, name));
  const file = new TaskFile({ root, path }).peek();
  if (file === null) return null;
  const prompt = join(folder, "PROMPT.md");
  if (PROMPT_CHECKLISTS.includes(name) && existsSync(prompt))
    return {
      path: relative(root, prompt),
      kind: "prompt",
      why: `one open-ended prompt, with ${name} as its checklist`,
    };
  const { kind, why } = kindOf(path, file);
  const hasTasks =
    kind === "tasks-json"
      ? file.includes('"userStories"')
      : kind === "prompt" || scanChecklist(file).length > 0;
  return hasTasks ? { path, kind, why } : null;
}
