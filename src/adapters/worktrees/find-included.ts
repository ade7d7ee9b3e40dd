import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { globMatcher } from "../../core/glob.ts";
import { bytesOf, textOf } from "../git/git.ts";
import type { Site } from "./site.ts";

/** Untracked files of the user's checkout that the patterns mean, ignored or not; what git tracks is in the worktree. */
export async function findIncluded(
  { root, git }: Pick<Site, "root" | "git">,
  include: readonly string[],
): Promise<string[]> {
  if (include.length === 0) return [];
  const wanted = wantedBy(include);
  const output = await git.must(["ls-files", "-z", "--others", "--directory"]);
  const found: string[] = [];
  for (const bytes of output.split("\0")) {
    const path = textOf(bytes);
    if (path === "" || bytesOf(path) !== bytes) continue; // no pattern can name what is not UTF-8
    if (!path.endsWith("/")) found.push(path);
    else if (wanted.mayHold(path)) await addFiles(root, path, wanted, found);
  }
  return found.filter((path) => wanted.isMeant(path)).toSorted();
}

interface Wanted {
  isMeant(path: string): boolean;
  mayHold(folder: string): boolean;
}

/** A star does not mean these: the one has a set-up that makes it, the other is a run's own. */
const ONLY_BY_NAME = ["node_modules", ".ralph"];

function wantedBy(include: readonly string[]): Wanted {
  const patterns = include.map((pattern) => ({ matches: globMatcher(pattern), parts: pattern.split("/") }));
  const candidatesFor = (path: string): typeof patterns => {
    const parts = path.split("/");
    if (parts.includes(".git")) return [];
    const special = ONLY_BY_NAME.filter((name) => parts.includes(name));
    return patterns.filter((pattern) => special.every((name) => pattern.parts.includes(name)));
  };
  return {
    isMeant: (path) => candidatesFor(path).some(({ matches }) => matches(path)),
    mayHold: (folder) => candidatesFor(folder).length > 0,
  };
}

async function addFiles(root: string, folder: string, wanted: Wanted, found: string[]): Promise<void> {
  // What we may not look into, a database's folder say, cannot be meant.
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) found.push(path);
    else if (wanted.mayHold(`${path}/`)) await addFiles(root, `${path}/`, wanted, found);
  }
}
