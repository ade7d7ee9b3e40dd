import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import type { TaskSource } from "../../engine/ports.ts";
import { createChecklistSource } from "./checklist-source.ts";
import { createGoalSource } from "./goal-source.ts";

/** What the operator asked for: words, a file, or whatever is there. */
export type SourceRequest =
  | { readonly is: "goal"; readonly goal: string }
  /** `base` is the folder a relative path counts from. */
  | { readonly is: "file"; readonly path: string; readonly base: string }
  | { readonly is: "auto" };

export interface Places {
  readonly root: string;
  readonly ralphDir: string;
}

/** Looked for in this order, first under `.ralph/`, then at the root. */
const KNOWN_NAMES = ["@fix_plan.md", "fix_plan.md", "tasks.md", "TODO.md", "PRD.md", "prd.md"];

export function openSource(request: SourceRequest, places: Places): TaskSource {
  switch (request.is) {
    case "goal":
      return createGoalSource(request.goal);
    case "file":
      return checklist(places, findFile(request.path, request.base, places));
    case "auto":
      return checklist(places, detect(places));
  }
}

function findFile(path: string, base: string, { ralphDir }: Places): string {
  const candidates = [resolve(base, path), ...(path.includes("/") ? [] : [join(ralphDir, path)])];
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found !== undefined) return found;
  throw new RalphError("no-tasks", `the task source ${path} does not exist`, {
    hint: `give another with --source, or a goal: ralph run "what you want" --check "npm test"`,
  });
}

function detect({ root, ralphDir }: Places): string {
  const candidates = [ralphDir, root].flatMap((folder) => KNOWN_NAMES.map((name) => join(folder, name)));
  const found = candidates.find(
    (path) => existsSync(path) && /^\s*(?:[-*+]|\d+[.)])\s+\[[ xX]\]/m.test(readFileSync(path, "utf8")),
  );
  if (found !== undefined) return found;
  throw new RalphError("no-tasks", "there is nothing to do: no goal was given and no checklist was found", {
    hint: `say what you want: ralph run "make the date parser handle leap years" --check "npm test"; or write TODO.md with lines such as "- [ ] first task"`,
  });
}

function checklist({ root }: Places, file: string): TaskSource {
  const path = relative(root, file);
  if (path.startsWith("..") || isAbsolute(path)) {
    throw new RalphError("usage", `the task source ${file} is outside the repository ${root}`, {
      hint: "move it into the repository",
    });
  }
  return createChecklistSource({ root, path });
}
