import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { TEMPORARY_PREFIX } from "./atomic-file.ts";
import { isAlive } from "./is-alive.ts";

/** Nobody takes so long to write a file: it is a dead process's, though its number may be another's by now. */
const OLD_MS = 3_600_000;

/** Removes the temporary files in a folder whose process died before they were in place. */
export function removeAbandonedIn(folder: string): void {
  for (const name of namesIn(folder)) {
    if (name.startsWith(TEMPORARY_PREFIX)) removeIfAbandoned(join(folder, name));
  }
}

export function removeIfAbandoned(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return;
  const pid = /^(\d+)-/.exec(basename(path).slice(TEMPORARY_PREFIX.length))?.[1];
  const isDead = pid !== undefined && !isAlive(Number(pid));
  if (isDead || Date.now() - stats.mtimeMs > OLD_MS) remove(path);
}

function remove(path: string): void {
  try {
    unlinkSync(path); // not rmSync: of a read-only disk that one tells no code that anybody could understand
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // else another process was faster
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not there, or not ours to read: then nothing of ours is in it
  }
}
