import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { templateProblem } from "../../core/prompt/template.ts";
import { RalphError } from "../../core/ralph-error.ts";

interface TemplatePlace {
  readonly root: string;
  readonly ralphDir: string;
}

/** The operator's own template of a stage, checked; null when there is none. */
export function readPromptTemplate({ root, ralphDir }: TemplatePlace, stage = "build"): string | null {
  const path = join(ralphDir, "prompts", `${stage}.md`);
  if (!existsSync(path)) return null;
  const template = readFileSync(path, "utf8");
  const problem = templateProblem(template);
  if (problem === null) return template;
  throw new RalphError("config", `${relative(root, path)}:${problem.line}: ${problem.message}`);
}
