import { lstatSync } from "node:fs";
import { isAlive } from "../system/is-alive.ts";

/** What this process is about: names of folders and markers of set-ups. */
const current = new Set<string>();

/** For as long as it takes, nobody of us takes the name for a dead process's. */
export async function asOwn<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  current.add(name);
  try {
    return await work();
  } finally {
    current.delete(name);
  }
}

/** Whether nobody is at it any more. Numbers of processes are given out again, also our own. */
export function isAbandoned(name: string, pid: number): boolean {
  return pid === process.pid ? !current.has(name) : !isAlive(pid);
}

/** A path that nobody has, with the number of this process in its name. */
export function ownPath(stem: string): string {
  for (let number = 1; ; number += 1) {
    const path = `${stem}-${process.pid}-${number}`;
    if (!current.has(path) && lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  }
}
