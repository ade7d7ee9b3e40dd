import { existsSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Project } from "../../compose.ts";
import { RalphError } from "../../core/ralph-error.ts";

/** Where requirements are looked for, first in `.ralph/`, then at the root. */
const NAMES = ["prd.md", "PRD.md"];

/** The document with the requirements, as a person knows it; null when there is none in the usual places. */
export function findPrd({ root, ralphDir }: Project): string | null {
  const places = [ralphDir, root].flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return places.find((path) => existsSync(path)) ?? null;
}

export interface PrdPlace {
  /** Links followed. */
  readonly real: string;
  /** Relative to the root. */
  readonly shown: string;
}

/** The document that was asked for, or the usual one. */
export function requirePrd(project: Project, cwd: string, asked: string | undefined): PrdPlace {
  const path = asked === undefined ? findPrd(project) : placeOf(project, cwd, asked);
  if (path === null) {
    throw new RalphError(
      "no-tasks",
      asked === undefined ? "there is no prd.md to make a plan of" : `${asked} does not exist`,
      { hint: "write down what is wanted; ralph init --source prd gives you a template" },
    );
  }
  if (!statSync(path).isFile())
    throw new RalphError("usage", `${relative(project.root, path)} is not a file`);
  return { real: realpathSync(path), shown: relative(project.root, path) };
}

/** A bare name is also looked for in `.ralph/`. */
function placeOf({ ralphDir }: Project, cwd: string, asked: string): string | null {
  const places = [resolve(cwd, asked), ...(asked.includes("/") ? [] : [join(ralphDir, asked)])];
  return places.find((path) => existsSync(path)) ?? null;
}
