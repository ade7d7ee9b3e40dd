import { constants, lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { globMatcher } from "../../../core/glob.ts";
import type { TaskId } from "../../../core/plan.ts";
import { RalphError } from "../../../core/errors.ts";
import type { OpenedCheckout } from "../../../engine/parallel-ports.ts";
import { bytesOf, gitError, textOf } from "../git.ts";
import { fileError, systemCode, TEMPORARY_PREFIX } from "../../process/atomic-file.ts";
import { statsAt } from "../../process/look-at.ts";
import { safePath } from "../../process/safe-path.ts";
import {
  type CopiedFile,
  gitIn,
  hasIndex,
  lockOf,
  newRecord,
  readRecord,
  removeOwnLocks,
  type Site,
  unlock,
  type WorktreeRecord,
  writeRecord,
} from "./registry.ts";
import { type RegisteredWorktree } from "../find-repository.ts";
import { lookOf } from "../workspace/read-leftovers.ts";
import { runSetup, type SetupOptions } from "./run-setup.ts";

export interface ReadyOptions extends SetupOptions {
  /** Globs over untracked and ignored files of the user's checkout. */
  readonly include: readonly string[];
}

/** Files, copies, set-up: each once, and begun again if it did not come to its end. */
export async function makeReady(
  site: Site,
  worktree: RegisteredWorktree,
  task: TaskId | null,
  options: ReadyOptions,
  signal: AbortSignal,
): Promise<OpenedCheckout> {
  const { root } = worktree;
  // One that has files and no record of ours may be full of somebody's work.
  const begun = readRecord(worktree) ?? { ...newRecord(task), isFilled: !holdsOnlyLink(root) };
  writeRecord(worktree, begun);
  await fillWorktree(worktree, begun);
  let record: WorktreeRecord = { ...begun, task, isFilled: true };
  writeRecord(worktree, record);
  try {
    record = { ...record, copied: record.copied ?? (await copyIncluded(site, worktree, options.include)) };
  } catch (error) {
    if (error instanceof RalphError && error.code === "not-writable") {
      return { is: "failed", root, why: options.redact(error.message) };
    }
    throw error;
  }
  writeRecord(worktree, record);
  const why = await runSetup(worktree, record, options, signal);
  if (why !== null) return { is: "failed", root, why };
  return { is: "ready", root, copied: (record.copied ?? []).map(({ path }) => path) };
}

/**
 * Brings the files of its commit into a new worktree, and mends one that was left in the middle of something. Git
 * writes the index last: one that has it has its files, or somebody's work. Submodules stay empty, as git leaves them.
 */
async function fillWorktree(worktree: RegisteredWorktree, { isFilled }: WorktreeRecord): Promise<void> {
  if (lockOf(worktree) === "initializing") unlock(worktree);
  await removeOwnLocks(worktree);
  if (hasIndex(worktree)) return;
  await resetPatiently(worktree, isFilled ? "--mixed" : "--hard");
}

/** A git that we started may have outlived us, and still be at it: about half a minute. */
const TRIES_WHEN_LOCKED = 40;

async function resetPatiently(worktree: RegisteredWorktree, how: string): Promise<void> {
  // All processors: it is the many small files that take the time.
  const command = ["-c", "checkout.workers=0", "reset", how, "--quiet", "--no-recurse-submodules"];
  for (let tries = 1; ; tries += 1) {
    const result = await gitIn(worktree).run(command);
    if (result.code === 0) return;
    if (tries === TRIES_WHEN_LOCKED || !/index\.lock': File exists/.test(result.stderr)) {
      throw gitError(command, result);
    }
  }
}

/** Whatever is at the path is renamed. Only an empty folder, or one that holds nothing but git's link, is removed. */
export function clearTheWay(root: string): void {
  const stats = lstatSync(root, { throwIfNoEntry: false });
  if (stats === undefined) return;
  try {
    if (stats.isDirectory() && holdsOnlyLink(root)) {
      rmSync(join(root, ".git"), { force: true });
      rmdirSync(root);
    } else {
      renameSync(root, freePath(root));
    }
  } catch (error) {
    throw fileError(error, root);
  }
}

/** Nothing is checked out there. */
function holdsOnlyLink(root: string): boolean {
  return readdirSync(root, { withFileTypes: true }).every((entry) => entry.name === ".git" && entry.isFile());
}

function freePath(root: string): string {
  for (let number = 1; ; number += 1) {
    const path = `${root}~aside-${number}`;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  }
}

interface Inside {
  readonly head: string | null;
  /** Something would be lost with the worktree: changes, untracked files, or commits that are on no branch. */
  readonly isDirty: boolean;
}

/** Ignored files do not count, nor do copies of the user's that are as they were. */
export async function lookInside(worktree: RegisteredWorktree): Promise<Inside> {
  const record = readRecord(worktree);
  const isEmpty = record?.isFilled === false || holdsOnlyLink(worktree.root);
  if (isEmpty && !hasIndex(worktree)) return { head: null, isDirty: false };
  const git = gitIn(worktree);
  const { code, stdout } = await git.run(STATUS);
  if (code !== 0) return { head: null, isDirty: true }; // git cannot tell: nobody may throw it away
  const records = stdout.split("\0").filter((line) => line !== "");
  const oid = headerOf(records, "oid");
  const head = oid === null || !/^[0-9a-f]+$/.test(oid) ? null : oid;
  const isAsCopied = ({ path, stamp }: CopiedFile): boolean => lookOf(join(worktree.root, path)) === stamp;
  const copied = new Set((record?.copied ?? []).filter(isAsCopied).map(({ path }) => `? ${path}`));
  const hasChanges = records.some((line) => !line.startsWith("# ") && !copied.has(textOf(line)));
  if (hasChanges || head === null || headerOf(records, "head") !== "(detached)") {
    return { head, isDirty: hasChanges };
  }
  const holding = await git.must(["for-each-ref", "--count=1", "--contains", head]);
  return { head, isDirty: holding === "" };
}

const STATUS = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"];

function headerOf(records: readonly string[], name: string): string | null {
  const start = `# branch.${name} `;
  return records.find((line) => line.startsWith(start))?.slice(start.length) ?? null;
}

/** Copies included files without replacing any; answers which of them git does not ignore there. */
async function copyIncluded(
  site: Site,
  worktree: RegisteredWorktree,
  include: readonly string[],
): Promise<readonly CopiedFile[]> {
  const paths = await findIncluded(site, include);
  for (const path of paths) await copyOne(site.root, worktree.root, path);
  if (paths.length === 0) return [];
  const output = await gitIn(worktree).must(["ls-files", "-z", "--others", "--exclude-standard"]);
  const visible = new Set(output.split("\0").map(textOf));
  return paths
    .filter((path) => visible.has(path))
    .map((path) => ({ path, stamp: lookOf(join(worktree.root, path)) }));
}

async function copyOne(from: string, to: string, path: string): Promise<void> {
  const source = join(from, path);
  const target = join(to, path);
  const stats = statsAt(source);
  if (stats === null) return; // gone meanwhile
  try {
    const isCopied = stats.isFile() || (stats.isSymbolicLink() && (await staysInside(from, path)));
    if (!isCopied || !leadsInside(to, path) || statsAt(target) !== null) return;
    await mkdir(dirname(target), { recursive: true });
    // At once or not at all: half of a file would be taken for all of it the next time.
    const draft = join(dirname(target), `${TEMPORARY_PREFIX}copy`);
    await rm(draft, { force: true });
    if (stats.isSymbolicLink()) {
      await symlink(await readlink(source), draft);
    } else {
      await copyFile(source, draft, constants.COPYFILE_FICLONE);
      await chmod(draft, stats.mode & 0o7777);
    }
    await rename(draft, target);
  } catch (error) {
    throw copyError(error, source, target);
  }
}

/** An absolute link would lead from the worktree into the user's checkout. */
async function staysInside(root: string, path: string): Promise<boolean> {
  return !isAbsolute(await readlink(join(root, path))) && leadsInside(root, path);
}

function leadsInside(root: string, path: string): boolean {
  try {
    safePath(root, path);
    return true;
  } catch {
    return false;
  }
}

function copyError(error: unknown, source: string, target: string): unknown {
  const code = systemCode(error);
  if (code === "ENOSPC" || code === "EDQUOT") return fileError(error, target);
  return new RalphError("not-writable", `${source} could not be copied to ${target} (${code})`, {
    cause: error,
  });
}

/** Untracked files of the user's checkout that the patterns mean, ignored or not; what git tracks is in the worktree. */
async function findIncluded(
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
