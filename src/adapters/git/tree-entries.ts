import { RalphError } from "../../core/errors.ts";
import { bytesOf, type Git, recordsIn } from "./git.ts";
import type { Env } from "./own-index.ts";

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

const LISTED = /^(\d+) \w+ (\w+)\t([^]*)$/;

export async function readEntry(git: Git, tree: string, path: string): Promise<TreeEntry | null> {
  const [listed = ""] = await git.records(["ls-tree", "-z", "--full-tree", tree, "--", `:(literal)${path}`]);
  const [, mode = "", oid = "", bytes] = LISTED.exec(listed) ?? [];
  return bytes === bytesOf(path) ? { mode, oid } : null;
}

/** All files of a commit by git's paths; null when git has no such commit. */
export async function listFiles(git: Git, commit: string): Promise<ReadonlyMap<string, TreeEntry> | null> {
  const { code, stdout } = await git.run(["ls-tree", "-r", "-z", "--full-tree", commit]);
  if (code !== 0) return null;
  return new Map(
    recordsIn(stdout).map((record) => {
      const [, mode = "", oid = "", bytes = ""] = LISTED.exec(record) ?? [];
      return [bytes, { mode, oid }];
    }),
  );
}

/** The tree with other entries. Works in the index of a workbench. */
export async function withEntries(git: Git, tree: string, entries: readonly EntryAt[]): Promise<string> {
  if (entries.length === 0) return tree;
  await git.must(["read-tree", tree]);
  await setEntries(git, entries, tree);
  return (await git.must(["write-tree"])).trim();
}

/** Puts these into the index, whatever it has there; `sibling` is any object's name. */
export async function setEntries(
  git: Git,
  entries: readonly EntryAt[],
  sibling: string,
  env: Env = {},
): Promise<void> {
  // Mode 0 takes a path out of the index, whatever the object.
  const nothing = { mode: "0", oid: "0".repeat(sibling.length) };
  const lines = entries.map(([bytes, entry]) => {
    const { mode, oid } = entry ?? nothing;
    return `${mode} ${oid}\t${bytes}\0`;
  });
  await git.must(["update-index", "-z", "--index-info"], { input: lines.join(""), env });
}

export function isSameEntry(one: TreeEntry | null, other: TreeEntry | null): boolean {
  return one?.mode === other?.mode && one?.oid === other?.oid;
}

export async function treeOf(git: Git, commit: string): Promise<string> {
  return (await git.must(["rev-parse", "--verify", `${commit}^{tree}`])).trim();
}

export interface Change {
  readonly bytes: string;
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

/** Everything that differs between two trees in any way, by git's paths. */
export async function changesBetween(
  git: Git,
  from: string,
  to: string,
): Promise<ReadonlyMap<string, Change>> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
  const records = await git.records([...args, from, to]);
  const changes = new Map<string, Change>();
  for (let at = 0; at + 1 < records.length; at += 2) {
    const bytes = records[at + 1] ?? "";
    changes.set(bytes, { bytes, ...entriesIn(records[at] ?? "") });
  }
  return changes;
}

const RAW = /^:(\d+) (\d+) (\S+) (\S+) \S+$/;

function entriesIn(record: string): Pick<Change, "before" | "after"> {
  const [, modeBefore, modeAfter, before = "", after = ""] = RAW.exec(record) ?? [];
  if (modeBefore === undefined || modeAfter === undefined)
    throw new RalphError("internal", `git diff-tree wrote a line that is not known: ${record}`);
  return { before: entryOf(modeBefore, before), after: entryOf(modeAfter, after) };
}

function entryOf(mode: string, oid: string): TreeEntry | null {
  return /^0+$/.test(mode) ? null : { mode, oid };
}
