import { readdirSync } from "node:fs";
import type { Change } from "./changes-between.ts";
import { pathOf, statOf } from "./match-work-tree.ts";
import { SUBMODULE_MODE } from "./tree-entries.ts";

/**
 * What lies where the next commit has something new, and is in neither of the two: a file, a file in the place of a
 * folder, files in a folder whose place a file takes. Git's bytes; whether git ignores it does not matter.
 */
export function untrackedInTheWay(root: string, changes: ReadonlyMap<string, Change>): readonly string[] {
  const isTracked = (bytes: string): boolean => (changes.get(bytes)?.before ?? null) !== null;
  const folders = new Set<string>();
  const found: string[] = [];
  for (const { bytes, before, after } of changes.values()) {
    if (before !== null || after === null) continue;
    for (const folder of foldersOf(bytes)) folders.add(folder);
    const stats = statOf(root, bytes);
    if (stats === null) continue;
    if (!stats.isDirectory()) found.push(bytes);
    else if (after.mode !== SUBMODULE_MODE) found.push(...filesIn(root, bytes));
  }
  for (const folder of folders) if (statOf(root, folder)?.isDirectory() === false) found.push(folder);
  return [...new Set(found)].filter((bytes) => !isTracked(bytes));
}

function foldersOf(bytes: string): readonly string[] {
  const parts = bytes.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

function filesIn(root: string, folder: string): readonly string[] {
  const entries = readdirSync(pathOf(root, folder), { encoding: "latin1", withFileTypes: true });
  return entries.flatMap((entry) => {
    const bytes = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(root, bytes) : [bytes];
  });
}
