import { lstatSync } from "node:fs";
import { join } from "node:path";
import { PATHS_KEPT, type Leftover, type Leftovers } from "../../core/report/evidence.ts";

/** What these paths look like now, as far as they are remembered. */
export function leftoversAt(root: string, paths: readonly string[]): readonly Leftover[] {
  return paths.slice(0, PATHS_KEPT).map((path) => ({ path, look: lookOf(join(root, path)) }));
}

/** Whether a path was left like this before: then it is no news. */
export function isUntouched(root: string, left: readonly Leftover[]): (path: string) => boolean {
  const looks = new Map(left.map(({ path, look }) => [path, look]));
  return (path) => looks.has(path) && looks.get(path) === lookOf(join(root, path));
}

/** Of what lies there after the gates, whose it is. */
export function sortByOwner(now: readonly Leftover[], byAgents: readonly Leftover[]): Leftovers {
  const agents = new Set(byAgents.map(({ path }) => path));
  return {
    byAgents: now.filter(({ path }) => agents.has(path)),
    byGates: now.filter(({ path }) => !agents.has(path)),
  };
}

function lookOf(path: string): string {
  try {
    const { mtimeNs, size, mode, ino } = lstatSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${mode} ${ino}`;
  } catch {
    return "gone";
  }
}
