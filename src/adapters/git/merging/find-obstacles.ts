import { readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../../core/errors.ts";
import { type Git, textOf } from "../git.ts";
import { statsAt } from "../../process/look-at.ts";
import { type EntryAt, indexInfo, isSameEntry, SUBMODULE_MODE, type TreeEntry } from "./write-commit.ts";
import { askStatus } from "../workspace/read-status.ts";
import { ownIndexSettings, withFolder } from "./workbench.ts";

interface Obstacles {
  /** Somebody's work, as people read paths. */
  readonly paths: readonly string[];
  readonly halfway: Halfway;
}

/** What a move that was killed half-way left: how the index has to be for the files that are there, and how it is. */
export interface Halfway {
  readonly settled: readonly EntryAt[];
  readonly found: readonly EntryAt[];
}

/**
 * What lies between a checkout and its next commit. A path is nobody's work if index and work tree have it exactly as
 * one of the two commits does: then nothing is lost whichever of them it becomes.
 */
export async function findObstacles(
  tree: WorkTree,
  scratch: string,
  changes: ReadonlyMap<string, Change>,
): Promise<Obstacles> {
  const uncommitted = await readUncommitted(tree.git);
  const inIndex = new Set(uncommitted.map(({ bytes }) => bytes));
  const untracked = untrackedInTheWay(tree.root, changes).filter((bytes) => !inIndex.has(bytes));
  const suspects = [...uncommitted, ...untracked.map((bytes) => ({ bytes, staged: null }))];
  const known = suspects.flatMap((suspect) => knownChange(suspect, changes) ?? []);
  const isAfter = await matchWorkTree(
    tree,
    scratch,
    known.map(({ bytes, after }) => [bytes, after]),
  );
  const isBefore = await matchWorkTree(
    tree,
    scratch,
    known.map(({ bytes, before }) => [bytes, before]),
  );
  const nobodys = known.filter(({ bytes }) => isAfter.has(bytes) || isBefore.has(bytes));
  const ours = new Set(nobodys.map(({ bytes }) => bytes));
  const theirs = suspects.map(({ bytes }) => bytes).filter((bytes) => !ours.has(bytes));
  const halfway = {
    settled: nobodys.map(({ bytes, before, after }): EntryAt => [bytes, isAfter.has(bytes) ? after : before]),
    found: nobodys.map(({ bytes, staged }): EntryAt => [bytes, staged]),
  };
  return { paths: theirs.map(textOf).toSorted(), halfway };
}

interface KnownChange extends Change {
  readonly staged: TreeEntry | null;
}

function knownChange(
  { bytes, staged }: Uncommitted,
  changes: ReadonlyMap<string, Change>,
): KnownChange | null {
  const change = changes.get(bytes);
  if (change === undefined || staged === "conflict") return null;
  const isKnown = isSameEntry(staged, change.before) || isSameEntry(staged, change.after);
  return isKnown ? { ...change, staged } : null;
}

/** A path of the index that differs from HEAD, or from the work tree. */
interface Uncommitted {
  readonly bytes: string;
  /** In the index; "conflict" when that is undecided. */
  readonly staged: TreeEntry | "conflict" | null;
}

/** What moving HEAD puts at risk. Submodules are not: git leaves their folders alone. */
async function readUncommitted(git: Git): Promise<readonly Uncommitted[]> {
  const entries = await askStatus(git, ["status", "--untracked-files=no"]);
  return entries.flatMap(({ bytes, is, staged, index }): readonly Uncommitted[] => {
    if (is === "conflict") return [{ bytes, staged: "conflict" }];
    return index?.mode === SUBMODULE_MODE && !staged ? [] : [{ bytes, staged: index }];
  });
}

/**
 * What lies where the next commit has something new, and is in neither of the two: a file, a file in the place of a
 * folder, files in a folder whose place a file takes. Git's bytes; whether git ignores it does not matter.
 */
function untrackedInTheWay(root: string, changes: ReadonlyMap<string, Change>): readonly string[] {
  const isTracked = (bytes: string): boolean => (changes.get(bytes)?.before ?? null) !== null;
  const folders = new Set<string>();
  const found: string[] = [];
  for (const { bytes, before, after } of changes.values()) {
    if (before !== null || after === null) continue;
    for (const folder of foldersOf(bytes)) folders.add(folder);
    const stats = statOf(root, bytes);
    if (stats === null) continue;
    if (!stats.isDirectory()) found.push(bytes);
    else if (after.mode !== SUBMODULE_MODE) found.push(...filesIn(root, bytes));
  }
  for (const folder of folders) if (statOf(root, folder)?.isDirectory() === false) found.push(folder);
  return [...new Set(found)].filter((bytes) => !isTracked(bytes));
}

function foldersOf(bytes: string): readonly string[] {
  const parts = bytes.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

function filesIn(root: string, folder: string): readonly string[] {
  const entries = readdirSync(pathOf(root, folder), { encoding: "latin1", withFileTypes: true });
  return entries.flatMap((entry) => {
    const bytes = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(root, bytes) : [bytes];
  });
}

interface WorkTree {
  readonly root: string;
  readonly git: Git;
}

/** Of these paths those where the work tree has exactly this entry, by content and mode. A submodule is its folder. */
async function matchWorkTree(
  { root, git }: WorkTree,
  scratch: string,
  entries: readonly EntryAt[],
): Promise<ReadonlySet<string>> {
  const files = entries.filter(([, entry]) => entry !== null && entry.mode !== SUBMODULE_MODE);
  const differ = new Set<string>();
  const [first] = files;
  if (first !== undefined) {
    await withFolder(scratch, async (folder) => {
      const env = { GIT_INDEX_FILE: join(folder, "index"), ...ownIndexSettings() };
      const input = indexInfo(files, first[1]?.oid ?? "");
      await git.must(["update-index", "-z", "--index-info"], { input, env });
      // Compares contents where times cannot tell; says with 1 that something differs.
      await git.run(["update-index", "-q", "--refresh"], { env });
      const onRecord = (bytes: string): void => void differ.add(bytes);
      await git.must(["diff-files", "--ignore-submodules=dirty", "-z", "--name-only", "--no-renames"], {
        env,
        onRecord,
      });
    });
  }
  const matches = ([bytes, entry]: EntryAt): boolean => {
    const stats = statOf(root, bytes);
    // What lies in a folder has paths of its own.
    if (entry === null) return stats === null || stats.isDirectory();
    return entry.mode === SUBMODULE_MODE ? stats === null || stats.isDirectory() : !differ.has(bytes);
  };
  return new Set(entries.filter(matches).map(([bytes]) => bytes));
}

/** What lies at git's path; null: nothing. */
function statOf(root: string, bytes: string): Stats | null {
  return statsAt(pathOf(root, bytes));
}

function pathOf(root: string, bytes: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytes, "latin1")]);
}

export interface Change {
  readonly bytes: string;
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

export async function changesBetween(
  git: Git,
  from: string,
  to: string,
): Promise<ReadonlyMap<string, Change>> {
  const records: string[] = [];
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
  await git.must([...args, from, to], { onRecord: (record) => records.push(record) });
  const changes = new Map<string, Change>();
  for (let at = 0; at + 1 < records.length; at += 2) {
    const bytes = records[at + 1] ?? "";
    changes.set(bytes, { bytes, ...entriesIn(records[at] ?? "") });
  }
  return changes;
}

function entryOf(mode: string, oid: string): TreeEntry | null {
  return /^0+$/.test(mode) ? null : { mode, oid };
}

const RAW = /^:(\d+) (\d+) (\S+) (\S+) \S+$/;

function entriesIn(record: string): Pick<Change, "before" | "after"> {
  const [, modeBefore, modeAfter, before, after] = RAW.exec(record) ?? [];
  if (modeBefore === undefined || modeAfter === undefined || before === undefined || after === undefined)
    throw new RalphError("internal", `git diff-tree wrote a line that is not known: ${record}`);
  return { before: entryOf(modeBefore, before), after: entryOf(modeAfter, after) };
}
