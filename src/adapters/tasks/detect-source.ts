import { existsSync } from "node:fs";
import { basename, join, relative } from "node:path";
import type { SourceKind } from "../../core/plan/task.ts";
import { RalphError } from "../../core/ralph-error.ts";
import { PROMPT_CHECKLISTS } from "./prompt-source.ts";
import { scanChecklist } from "./scan-checklist.ts";
import { roadmapItem } from "./scan-roadmap.ts";
import { TaskFile } from "./task-file.ts";

export type FileKind = Exclude<SourceKind, "goal" | "plugin">;

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
  "@fix_plan.md",
  "fix_plan.md",
  "tasks.md",
  "TODO.md",
  "PRD.md",
  "prd.md",
  "PROMPT.md",
];

export interface Detected {
  readonly path: string;
  readonly kind: FileKind;
  readonly why: string;
}

/** The first file that has tasks for us. */
export function detectSource(places: Places): Detected {
  for (const folder of [places.ralphDir, places.root]) {
    for (const name of KNOWN_NAMES) {
      const found = candidate(places, folder, name);
      if (found !== null) return found;
    }
  }
  throw new RalphError("no-tasks", "there is nothing to do: no goal was given and no checklist was found", {
    hint: `say what you want: ralph run "make the date parser handle leap years" --check "npm test"; or write TODO.md with lines such as "- [ ] first task"`,
  });
}

/** What a file is, by its name and what is in it, and how that shows. */
export function kindOf(path: string, file: Buffer): { readonly kind: FileKind; readonly why: string } {
  const name = basename(path);
  if (/\.json$/i.test(name)) return { kind: "tasks-json", why: "a list of stories" };
  if (/^prompt.*\.md$/i.test(name)) return { kind: "prompt", why: "one open-ended prompt" };
  const items = scanChecklist(file).map(roadmapItem);
  const isNamedSo = /roadmap/i.test(name);
  if (isNamedSo && items.some((item) => item.hasWrittenId))
    return { kind: "roadmap", why: "a roadmap by its name, with ids in front of its tasks" };
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

function hasTasks(kind: FileKind, file: Buffer): boolean {
  if (kind === "prompt") return true;
  return kind === "tasks-json" ? file.includes('"userStories"') : scanChecklist(file).length > 0;
}
