import { realpathSync } from "node:fs";
import { join, posix, relative, resolve } from "node:path";
import { TEMPORARY_PREFIX } from "../../process/atomic-file.ts";

/** Whose file it is: the agent's, ours (never counted, never committed), or a document of ours (committed, not counted). */
export type Owner = "agent" | "ours" | "document";

export interface Owners {
  readonly whose: (path: string) => Owner;
  /** Left by gates, and as they left it. */
  readonly isGates: (path: string) => boolean;
}

/** Files under `.ralph/` that people and agents write; the rest there is configuration and views. */
const DOCUMENTS = ["progress.txt", "prd.md", "tasks.json", "roadmap.md"];

/** Tells the owner of a path that is relative to the root. */
export function whosePath(ralphPrefix: string | null, ours: readonly string[]): (path: string) => Owner {
  const exact = new Set(ours);
  const folders = ours.filter((path) => path.endsWith("/"));
  return (path) => {
    if (exact.has(path) || folders.some((folder) => path.startsWith(folder))) return "ours";
    if (posix.basename(path).startsWith(TEMPORARY_PREFIX)) return "ours";
    if (ralphPrefix === null || !path.startsWith(ralphPrefix)) return "agent";
    return DOCUMENTS.includes(path.slice(ralphPrefix.length)) ? "document" : "ours";
  };
}

/** `.ralph/` as git writes it, or null when the folder lies outside of the work tree. */
export function ralphPrefixOf(root: string, ralphDir: string): string | null {
  const path = resolve(root, ralphDir);
  return prefixOf(root, path) ?? prefixOf(realOf(root), realOf(path));
}

/** A task file may be a link to another file of the repository: then both are meant, the real one last. */
export function withRealPaths(root: string, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    try {
      const real = relative(root, realpathSync(join(root, path))).replaceAll("\\", "/");
      return real === path || real.startsWith("../") ? [path] : [path, real];
    } catch {
      return [path]; // not there: its name is enough
    }
  });
}

function prefixOf(root: string, path: string): string | null {
  const way = relative(root, path).replaceAll("\\", "/");
  return way === "" || way === ".." || way.startsWith("../") ? null : `${way}/`;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // not made yet
  }
}
