import { existsSync, readdirSync } from "node:fs";
import { basename, join, relative } from "node:path";
import type { SourceKind } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { PROMPT_CHECKLISTS } from "./prompt-source.ts";
import { scanRalphex } from "./ralphex/scan-ralphex.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { roadmapItem } from "./scan-roadmap.ts";
import { looksLikeList } from "./task-list/looks-like-list.ts";
import { TaskFile } from "./task-file.ts";

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

export interface Detected {
  readonly path: string;
  readonly kind: FileKind;
  readonly why: string;
}

/** The first file that has tasks for us. */
export function detectSource(places: Places): Detected {
  for (const found of detectSources(places)) return found;
  throw new RalphError("no-tasks", "there is nothing to do: no goal was given and no checklist was found", {
    hint: `say what you want: ralph run "make the date parser handle leap years" --check "npm test"; or write TODO.md with lines such as "- [ ] first task"`,
  });
}

/** Every file that has tasks for us, the one that is taken by itself first. */
export function* detectSources(places: Places): Generator<Detected> {
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

/** The plans with a task that is not done, by their names. */
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
