import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../system/atomic-file.ts";

/** A copy of the task file as it was before the agent started. It outlives the process, if it has a folder. */
export interface KeptCopy {
  write(file: Buffer): void;
  read(): Buffer | null;
}

export function keptCopy(folder: string | undefined, path: string): KeptCopy {
  let memory: Buffer | null = null;
  const name = `tasks-${createHash("sha256").update(path).digest("hex").slice(0, 16)}`;
  return {
    write(file) {
      if (memory?.equals(file) === true) return;
      if (folder !== undefined) {
        mkdirSync(folder, { recursive: true });
        writeFileAtomically(join(folder, name), file);
      }
      memory = file;
    },
    read() {
      if (memory === null && folder !== undefined) memory = readIfThere(join(folder, name));
      return memory;
    },
  };
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null; // then nothing was kept
  }
}
