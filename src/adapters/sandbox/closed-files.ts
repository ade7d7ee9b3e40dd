import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "./place.ts";

/**
 * What lies below a folder, so deep, and is not for everybody. Root is another user in a sandbox, but one that still owns what
 * root owns: it would read the machine's passwords and keys.
 */
export function closedFiles(folder: string, depth = Infinity): readonly Place[] {
  const places: Place[] = [];
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) continue;
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if (!entry.isDirectory()) {
      if ((mode & 0o004) === 0) places.push({ is: "hidden", path });
    } else if ((mode & 0o005) === 0o005) places.push(...(depth > 1 ? closedFiles(path, depth - 1) : []));
    else places.push({ is: "empty", path });
  }
  return places;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // gone meanwhile, or not ours to look at
  }
}
