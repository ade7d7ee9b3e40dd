import { closeSync, constants, openSync, rmSync, writev } from "node:fs";
import { promisify } from "node:util";
import { fileError } from "../system/file-error.ts";

/** A file that is written through its descriptor: whatever an agent puts under its name meanwhile is another file. */
export interface KeptFile {
  readonly path: string;
  /** All of them, one after the other. */
  write(chunks: readonly Buffer[]): Promise<void>;
  /** May be repeated. */
  close(): void;
}

const writeSome = promisify(writev);
// On Windows some of these are missing, which counts as nothing in a sum of bits.
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Makes the file anew: whatever stood there under its name (a link, a pipe) is gone, not followed. */
export function createFile(path: string): KeptFile {
  // Opened at once: a trip through the thread pool is a millisecond for which the agent would wait.
  const make = (): number => openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  try {
    return keptFile(makeAfresh(make, path), path);
  } catch (error) {
    throw fileError(error, path);
  }
}

export function keptFile(descriptor: number, path: string): KeptFile {
  let isOpen = true;
  return {
    path,
    async write(chunks) {
      try {
        for (let rest = chunks; rest.length > 0;)
          rest = without((await writeSome(descriptor, rest)).bytesWritten, rest);
      } catch (error) {
        throw fileError(error, path);
      }
    },
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}

/** What is left of the chunks when so many bytes are written. */
function without(written: number, chunks: readonly Buffer[]): readonly Buffer[] {
  const [first, ...rest] = chunks;
  if (first === undefined) return [];
  return written < first.length ? [first.subarray(written), ...rest] : without(written - first.length, rest);
}

function makeAfresh(make: () => number, path: string): number {
  try {
    return make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    rmSync(path);
    return make();
  }
}
