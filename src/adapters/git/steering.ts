import {
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { RalphError } from "../../core/errors.ts";
import { bytesAt, entriesIn, statsAt } from "../process/look-at.ts";
import type { OpenRepository, Repository } from "./find-repository.ts";
import { blobName, guard, recordsIn, runGitAtOnce, textOf } from "./git.ts";

/** The part of a git directory that decides which programs git starts and what it sees, as it was before an agent. */
interface Steering {
  readonly files: Map<string, Buffer | null>;
  readonly links: ReadonlyMap<string, string>;
  readonly replaced: ReadonlySet<string>;
  readonly isBisecting: boolean;
  /** Checkouts in which an agent is at work, or was and nobody has collected what it did. */
  readonly holders: Set<string>;
  /** What was undone, for whoever collects next. */
  readonly undone: string[];
}

/** By git directory. While any agent of ours is at work there, what it has is what the operator gave it. */
const kept = new Map<string, Steering>();

type GitDirectories = Pick<Repository, "gitDir" | "commonDir">;

/** Remembers what steers git, before an agent begins in this checkout. */
export function keepSteering({ gitDir, commonDir }: GitDirectories): void {
  guard.beforeGit = undoSteering;
  for (const dir of new Set([gitDir, commonDir])) {
    const known = kept.get(dir);
    known?.holders.delete(gitDir);
    if (known === undefined || known.holders.size === 0) kept.set(dir, readSteering(dir));
    kept.get(dir)?.holders.add(gitDir);
  }
}

/** Undoes what has changed since, ends the watch of this checkout, and says what was undone. */
export function takeUndone({ gitDir, commonDir }: GitDirectories): readonly string[] {
  const dirs = [...new Set([gitDir, commonDir])];
  undoSteering(dirs);
  return dirs.flatMap((dir) => {
    const steering = kept.get(dir);
    if (steering?.isBisecting === false) endBisection(dir);
    steering?.holders.delete(gitDir);
    if (steering?.holders.size === 0) kept.delete(dir);
    return steering?.undone.splice(0) ?? [];
  });
}

function isBisecting(dir: string): boolean {
  return statsAt(join(dir, "BISECT_START")) !== null;
}

/** One that an agent has left open would hold the branch where it is. */
function endBisection(dir: string): void {
  if (!isBisecting(dir)) return;
  const files = entriesIn(dir).filter(({ name }) => name.startsWith("BISECT_"));
  for (const { name } of files) rmSync(join(dir, name), { force: true });
  rmSync(join(dir, "refs", "bisect"), { recursive: true, force: true });
}

/** What keeps an agent in a sandbox from making these files, and is as good as none of them. */
export const PLACEHOLDERS: ReadonlyMap<string, string> = new Map([
  ["commondir", ".\n"],
  ["config.worktree", ""],
  ["objects/info/alternates", ""],
]);

/** Takes away those that a killed process has left. */
export function removePlaceholders({ gitDir, commonDir }: GitDirectories): void {
  for (const dir of new Set([gitDir, commonDir]))
    for (const [name, text] of PLACEHOLDERS)
      if (bytesAt(join(dir, name))?.toString() === text) rmSync(join(dir, name));
}

/** Before every git that we start: it never reads what an agent has put there. Plain looks, unless something changed. */
function undoSteering(dirs: readonly string[]): void {
  for (const dir of dirs) {
    const steering = kept.get(dir);
    if (steering === undefined) continue;
    // An agent that removes its worktree gets another.
    if (existsSync(dir)) undoIn(dir, steering);
    else kept.delete(dir);
  }
}

/** Files that git reads, in any git directory; what is missing may be made. */
const FILES = [
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
  "info/exclude",
  "info/attributes",
  "info/sparse-checkout",
  "objects/info/alternates",
];
/** Not git's, or another checkout's. */
const APART = new Set(["ralph", "hooks", "worktrees", "modules", "lfs"]);
/** Git writes below these, through a link too. */
const WRITTEN = new Set(["refs", "logs"]);
const ALSO_WRITTEN = new Set(["objects", "info"]);

function readSteering(dir: string): Steering {
  return {
    files: new Map(FILES.map((name) => [name, bytesAt(join(dir, name))])),
    links: new Map([...linksIn(dir)].filter(([name, target]) => mayBeOperators(name, target))),
    replaced: replacedIn(dir),
    isBisecting: isBisecting(dir),
    holders: new Set(),
    undone: [],
  };
}

/** Removes links where git writes files: an agent put them there. Answers which. */
export function removeLinks(dir: string, isKept = mayBeOperators): readonly string[] {
  const strays = [...linksIn(dir)].filter(([name, target]) => !isKept(name, target));
  for (const [name, target] of strays) {
    if (FATAL.has(name))
      throw new RalphError("git-failed", `${join(dir, name)} was replaced with a link to ${target}`, {
        hint: "put back what was there; Ralph starts no git in this repository before that",
      });
    rmSync(join(dir, name), { force: true });
  }
  return strays.map(([name]) => `.git/${name} was a link`);
}

/** As `git-new-workdir` makes them, and git itself did long ago. */
function mayBeOperators(name: string, target: string): boolean {
  return SHARED.test(name) || (name === "HEAD" && target.startsWith("refs/"));
}

const SHARED = /^(?:config|refs|logs\/refs|objects|info|packed-refs|remotes|rr-cache|svn)?$/;

function undoIn(dir: string, steering: Steering): void {
  const { files, links, replaced, undone } = steering;
  undone.push(...removeLinks(dir, (name, target) => links.get(name) === target));
  for (const [name, was] of files) {
    const path = join(dir, name);
    const is = bytesAt(path);
    if (was === null && is?.toString() === PLACEHOLDERS.get(name)) continue;
    const isFile = statsAt(path)?.isFile() ?? is === null;
    if (isFile && (is === was || (is !== null && was !== null && is.equals(was)))) continue;
    const named = `.git/${name}`;
    if (IS_CONFIGURATION.test(name)) {
      const keys = changedSettings(was, is);
      if (isFile && keys.length === 0) {
        files.set(name, is);
        continue;
      }
      undone.push(...keys.filter((key) => !SILENT.test(key)).map((key) => `${named}: ${key}`));
    } else undone.push(named);
    if (!isFile || was === null) rmSync(path, { recursive: true, force: true });
    // Not by another file in its place: in a running sandbox this one is covered, and another would not be.
    if (was !== null) writeFileSync(path, was);
  }
  for (const ref of replacedIn(dir)) {
    if (replaced.has(ref)) continue;
    rmSync(join(dir, "refs", "replace", ref), { recursive: true, force: true });
    undone.push(`refs/replace/${ref}`);
  }
}

/** Without these there is nothing that git could go on with. */
const FATAL = new Set(["", "HEAD", "index", "packed-refs", "refs", "objects", "config"]);
const IS_CONFIGURATION = /^config/;
/** Settings by which git starts programs, overlooks changes, sees other contents than those on the disk, or goes elsewhere. */
const STEERS = new RegExp(
  `^(?:${[
    "core\\.(?!(?:editor|pager|quotepath|abbrev|commentchar|longpaths|logallrefupdates|repositoryformatversion)$).+",
    "extensions\\.(?!(?:objectformat|compatobjectformat|refstorage)$).+",
    "(?:include|includeif|filter|diff|credential|http|protocol|url|gpg|ssh|index|lfs|feature|receive|uploadpack|transfer|status|log|trace2)\\..+",
    "merge\\..+\\.driver",
    "submodule\\.(?:.+\\.)?(?:ignore|update|recurse)",
    "remote\\..+\\.(?!(?:url|fetch|pushurl|tagopt|prune|gh-resolved)$)[^.]+",
    "(?:commit|tag|push)\\.gpgsign",
    "(?:fetch|push)\\.recursesubmodules",
    "gc\\.recentobjectshook",
    "(?:trailer|man|browser|guitool|mergetool|difftool|sendemail|sequence)\\..+",
  ].join("|")})$`,
);
/** Many a tool sets this for a person's commits when it is installed. */
const SILENT = /^core\.hookspath$/;

function changedSettings(was: Buffer | null, is: Buffer | null): readonly string[] {
  const [old, now] = [settingsIn(was), settingsIn(is)];
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    (key) => STEERS.test(key) && old.get(key)?.join("\0") !== now.get(key)?.join("\0"),
  );
}

function settingsIn(bytes: Buffer | null): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, string[]>();
  if (bytes === null) return settings;
  const args = ["config", "--file", "-", "--no-includes", "--list", "-z"];
  // In no repository: nothing but these bytes is read.
  const { stdout, code } = runGitAtOnce(args, { cwd: "/", input: bytes });
  // What git cannot read is not what was there.
  if (code !== 0) settings.set("core.unreadable", [String(code)]);
  for (const entry of stdout.split("\0").filter(Boolean)) {
    const [key = "", value = ""] = entry.split(/\n([^]*)/);
    settings.set(key.toLowerCase(), [...(settings.get(key.toLowerCase()) ?? []), value]);
  }
  return settings;
}

/** Links where git writes files, by their names below the directory; the directory itself has none. */
function linksIn(dir: string): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  const look = (name: string, below: "all" | "one" | "top"): void => {
    for (const entry of entriesIn(join(dir, name))) {
      const path = name === "" ? entry.name : `${name}/${entry.name}`;
      if (below === "top" && APART.has(entry.name)) continue;
      if (entry.isSymbolicLink()) links.set(path, targetOf(join(dir, path)));
      else if (!entry.isDirectory()) continue;
      else if (below === "all" || WRITTEN.has(path)) look(path, "all");
      else if (ALSO_WRITTEN.has(path)) look(path, "one");
    }
  };
  if (statsAt(dir)?.isSymbolicLink() === true) links.set("", targetOf(dir));
  look("", "top");
  return links;
}

function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // gone meanwhile
  }
}

function replacedIn(dir: string): ReadonlySet<string> {
  return new Set(entriesIn(join(dir, "refs", "replace")).map(({ name }) => name));
}

/** Paths of the index at which git does not look, by the letter that `ls-files -v` gives them. */
export type IndexFlags = ReadonlyMap<string, string>;

export async function readIndexFlags({ git }: OpenRepository): Promise<IndexFlags> {
  const listed = recordsIn((await git.run(["ls-files", "-v", "-z"])).stdout);
  const isFlagged = ([letter = ""]: string): boolean => letter === "S" || letter !== letter.toUpperCase();
  return new Map(listed.filter(isFlagged).map((record) => [record.slice(2), record[0] ?? ""]));
}

/** Clears flags that were not there before; files that are missing because of them come back. */
export async function clearIndexFlags(
  repository: OpenRepository,
  before: IndexFlags,
): Promise<readonly string[]> {
  const { git, root } = repository;
  const fresh = [...(await readIndexFlags(repository))].filter(([path]) => !before.has(path));
  if (fresh.length === 0) return [];
  const paths = fresh.map(([path]) => path);
  const input = `${paths.join("\0")}\0`;
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"])
    await git.must(["update-index", flag, "-z", "--stdin"], { input });
  const missing = fresh
    .filter(([path, letter]) => letter.toUpperCase() === "S" && !existsSync(join(root, textOf(path))))
    .map(([path]) => `${path}\0`);
  if (missing.length > 0) await git.must(["checkout-index", "-z", "--stdin"], { input: missing.join("") });
  return paths.map((path) => `index flag of ${textOf(path)}`);
}

/** A file of the index, when it was written or renamed last, as git saw it, and how long it was. */
const ENTRY = /100\d+ (\w+) 0\t([^\0]*)\0 +ctime: (\d+):[^]*?size: (\d+)\tflags: \w+\n/g;
const COARSEST_MS = 2_500;

/**
 * Whether the index may say of a file that was written since that it is what it is not: one that was added through a
 * filter looks unchanged by its size and dates, whatever has become of the filter. Git then reads all files again.
 */
export async function forgetFileTimes(
  { git, gitDir, root }: OpenRepository,
  since: number,
): Promise<boolean> {
  const entries = (await git.must(["ls-files", "--stage", "--debug", "-z"])).matchAll(ENTRY);
  const isFalse = ([, oid = "", bytes = "", changedS, size]: RegExpExecArray): boolean => {
    if (Number(changedS) * 1_000 < since - COARSEST_MS) return false;
    const path = join(root, textOf(bytes));
    try {
      const stats = lstatSync(path);
      const isAsNoted = stats.size === Number(size) && Math.floor(stats.ctimeMs / 1_000) === Number(changedS);
      return isAsNoted && blobName(readFileSync(path), oid) !== oid;
    } catch {
      return false; // gone, or not to be read: git says which
    }
  };
  if (![...entries].some(isFalse)) return false;
  // Git reads what is younger than its index.
  utimesSync(join(gitDir, "index"), 1, 1);
  return true;
}
