import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../core/errors.ts";
import { isoTime } from "../../core/time.ts";
import { isAlive, removeAbandonedIn, writeFileAtomically } from "../process/atomic-file.ts";
import { holdExclusively, isHeld, type Hold } from "./exclusive-hold.ts";
import { storeError } from "./store-error.ts";

/** Enough to outlast another process that only looks whether the lock is held. */
const PATIENCE_MS = 100;

export interface ProjectLock {
  release(): void;
}

/** The exclusive right to drive a repository, until released or until this process is gone. */
export function acquireProjectLock(folder: string): ProjectLock {
  const hold = lock(folder);
  if (hold === null) throw alreadyRunning(holderIn(folder));
  try {
    removeAbandonedIn(folder);
    const text = JSON.stringify({ pid: process.pid, started_at: isoTime(Date.now()) });
    writeFileAtomically(join(folder, HOLDER), `${text}\n`, { durable: false });
  } catch (error) {
    hold.release();
    throw storeError(error, join(folder, HOLDER));
  }
  let isReleased = false;
  return {
    release: () => {
      if (isReleased) return;
      isReleased = true;
      try {
        // First, since the file may be another's once the lock is free.
        rmSync(join(folder, HOLDER), { force: true });
      } finally {
        hold.release();
      }
    },
  };
}

/** Who drives the repository, for the other commands; `pid` is null when the holder has not said. */
export function isProjectLocked(folder: string): { readonly pid: number | null } | null {
  const file = join(folder, LOCK);
  try {
    return isHeld(file) ? { pid: holderIn(folder) } : null;
  } catch (error) {
    throw storeError(error, file);
  }
}

const LOCK = "lock.db";
const HOLDER = "lock.json";

function lock(folder: string): Hold | null {
  const file = join(folder, LOCK);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return holdExclusively(file, PATIENCE_MS);
  } catch (error) {
    throw storeError(error, file);
  }
}

function holderIn(folder: string): number | null {
  try {
    const { pid } = JSON.parse(readFileSync(join(folder, HOLDER), "utf8")) as { pid: unknown };
    // The file of a killed holder stays behind until the next one has written its own.
    return typeof pid === "number" && isAlive(pid) ? pid : null;
  } catch {
    return null; // the holder is between taking the lock and saying so; the pid only makes the message better
  }
}

function alreadyRunning(pid: number | null): RalphError {
  const holder = pid === null ? "" : ` (pid ${pid})`;
  return new RalphError("already-running", `another ralph run is working in this repository${holder}`, {
    hint: "wait until it has ended, or stop it with `ralph stop`",
  });
}
