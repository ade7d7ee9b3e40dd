import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { bytesOf, textOf, type Git } from "../git.ts";
import { statsAt, textAt } from "../../process/look-at.ts";
import type { TreeEntry } from "../merging/write-commit.ts";
import type { UntrackedCache } from "./checkout.ts";

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

export interface StatusOptions {
  /** Just this one. */
  readonly path?: string;
  /**
   * Nobody is at work whom a lock could be in the way: git may write down what it found unchanged. Without that it
   * reads a file that was only touched again and again.
   */
  readonly mayRefresh?: boolean;
}

export interface StatusPlace {
  readonly git: Git;
  readonly root: string;
  readonly untracked: UntrackedCache;
}

/** One walk over the work tree; ignored files are left out. */
export async function readStatus(place: StatusPlace, options: StatusOptions = {}): Promise<StatusEntry[]> {
  const [entries, inside] = await Promise.all([readOwnStatus(place, options), changedSubmodules(place)]);
  const known = new Set(entries.map(({ bytes }) => bytes));
  const isMeant = (path: string): boolean => options.path === undefined || options.path === path;
  return [...entries, ...inside.filter(({ bytes, path }) => !known.has(bytes) && isMeant(path))];
}

/** Git would look into a submodule with the submodule's settings, which anybody may have made: we look with our own. */
async function changedSubmodules({ git, root }: StatusPlace): Promise<readonly StatusEntry[]> {
  if (!existsSync(join(root, ".gitmodules"))) return [];
  const links = (await git.must(["ls-files", "--stage", "-z"])).split("\0").flatMap((record) => {
    const bytes = /^160000 \S+ \d+\t([^]*)$/.exec(record)?.[1];
    return bytes === undefined ? [] : [{ bytes, path: textOf(bytes) }];
  });
  const changed = links.map(async ({ bytes, path }): Promise<StatusEntry[]> => {
    const folder = join(root, path);
    const index = indexOf(folder);
    if (index === null) return [];
    const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: folder };
    const look = ["ls-files", "-z", "--modified", "--others", "--exclude-standard", "--directory"];
    const { stdout } = await git.run(["-C", folder, ...look], { env });
    if (stdout === "") return [];
    return [{ bytes, path, is: "tracked", staged: false, index: null, missing: false, committable: false }];
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

async function readOwnStatus(place: StatusPlace, options: StatusOptions): Promise<StatusEntry[]> {
  const each = (): Promise<StatusEntry[]> => askStatus(place.git, EACH_FILE, options);
  if (options.path !== undefined || !(await place.untracked.isUsed())) return each();
  const entries = await askStatus(place.git, BY_FOLDER, options);
  const folders = entries.filter(({ bytes, is }) => is === "untracked" && bytes.endsWith("/"));
  if (folders.length === 0) return entries;
  if (folders.length > FOLDERS_NAMED || !folders.every(canBeNamed)) return each();
  const others = entries.filter((entry) => !folders.includes(entry));
  return [...others, ...(await filesIn(place.git, folders))];
}

const EACH_FILE = ["status", "--untracked-files=all"];
/**
 * Names a new folder and not its files, as everybody's `git status` does: so both share what git remembers of folders.
 * It remembers nothing for a command line that says how, so settings do.
 */
const BY_FOLDER = ["-c", "core.untrackedCache=true", "-c", "status.showUntrackedFiles=normal", "status"];
/** A command line has room for so many. */
const FOLDERS_NAMED = 200;

/** Command lines are UTF-8. */
function canBeNamed({ bytes, path }: StatusEntry): boolean {
  return bytesOf(path) === bytes;
}

export async function askStatus(
  git: Git,
  command: readonly string[],
  { path, mayRefresh = false }: StatusOptions = {},
): Promise<StatusEntry[]> {
  const entries: StatusEntry[] = [];
  const only = path === undefined ? [] : ["--", `:(literal)${path}`];
  // A setting would not do: `.gitmodules` has its own.
  await git.must([...command, "--ignore-submodules=dirty", "--porcelain=v2", "-z", "--no-renames", ...only], {
    env: { GIT_OPTIONAL_LOCKS: mayRefresh ? "1" : "0" },
    onRecord: (record) => {
      const entry = readEntry(record);
      if (entry !== null) entries.push(entry);
    },
  });
  return entries;
}

async function filesIn(git: Git, folders: readonly StatusEntry[]): Promise<StatusEntry[]> {
  const files: StatusEntry[] = [];
  const named = folders.map(({ path }) => `:(literal)${path}`);
  await git.must(["ls-files", "-z", "--others", "--exclude-standard", "--", ...named], {
    onRecord: (bytes) => void files.push(untracked(bytes)),
  });
  return files;
}

const TRACKED = /^1 (..) (....) \d+ (\d+) (\d+) \S+ (\S+) ([^]*)$/;
const CONFLICT = /^u (..) (....) \d+ \d+ (\d+) (\d+) \S+ \S+ (\S+) ([^]*)$/;

function readEntry(record: string): StatusEntry | null {
  switch (record[0]) {
    case "?":
      return untracked(record.slice(2));
    case "1":
      return tracked(TRACKED.exec(record), "tracked");
    case "u":
      return tracked(CONFLICT.exec(record), "conflict");
    default:
      return null;
  }
}

function untracked(bytes: string): StatusEntry {
  // Git lists files one by one and names a folder only where another repository begins.
  const committable = !bytes.endsWith("/");
  return {
    bytes,
    path: textOf(bytes),
    is: "untracked",
    staged: false,
    index: null,
    missing: false,
    committable,
  };
}

function tracked(match: RegExpExecArray | null, is: "tracked" | "conflict"): StatusEntry | null {
  const [, xy = "", submodule = "", inIndex = "", mode = "", oid = "", bytes = ""] = match ?? [];
  if (bytes === "") return null;
  const staged = xy[0] !== ".";
  const missing = /^0+$/.test(mode);
  const index = is === "conflict" || /^0+$/.test(inIndex) ? null : { mode: inIndex, oid };
  const onlyInside = submodule.startsWith("S.") && !staged && !missing;
  const committable = is === "tracked" && !onlyInside;
  return { bytes, path: textOf(bytes), is, staged, index, missing, committable };
}
