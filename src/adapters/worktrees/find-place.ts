import { mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { RalphError } from "../../core/ralph-error.ts";
import { fileError } from "../system/file-error.ts";
import type { Repository } from "../git/find-repository.ts";

/**
 * The folder that holds the project's worktrees, links followed. Below a `.git` test runners see no files and agents
 * refuse to write; inside a checkout of the repository everybody's tools would find everything twice.
 */
export function findPlace(stateHome: string, projectId: string, repository: Repository): string {
  const place = realOf(join(resolve(stateHome), "ralph", projectId));
  const { root, gitDir, commonDir } = repository;
  const isInGit =
    place.split(sep).includes(".git") || [gitDir, commonDir].some((dir) => isInside(place, dir));
  if (isInGit) throw refused(place, "below a git directory");
  const main = basename(commonDir) === ".git" ? dirname(commonDir) : root;
  const checkout = [root, main].find((candidate) => isInside(place, candidate));
  if (checkout !== undefined) throw refused(place, `inside the checkout ${checkout}`);
  return place;
}

/** What is copied into worktrees may be secret. */
export function makePlace(place: string): void {
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw fileError(error, place);
  }
}

function refused(place: string, where: string): RalphError {
  return new RalphError("not-writable", `worktrees cannot be made in ${place}: it lies ${where}`, {
    hint: "set XDG_STATE_HOME to a folder outside of the repository",
  });
}

function isInside(path: string, folder: string): boolean {
  const way = relative(realOf(folder), path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** As realpath; what does not exist yet is taken as it is written. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOf(parent), basename(path));
  }
}
