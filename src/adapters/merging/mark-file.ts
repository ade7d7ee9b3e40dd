import type { FileMark } from "../../engine/parallel-ports.ts";
import { bytesOf, textOf, type Git } from "../git/git.ts";
import { followLinks } from "./follow-links.ts";
import {
  FOLDER_MODE,
  isSameEntry,
  readEntry,
  withEntries,
  type EntryAt,
  type TreeEntry,
} from "./tree-entries.ts";

/** How the task source fares in a merge. */
export interface SourceFile {
  /** As the base has it, until it is marked: the file and the links that lead to it. */
  readonly held: readonly EntryAt[];
  readonly marked: readonly EntryAt[];
}

/** The base's version counts; the other's only where the base has none. */
export async function markFile(
  git: Git,
  mark: FileMark | null,
  { ours, theirs }: { readonly ours: string; readonly theirs: string },
): Promise<SourceFile> {
  if (mark === null) return NO_FILE;
  const inOurs = await followLinks(git, ours, mark.path);
  const found = inOurs.length > 0 ? inOurs : await followLinks(git, theirs, mark.path);
  const [bytes, entry] = found.at(-1) ?? ["", null];
  if (entry === null) return NO_FILE;
  const held: EntryAt[] = [];
  for (const path of new Set([bytesOf(mark.path), ...found.map(([at]) => at)])) {
    const own = await readEntry(git, ours, textOf(path));
    if (own?.mode !== FOLDER_MODE) held.push([path, own]);
  }
  return { held, marked: [...found.slice(0, -1), [bytes, await applied(git, entry, mark.apply)]] };
}

const NO_FILE: SourceFile = { held: [], marked: [] };

/** The tree with these entries, made only if it has others. */
export async function holding(git: Git, tree: string, entries: readonly EntryAt[]): Promise<string> {
  for (const [bytes, entry] of entries) {
    if (!isSameEntry(await readEntry(git, tree, textOf(bytes)), entry))
      return withEntries(git, tree, entries);
  }
  return tree;
}

async function applied(git: Git, entry: TreeEntry, apply: FileMark["apply"]): Promise<TreeEntry> {
  const before = Buffer.from(await git.must(["cat-file", "blob", entry.oid]), "latin1");
  const input = apply(before).toString("latin1");
  return { ...entry, oid: (await git.must(["hash-object", "-w", "--stdin"], { input })).trim() };
}
