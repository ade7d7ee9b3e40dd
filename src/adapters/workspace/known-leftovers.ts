import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { PATHS_KEPT, type FileSpan, type Leftover, type Leftovers } from "../../core/report/evidence.ts";

/** What these paths look like now, as far as they are remembered. */
export function leftoversAt(root: string, paths: readonly string[]): readonly Leftover[] {
  return paths.slice(0, PATHS_KEPT).map((path) => ({ path, look: lookOf(join(root, path)) }));
}

/** Whether a path was left like this before: then it is no news. */
export function isUntouched(root: string, left: readonly Leftover[]): (path: string) => boolean {
  const looks = new Map(left.map(({ path, look }) => [path, look]));
  return (path) => looks.has(path) && looks.get(path) === lookOf(join(root, path));
}

export function lookAgain(root: string, left: readonly Leftover[]): readonly Leftover[] {
  return leftoversAt(
    root,
    left.map(({ path }) => path),
  );
}

/** Whether gates left an uncommitted path, and nobody touched it since. */
export function isLeftByGates(
  root: string,
  { byAgents, byGates, gatesRan }: Leftovers,
): (path: string) => boolean {
  const isKnown = isUntouched(root, byGates);
  if (gatesRan === null) return isKnown;
  const agents = new Set(byAgents.map(({ path }) => path));
  return (path) => isKnown(path) || (!agents.has(path) && isWithin(gatesRan, changedAt(join(root, path))));
}

/** Whether an uncommitted path was left by an agent or a gate, whatever became of it. */
export function isAnyLeftover(root: string, left: Leftovers): (path: string) => boolean {
  const known = new Set([...left.byAgents, ...left.byGates].map(({ path }) => path));
  const isGates = isLeftByGates(root, left);
  return (path) => known.has(path) || isGates(path);
}

function isWithin({ after, upTo }: FileSpan, time: number | null): boolean {
  return time !== null && time > after && time <= upTo;
}

/** The date of a file, or of the folder that has lost it. A folder does not show what happened deep inside of it. */
function changedAt(path: string): number | null {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file !== undefined) return file.isDirectory() ? null : file.ctimeMs;
  const folder = lstatSync(dirname(path), { throwIfNoEntry: false });
  return folder === undefined ? changedAt(dirname(path)) : folder.ctimeMs;
}

/** Another text when the file has changed. */
export function lookOf(path: string): string {
  try {
    const { mtimeNs, size, mode, ino } = lstatSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${mode} ${ino}`;
  } catch {
    return "gone";
  }
}
