import { createGit, textOf } from "../git/git.ts";

/** Those of the paths, relative to the root and inside it, that git keeps a history of. */
export async function trackedPaths(root: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const literal = paths.map((path) => `:(literal)${path}`);
  const listed = await createGit(root).must(["ls-files", "-z", "--", ...literal]);
  const tracked = new Set(listed.split("\0").map(textOf));
  return paths.filter((path) => tracked.has(path));
}
