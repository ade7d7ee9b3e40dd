import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeAbandonedIn, writeFileAtomically } from "../adapters/process/atomic-file.ts";
import { stateHomeOf } from "./git-parts.ts";
import type { Project } from "./project.ts";

/** A project of this machine that a run has worked on. */
export interface KnownProject {
  readonly root: string;
  /** Its folder; that of another name was asked for with `--dir`. */
  readonly dir: string;
}

const KEPT_MAX = 200;

/** Puts the project first, for `ralph web --all`. That it cannot be written changes nothing about the run. */
export function rememberProject({
  root,
  ralphDir: dir,
  env,
}: Pick<Project, "root" | "ralphDir" | "env">): void {
  const known = read(env);
  const file = fileOf(env);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    removeAbandonedIn(dirname(file));
    if (known[0]?.root === root && known[0].dir === dir) return;
    const projects = [{ root, dir }, ...known.filter((one) => one.root !== root)].slice(0, KEPT_MAX);
    writeFileAtomically(file, `${JSON.stringify({ projects }, null, 2)}\n`, { durable: false });
  } catch {
    // the page of all projects lacks it
  }
}

/** The one with the latest run first; those whose folder is gone are left out. */
export function knownProjects(env: NodeJS.ProcessEnv): readonly KnownProject[] {
  return read(env).filter(({ root }) => existsSync(root));
}

function fileOf(env: NodeJS.ProcessEnv): string {
  return join(stateHomeOf(env), "ralph", "projects.json");
}

/** None where it cannot be read: the next run begins it anew. */
function read(env: NodeJS.ProcessEnv): readonly KnownProject[] {
  try {
    const { projects } = JSON.parse(readFileSync(fileOf(env), "utf8")) as { readonly projects: unknown };
    return Array.isArray(projects) ? projects.filter(isKnown) : [];
  } catch {
    return [];
  }
}

function isKnown(one: unknown): one is KnownProject {
  const { root, dir } = (one ?? {}) as Record<string, unknown>;
  return typeof root === "string" && typeof dir === "string";
}
