import { existsSync, realpathSync } from "node:fs";
import { join, posix, relative, resolve } from "node:path";
import { TEMPORARY_PREFIX } from "../../process/atomic-file.ts";
import { statsAt, textAt } from "../../process/look-at.ts";
import { isOutside } from "../../process/safe-path.ts";
import { openRepository, type OpenRepository, realPathOf } from "../find-repository.ts";
import { bytesOf, textOf, type Git } from "../git.ts";
import { readHead } from "../read-head.ts";
import type { TreeEntry } from "../tree-entries.ts";
import { createChangeReader, type ReadChanges } from "./read-diff.ts";

/** A work tree, its repository, and a git that is not held up by the locks of the dead. */
export interface Checkout extends OpenRepository {
  readonly readChanges: ReadChanges;
  readonly walk: Walk;
  /** Whether git may remember in its index which folders had nothing new. */
  readonly remembersFolders: () => Promise<boolean>;
  /** Our own folder. */
  readonly ralphDir: string;
  /** How git's paths below our own folder begin; null when it lies elsewhere. */
  readonly ralphPrefix: string | null;
}

/** About ten thousand files: from here on, whatever looks at all of an index takes long. */
const BIG_INDEX_BYTES = 1_000_000;

export async function openCheckout(
  root: string,
  ralphDir: string,
  bigIndexBytes = BIG_INDEX_BYTES,
): Promise<Checkout> {
  const repository = await openRepository(root);
  const { git, gitDir } = repository;
  let isAllowed: Promise<boolean> | null = null;
  // Not where the operator has switched it off, as on disks that keep no dates of folders.
  const ask = async (): Promise<boolean> => {
    const { stdout } = await git.run(["config", "--type=bool-or-str", "--get", "core.untrackedCache"]);
    return stdout.trim() !== "false";
  };
  // Half of the walk over a hundred thousand files is the search for new ones.
  const remembersFolders = async (): Promise<boolean> =>
    (statsAt(join(gitDir, "index"))?.size ?? 0) >= bigIndexBytes && (isAllowed ??= ask());
  const tree = { ...repository, remembersFolders };
  return {
    ...tree,
    readChanges: createChangeReader(git),
    walk: createWalk(tree),
    ralphDir: resolve(root, ralphDir),
    ralphPrefix: ralphPrefixOf(root, ralphDir),
  };
}

/** The walk over the work tree. It takes the longest of all looks, so it may begin before anybody needs it. */
interface Walk {
  begin(): void;
  /** Resolves when no walk is under way: whoever moves HEAD and the index is not in its way then. */
  settled(): Promise<unknown>;
  /** What the walk found that has begun; without one, or when HEAD has moved since, of a new one. */
  entries(): Promise<readonly StatusEntry[]>;
}

/** To write a big index down takes longer than to look again at the few folders that change all the time. */
const REFRESH_EVERY = 10;

function createWalk(tree: WorkTree): Walk {
  let begun: Promise<{ readonly place: string; readonly entries: StatusEntry[] } | null> | null = null;
  let walks = 0;
  const place = async (): Promise<string> => JSON.stringify(await readHead(tree, tree.git));
  const walk = async (): Promise<StatusEntry[]> => {
    const mayRefresh = walks % REFRESH_EVERY === 0 || !(await tree.remembersFolders());
    walks += 1;
    return readStatus(tree, { mayRefresh });
  };
  return {
    begin() {
      // One that failed says nothing of how it is now.
      begun = Promise.all([place(), walk()]).then(
        ([before, entries]) => ({ place: before, entries }),
        () => null,
      );
    },
    settled: async () => begun,
    async entries() {
      const ahead = begun;
      begun = null;
      const [found, now] = await Promise.all([ahead, place()]);
      return found?.place === now ? found.entries : walk();
    },
  };
}

/** One path that differs from HEAD, in the index or in the work tree. */
export interface StatusEntry {
  /** As git wrote it, byte for byte. */
  readonly bytes: string;
  readonly path: string;
  readonly is: "tracked" | "untracked" | "conflict";
  /** The index differs from HEAD. */
  readonly staged: boolean;
  /** What the index has; null: nothing, or more than one version. */
  readonly index: TreeEntry | null;
  /** Not in the work tree. */
  readonly missing: boolean;
  /** A commit can hold it: not so a repository inside ours, or changes inside a submodule. */
  readonly committable: boolean;
}

interface StatusOptions {
  /** Just this one. */
  readonly path?: string;
  /**
   * Nobody is at work whom a lock could be in the way: git may write down what it found unchanged. Without that it
   * reads a file that was only touched again and again.
   */
  readonly mayRefresh?: boolean;
}

type WorkTree = OpenRepository & Pick<Checkout, "remembersFolders">;

/** One walk over the work tree; ignored files are left out. */
export async function readStatus(tree: WorkTree, options: StatusOptions = {}): Promise<StatusEntry[]> {
  const [entries, inside] = await Promise.all([readOwnStatus(tree, options), changedSubmodules(tree)]);
  const known = new Set(entries.map(({ bytes }) => bytes));
  const isMeant = (path: string): boolean => options.path === undefined || options.path === path;
  return [...entries, ...inside.filter(({ bytes, path }) => !known.has(bytes) && isMeant(path))];
}

/** Git would look into a submodule with the submodule's settings, which anybody may have made: we look with our own. */
async function changedSubmodules({ git, root }: WorkTree): Promise<readonly StatusEntry[]> {
  if (!existsSync(join(root, ".gitmodules"))) return [];
  const links = (await git.records(["ls-files", "--stage", "-z"])).flatMap(
    (record) => /^160000 \S+ \d+\t([^]*)$/.exec(record)?.[1] ?? [],
  );
  const changed = links.map(async (bytes): Promise<StatusEntry[]> => {
    const folder = join(root, textOf(bytes));
    const index = indexOf(folder);
    if (index === null) return [];
    const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: folder };
    const look = ["ls-files", "-z", "--modified", "--others", "--exclude-standard", "--directory"];
    const { stdout } = await git.run(["-C", folder, ...look], { env });
    return stdout === "" ? [] : [{ ...untracked(bytes), is: "tracked", committable: false }];
  });
  return (await Promise.all(changed)).flat();
}

/** Null where its folder is empty. */
function indexOf(folder: string): string | null {
  const link = join(folder, ".git");
  const stats = statsAt(link);
  if (stats === null) return null;
  if (stats.isDirectory()) return join(link, "index");
  const target = (textAt(link) ?? "").replace(/^gitdir: /, "").trim();
  return join(resolve(folder, target), "index");
}

async function readOwnStatus(tree: WorkTree, options: StatusOptions): Promise<StatusEntry[]> {
  const { git } = tree;
  const each = (): Promise<StatusEntry[]> => askStatus(git, EACH_FILE, options);
  if (options.path !== undefined || !(await tree.remembersFolders())) return each();
  const entries = await askStatus(git, BY_FOLDER, options);
  const folders = entries.filter(({ bytes, is }) => is === "untracked" && bytes.endsWith("/"));
  if (folders.length === 0) return entries;
  // Command lines are UTF-8.
  const canBeNamed = folders.every(({ bytes, path }) => bytesOf(path) === bytes);
  if (folders.length > FOLDERS_NAMED || !canBeNamed) return each();
  const named = folders.map(({ path }) => `:(literal)${path}`);
  const files = await git.records(["ls-files", "-z", "--others", "--exclude-standard", "--", ...named]);
  return [...entries.filter((entry) => !folders.includes(entry)), ...files.map(untracked)];
}

export const EACH_FILE = ["status", "--untracked-files=all"];
/**
 * Names a new folder and not its files, as everybody's `git status` does: so both share what git remembers of folders.
 * It remembers nothing for a command line that says how, so settings do.
 */
const BY_FOLDER = ["-c", "core.untrackedCache=true", "-c", "status.showUntrackedFiles=normal", "status"];
/** A command line has room for so many. */
const FOLDERS_NAMED = 200;

export async function askStatus(
  git: Git,
  command: readonly string[],
  { path, mayRefresh = false }: StatusOptions = {},
): Promise<StatusEntry[]> {
  const only = path === undefined ? [] : ["--", `:(literal)${path}`];
  // A setting would not do: `.gitmodules` has its own.
  const how = ["--ignore-submodules=dirty", "--porcelain=v2", "-z", "--no-renames", ...only];
  const env = { GIT_OPTIONAL_LOCKS: mayRefresh ? "1" : "0" };
  return (await git.records([...command, ...how], { env })).flatMap((record) => readEntry(record) ?? []);
}

const TRACKED = /^1 (..) (....) \d+ (\d+) (\d+) \S+ (\S+) ([^]*)$/;
const CONFLICT = /^u (..) (....) \d+ \d+ (\d+) (\d+) \S+ \S+ (\S+) ([^]*)$/;

function readEntry(record: string): StatusEntry | null {
  if (record.startsWith("? ")) return untracked(record.slice(2));
  const is = record.startsWith("u ") ? "conflict" : "tracked";
  const match = (is === "conflict" ? CONFLICT : TRACKED).exec(record);
  if (match === null) return null;
  const [, xy = "", submodule = "", inIndex = "", mode = "", oid = "", bytes = ""] = match;
  const staged = xy[0] !== ".";
  const missing = /^0+$/.test(mode);
  const index = is === "conflict" || /^0+$/.test(inIndex) ? null : { mode: inIndex, oid };
  const onlyInside = submodule.startsWith("S.") && !staged && !missing;
  const committable = is === "tracked" && !onlyInside;
  return { bytes, path: textOf(bytes), is, staged, index, missing, committable };
}

function untracked(bytes: string): StatusEntry {
  // Git lists files one by one and names a folder only where another repository begins.
  const committable = !bytes.endsWith("/");
  const path = textOf(bytes);
  return { bytes, path, is: "untracked", staged: false, index: null, missing: false, committable };
}

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
export function whosePath(ralphPrefix: string | null, ours: readonly string[]): Owners["whose"] {
  const isNamed = namedBy(ours);
  return (path) => {
    if (isNamed(path) || posix.basename(path).startsWith(TEMPORARY_PREFIX)) return "ours";
    if (ralphPrefix === null || !path.startsWith(ralphPrefix)) return "agent";
    return DOCUMENTS.includes(path.slice(ralphPrefix.length)) ? "document" : "ours";
  };
}

/** Whether a path is one of these or lies in one, if that is a folder with a slash at its end. */
export function namedBy(paths: readonly string[]): (path: string) => boolean {
  const exact = new Set(paths);
  const folders = paths.filter((path) => path.endsWith("/"));
  return (path) => exact.has(path) || folders.some((folder) => path.startsWith(folder));
}

/** `.ralph/` as git writes it, or null when the folder lies outside of the work tree. */
export function ralphPrefixOf(root: string, ralphDir: string): string | null {
  const path = resolve(root, ralphDir);
  const prefix = (from: string, to: string): string | null =>
    from === to || isOutside(from, to) ? null : `${relative(from, to)}/`;
  return prefix(root, path) ?? prefix(realPathOf(root), realPathOf(path));
}

/** A task file may be a link to another file of the repository: then both are meant, the real one last. */
export function withRealPaths(root: string, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    try {
      const real = relative(root, realpathSync(join(root, path)));
      return real === path || real.startsWith("../") ? [path] : [path, real];
    } catch {
      return [path]; // not there: its name is enough
    }
  });
}
