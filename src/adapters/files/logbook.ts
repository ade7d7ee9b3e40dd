import { closeSync, constants, fstatSync, lstatSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { LogEntry } from "../../core/views/log-entry.ts";

const BYTES_MAX = 5 * 1024 * 1024;
const FILES_MAX = 5;
/** Whoever holds the lock for longer is dead. */
const LOCK_STALE_MS = 10_000;

const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_EXCL } = constants;

export interface LogbookOptions {
  readonly bytesMax?: number;
  /** Told once, when it cannot be written. */
  readonly onTrouble: (why: string) => void;
}

/** `logs/ralph.log`: what ralph does, a line of JSON each. It never stands in the way of what it tells about. */
export class Logbook {
  readonly #file: string;
  readonly #bytesMax: number;
  readonly #onTrouble: (why: string) => void;
  #isBroken = false;

  constructor(ralphDir: string, { bytesMax = BYTES_MAX, onTrouble }: LogbookOptions) {
    this.#file = join(ralphDir, "logs", "ralph.log");
    this.#bytesMax = bytesMax;
    this.#onTrouble = onTrouble;
  }

  /** All of them in one piece: several processes may write at the same time. */
  write(...entries: readonly LogEntry[]): void {
    if (entries.length === 0) return;
    const own = { pid: process.pid };
    const text = entries.map((entry) => `${JSON.stringify({ ...entry, ...own })}\n`).join("");
    try {
      if (this.#append(text) > this.#bytesMax) this.#rotate();
      this.#isBroken = false;
    } catch (error) {
      if (!this.#isBroken) this.#onTrouble(error instanceof Error ? error.message : String(error));
      this.#isBroken = true;
    }
  }

  /** Answers how long the file is now. */
  #append(text: string): number {
    const file = this.#open();
    try {
      writeSync(file, text);
      return fstatSync(file).size;
    } finally {
      closeSync(file);
    }
  }

  /** A link in its place is removed, not followed. */
  #open(): number {
    if (lstatSync(this.#file, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      rmSync(this.#file, { force: true });
    return openSync(this.#file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  }

  /** By one process at a time; the others go on writing, to whichever file they have open. */
  #rotate(): void {
    const lock = `${this.#file}.lock`;
    const unlock = takeLock(lock);
    if (unlock === null) return;
    try {
      // Somebody else may have done it just before.
      if ((lstatSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) <= this.#bytesMax) return;
      for (let number = FILES_MAX - 1; number >= 1; number -= 1)
        renameIfThere(number === 1 ? this.#file : `${this.#file}.${number - 1}`, `${this.#file}.${number}`);
    } finally {
      unlock();
    }
  }
}

/** Null: another process holds it. */
function takeLock(path: string): (() => void) | null {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there !== undefined && Date.now() - there.mtimeMs > LOCK_STALE_MS) rmSync(path, { force: true });
  try {
    closeSync(openSync(path, O_CREAT | O_EXCL | O_WRONLY));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return null;
    throw error;
  }
  return () => rmSync(path, { force: true });
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
