import { lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileError } from "../system/file-error.ts";

/** Whatever is at the path is renamed. Only an empty folder, or one that holds nothing but git's link, is removed. */
export function clearTheWay(root: string): void {
  const stats = lstatSync(root, { throwIfNoEntry: false });
  if (stats === undefined) return;
  try {
    if (stats.isDirectory() && holdsOnlyLink(root)) {
      rmSync(join(root, ".git"), { force: true });
      rmdirSync(root);
    } else {
      renameSync(root, freePath(root));
    }
  } catch (error) {
    throw fileError(error, root);
  }
}

/** Nothing is checked out there. */
export function holdsOnlyLink(root: string): boolean {
  return readdirSync(root, { withFileTypes: true }).every((entry) => entry.name === ".git" && entry.isFile());
}

function freePath(root: string): string {
  for (let number = 1; ; number += 1) {
    const path = `${root}~aside-${number}`;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  }
}
