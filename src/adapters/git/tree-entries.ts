import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../core/errors.ts";
import type { Repository } from "./find-repository.ts";
import { bytesOf, createGit, type Git, recordsIn, settingVariables } from "./git.ts";
import { abandonedIn, asOwn, OWN_INDEX_PREFIX } from "./stale-locks.ts";

/** What a tree or an index has under a path. */
export interface TreeEntry {
  readonly mode: string;
  readonly oid: string;
}

/** A path and what is there; null: nothing. The path is git's, byte for byte. */
export type EntryAt = readonly [bytes: string, entry: TreeEntry | null];

export const FOLDER_MODE = "040000";
export const PROGRAM_MODE = "100755";
export const LINK_MODE = "120000";
export const SUBMODULE_MODE = "160000";

/** Of a file, by what the disk says. */
export function fileMode(mode: number): string {
  return (mode & 0o100) === 0 ? "100644" : PROGRAM_MODE;
}

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

export type Env = Readonly<Record<string, string>>;

/** Works on a copy of the index; what the agent staged there stays as it is. */
export async function withOwnIndex<Result>(
  { gitDir }: Pick<Repository, "gitDir">,
  work: (env: Env) => Promise<Result>,
): Promise<Result> {
  const copy = join(gitDir, `${OWN_INDEX_PREFIX}${randomBytes(4).toString("hex")}`);
  try {
    if (existsSync(join(gitDir, "index"))) copyFileSync(join(gitDir, "index"), copy);
    return await work({ GIT_INDEX_FILE: copy });
  } finally {
    rmSync(copy, { force: true });
    rmSync(`${copy}.lock`, { force: true });
  }
}

/** A git whose index and work tree are a folder of ours: of the repository it sees and makes objects only. */
export async function withWorkbench<Result>(
  { gitDir }: Repository,
  scratch: string,
  use: (git: Git) => Promise<Result>,
): Promise<Result> {
  return withEmptyIndex(scratch, async (env, folder) => {
    const tree = join(folder, "tree");
    mkdirSync(tree);
    return use(createGit(tree, { place: { GIT_DIR: gitDir, GIT_WORK_TREE: tree, ...env } }));
  });
}

/** An index in a folder that lasts as long as `use` takes; folders that killed processes left go first. */
export async function withEmptyIndex<Result>(
  scratch: string,
  use: (env: Env, folder: string) => Promise<Result>,
): Promise<Result> {
  mkdirSync(scratch, { recursive: true });
  for (const path of abandonedIn(scratch, PREFIX)) rmSync(path, { recursive: true, force: true });
  const folder = mkdtempSync(join(scratch, `${PREFIX}${process.pid}-`));
  // Nothing of how the operator keeps the own index, some of which lies outside of the file.
  const settings = settingVariables(process.env, {
    "core.bare": "false",
    "core.splitIndex": "false",
    "core.sparseCheckout": "false",
    "core.untrackedCache": "false",
    "index.sparse": "false",
  });
  try {
    return await asOwn(folder, () => use({ GIT_INDEX_FILE: join(folder, "index"), ...settings }, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PREFIX = "merging-";
