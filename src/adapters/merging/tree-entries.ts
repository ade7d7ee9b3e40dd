import { bytesOf, type Git } from "../git/git.ts";

/** What a tree or an index has under a path. */
export interface TreeEntry {
  readonly mode: string;
  readonly oid: string;
}

/** A path and what is there; null: nothing. The path is git's, byte for byte. */
export type EntryAt = readonly [bytes: string, entry: TreeEntry | null];

export const FOLDER_MODE = "040000";
export const LINK_MODE = "120000";
export const SUBMODULE_MODE = "160000";

export async function readEntry(git: Git, tree: string, path: string): Promise<TreeEntry | null> {
  const listed = await git.must(["ls-tree", "-z", "--full-tree", tree, "--", `:(literal)${path}`]);
  const [, mode, oid, bytes] = /^(\d+) \S+ (\S+)\t([^\0]*)\0$/.exec(listed) ?? [];
  return mode !== undefined && oid !== undefined && bytes === bytesOf(path) ? { mode, oid } : null;
}

/** The tree with other entries. Works in the index of a workbench. */
export async function withEntries(git: Git, tree: string, entries: readonly EntryAt[]): Promise<string> {
  if (entries.length === 0) return tree;
  await git.must(["read-tree", tree]);
  await git.must(["update-index", "-z", "--index-info"], { input: indexInfo(entries, tree) });
  return (await git.must(["write-tree"])).trim();
}

/** As `git update-index --index-info` reads it; `sibling` is any object's name. */
export function indexInfo(entries: readonly EntryAt[], sibling: string): string {
  const nothing = { mode: "0", oid: "0".repeat(sibling.length) };
  return entries
    .map(([bytes, entry]) => [bytes, entry ?? nothing] as const)
    .map(([bytes, { mode, oid }]) => `${mode} ${oid}\t${bytes}\0`)
    .join("");
}

export function isSameEntry(one: TreeEntry | null, other: TreeEntry | null): boolean {
  return one?.mode === other?.mode && one?.oid === other?.oid;
}

export async function treeOf(git: Git, commit: string): Promise<string> {
  return (await git.must(["rev-parse", "--verify", `${commit}^{tree}`])).trim();
}
