import {
  type Dirent,
  lstatSync,
  type PathLike,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
} from "node:fs";

// Anybody may remove what we look at, replace it or forbid us to read it: then it is as if it were not there.

/** A link itself, not what it leads to. */
export function statsAt(path: PathLike): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null; // below a file, say
  }
}

export function bytesAt(path: PathLike): Buffer | null {
  try {
    return statSync(path).isFile() ? readFileSync(path) : null;
  } catch {
    return null; // see above
  }
}

export function textAt(path: PathLike): string | null {
  return bytesAt(path)?.toString() ?? null;
}

export function entriesIn(folder: PathLike): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // see above
  }
}

export function namesIn(folder: PathLike): readonly string[] {
  return entriesIn(folder).map(({ name }) => name);
}
