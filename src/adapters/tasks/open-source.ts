import { existsSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import type { SourceIdentity } from "../../core/plan/task.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { beadsFormat } from "./beads/beads-format.ts";
import { createChecklistSource } from "./checklist-source.ts";
import { detectSource, kindOf, type FileKind, type Places } from "./detect-source.ts";
import { createFormatSource } from "./format-source.ts";
import { githubPlace, type GithubPlace } from "./github/github-place.ts";
import { createGithubSource } from "./github/github-source.ts";
import { createGoalSource } from "./goal-source.ts";
import { createPromptSource } from "./prompt-source.ts";
import { RALPHEX } from "./ralphex/ralphex-format.ts";
import { createRoadmapSource } from "./roadmap-source.ts";
import type { RoadmapDefaults } from "./roadmap-task.ts";
import { TASK_LIST } from "./task-list/task-list-format.ts";
import { TaskFile } from "./task-file.ts";
import { createTasksJsonSource } from "./tasks-json-source.ts";

/** What the operator asked for: words, a file, or whatever is there. */
export type SourceRequest =
  | { readonly is: "goal"; readonly goal: string }
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

export interface SourcePlaces extends Places {
  /** Where a copy of the file is kept while an agent works. */
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
    case "goal":
      return { source: createGoalSource(request.goal), why: "the tasks: one goal, given in words" };
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

/** What a file is, to say it to people. */
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
  switch (kind) {
    case "checklist":
      return createChecklistSource({ root, path });
    case "roadmap":
      return createRoadmapSource({ root, path }, defaults);
    case "tasks-json":
      return createTasksJsonSource({ root, path, keepIn: stateFolder });
    case "prompt":
      return createPromptSource({ root, path });
    case "task-list":
      return createFormatSource({ root, path }, TASK_LIST);
    case "beads":
      return createFormatSource({ root, path }, beadsFormat());
    case "ralphex":
      return createFormatSource({ root, path }, RALPHEX);
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
