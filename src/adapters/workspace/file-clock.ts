import { closeSync, fstatSync, mkdirSync, openSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TEMPORARY_PREFIX } from "../system/atomic-file.ts";

/** Some file systems date changes by whole seconds. */
const COARSEST_MS = 2_500;

/** The latest date that a change so far can have, once every later change has a later one; null if that never comes. */
export async function nextTick(folder: string): Promise<number | null> {
  const latest = fileTime(folder);
  const deadline = performance.now() + COARSEST_MS;
  while (performance.now() < deadline) {
    if (fileTime(folder) > latest) return latest;
    await sleep(1);
  }
  return null;
}

/** The date that a change in this folder has now: by a clock that ticks slowly, and may be another machine's. */
function fileTime(folder: string): number {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${TEMPORARY_PREFIX}${process.pid}-clock`);
  rmSync(path, { recursive: true, force: true });
  const file = openSync(path, "wx");
  try {
    return fstatSync(file).ctimeMs;
  } finally {
    closeSync(file);
    unlinkSync(path);
  }
}
