import { lstatSync, readFileSync, rmSync } from "node:fs";
import { writeFileAtomically } from "../../compose.ts";
import { RalphError } from "../../core/ralph-error.ts";

/** A file as it was before an agent could get at it; `bytes` is null when there was none. */
export interface KeptFile {
  /** Where it really lies. */
  readonly real: string;
  readonly bytes: Buffer | null;
  /** As it is now. */
  now(): Buffer | null;
  isChanged(): boolean;
  putBack(): void;
}

export function keepFile(real: string): KeptFile {
  const bytes = read(real);
  const now = (): Buffer | null => read(real);
  const isChanged = (): boolean => !isSame(bytes, now());
  return {
    real,
    bytes,
    now,
    isChanged,
    putBack() {
      if (!isChanged()) return;
      // Whatever stands in its place: a folder, a link to elsewhere.
      if (lstatSync(real, { throwIfNoEntry: false })?.isFile() !== true)
        rmSync(real, { recursive: true, force: true });
      if (bytes === null) rmSync(real, { force: true });
      else writeFileAtomically(real, bytes);
    },
  };
}

function isSame(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

/** Null when it is no file: no link is followed, since the agent may have made it. */
function read(path: string): Buffer | null {
  try {
    return lstatSync(path).isFile() ? readFileSync(path) : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new RalphError("usage", `${path} cannot be read (${code})`, { cause: error });
  }
}
