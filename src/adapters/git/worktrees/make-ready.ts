import { randomUUID } from "node:crypto";
import { constants, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type { Ending } from "../../../core/streams/agent-report.ts";
import { formatDuration } from "../../../core/time.ts";
import { createOutputTail } from "../../process/line-splitter.ts";
import { sweep } from "../../process/process-sweep.ts";
import { supervise } from "../../process/supervise.ts";
import { asOwn, isAbandoned } from "../stale-locks.ts";
import { globMatcher } from "../../../core/glob.ts";
import type { TaskId } from "../../../core/plan.ts";
import { RalphError } from "../../../core/errors.ts";
import type { OpenedCheckout, WorktreeEntry } from "../../../engine/parallel-ports.ts";
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
  type WorktreeRecord,
  writeRecord,
} from "./registry.ts";
import { type RegisteredWorktree } from "../find-repository.ts";
import { readHead } from "../read-head.ts";
import { askStatus, EACH_FILE } from "../workspace/checkout.ts";
import { lookOf } from "../workspace/read-leftovers.ts";

export interface ReadyOptions {
  /** Globs over untracked and ignored files of the user's checkout. */
  readonly include: readonly string[];
  /** For the shell; nothing is run when it is empty. */
  readonly setup: string;
  readonly setupTimeoutMs?: number;
  /** What the set-up finds in its environment. Variables that lead git elsewhere are left out. */
  readonly env: NodeJS.ProcessEnv;
  readonly redact: (text: string) => string;
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
  if (lockOf(worktree) === "initializing") rmSync(join(worktree.gitDir, "locked"), { force: true });
  await removeOwnLocks(worktree);
  if (hasIndex(worktree)) return;
  // All processors: it is the many small files that take the time.
  const how = isFilled ? "--mixed" : "--hard";
  const command = ["-c", "checkout.workers=0", "reset", how, "--quiet", "--no-recurse-submodules"];
  for (let tries = 1; ; tries += 1) {
    const result = await gitIn(worktree).run(command);
    if (result.code === 0) return;
    if (tries === TRIES_WHEN_LOCKED || !/index\.lock': File exists/.test(result.stderr))
      throw gitError(command, result);
  }
}

/** A git that we started may have outlived us, and still be at it: about half a minute. */
const TRIES_WHEN_LOCKED = 40;

/** Whatever is at the path is renamed. Only an empty folder, or one that holds nothing but git's link, is removed. */
export function clearTheWay(root: string): void {
  const stats = statsAt(root);
  if (stats === null) return;
  try {
    if (stats.isDirectory() && holdsOnlyLink(root)) {
      rmSync(join(root, ".git"), { force: true });
      return rmdirSync(root);
    }
    let number = 1;
    while (statsAt(`${root}~aside-${number}`) !== null) number += 1;
    renameSync(root, `${root}~aside-${number}`);
  } catch (error) {
    throw fileError(error, root);
  }
}

/** Nothing is checked out there. */
function holdsOnlyLink(root: string): boolean {
  return readdirSync(root, { withFileTypes: true }).every((entry) => entry.name === ".git" && entry.isFile());
}

/**
 * `isDirty`: something would be lost with the worktree: changes, untracked files, or commits that are on no branch.
 * Ignored files do not count, nor do copies of the user's that are as they were.
 */
export async function lookInside(
  worktree: RegisteredWorktree,
): Promise<Pick<WorktreeEntry, "head" | "isDirty">> {
  const { root, gitDir } = worktree;
  const record = readRecord(worktree);
  const isEmpty = record?.isFilled === false || holdsOnlyLink(root);
  if (isEmpty && !hasIndex(worktree)) return { head: null, isDirty: false };
  const git = gitIn(worktree);
  const entries = await askStatus(git, EACH_FILE).catch(() => null);
  if (entries === null) return { head: null, isDirty: true }; // git cannot tell: nobody may throw it away
  const { head, branch } = await readHead({ root, gitDir, commonDir: dirname(dirname(gitDir)) }, git);
  const isAsCopied = ({ path, stamp }: CopiedFile): boolean => lookOf(join(root, path)) === stamp;
  const copied = new Set((record?.copied ?? []).filter(isAsCopied).map(({ path }) => path));
  const hasChanges = entries.some(({ is, path }) => is !== "untracked" || !copied.has(path));
  if (hasChanges || head === null || branch !== null) return { head, isDirty: hasChanges };
  const holding = await git.must(["for-each-ref", "--count=1", "--contains", head]);
  return { head, isDirty: holding === "" };
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
  const others = await gitIn(worktree).records(["ls-files", "-z", "--others", "--exclude-standard"]);
  const visible = new Set(others.map(textOf));
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
    const link = stats.isSymbolicLink() ? await readlink(source) : null;
    // An absolute link would lead from the worktree into the user's checkout.
    const isCopied = link === null ? stats.isFile() : !isAbsolute(link) && leadsInside(from, path);
    if (!isCopied || !leadsInside(to, path) || statsAt(target) !== null) return;
    await mkdir(dirname(target), { recursive: true });
    // At once or not at all: half of a file would be taken for all of it the next time.
    const draft = join(dirname(target), `${TEMPORARY_PREFIX}copy`);
    await rm(draft, { force: true });
    if (link === null) {
      await copyFile(source, draft, constants.COPYFILE_FICLONE);
      await chmod(draft, stats.mode & 0o7777);
    } else await symlink(link, draft);
    await rename(draft, target);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOSPC" || code === "EDQUOT") throw fileError(error, target);
    throw new RalphError("not-writable", `${source} could not be copied to ${target} (${code})`, {
      cause: error,
    });
  }
}

function leadsInside(root: string, path: string): boolean {
  try {
    safePath(root, path);
    return true;
  } catch {
    return false;
  }
}

/** Untracked files of the user's checkout that the patterns mean, ignored or not; what git tracks is in the worktree. */
async function findIncluded(
  { root, git }: Pick<Site, "root" | "git">,
  include: readonly string[],
): Promise<string[]> {
  if (include.length === 0) return [];
  const wanted = wantedBy(include);
  const found: string[] = [];
  for (const bytes of await git.records(["ls-files", "-z", "--others", "--directory"])) {
    const path = textOf(bytes);
    if (bytesOf(path) !== bytes) continue; // no pattern can name what is not UTF-8
    if (!path.endsWith("/")) found.push(path);
    else if (wanted.mayHold(path)) await addFiles(root, path, wanted, found);
  }
  return found.filter((path) => wanted.isMeant(path)).toSorted();
}

/** A star does not mean these: the one has a set-up that makes it, the other is a run's own. */
const ONLY_BY_NAME = ["node_modules", ".ralph"];

function wantedBy(include: readonly string[]) {
  const patterns = include.map((pattern) => ({ matches: globMatcher(pattern), parts: pattern.split("/") }));
  const candidatesFor = (path: string): typeof patterns => {
    const parts = path.split("/");
    if (parts.includes(".git")) return [];
    const special = ONLY_BY_NAME.filter((name) => parts.includes(name));
    return patterns.filter((pattern) => special.every((name) => pattern.parts.includes(name)));
  };
  return {
    isMeant: (path: string): boolean => candidatesFor(path).some(({ matches }) => matches(path)),
    mayHold: (folder: string): boolean => candidatesFor(folder).length > 0,
  };
}

async function addFiles(
  root: string,
  folder: string,
  wanted: ReturnType<typeof wantedBy>,
  found: string[],
): Promise<void> {
  // What we may not look into, a database's folder say, cannot be meant.
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) found.push(path);
    else if (wanted.mayHold(`${path}/`)) await addFiles(root, `${path}/`, wanted, found);
  }
}

/** Once for a worktree: only a success is remembered. Answers why it failed, or null. */
async function runSetup(
  worktree: RegisteredWorktree,
  record: WorktreeRecord,
  options: ReadyOptions,
  signal: AbortSignal,
): Promise<string | null> {
  await endAbandonedSetup(worktree);
  if (record.isSetUp || options.setup.trim() === "") return null;
  const marker = randomUUID();
  writeRecord(worktree, { ...record, settingUp: { marker, pid: process.pid } });
  const why = await asOwn(marker, () => runOnce(worktree.root, marker, options, signal));
  writeRecord(worktree, { ...record, isSetUp: why === null, settingUp: null });
  return why;
}

/** A process of ours that was killed leaves its set-up running. */
export async function endAbandonedSetup(worktree: RegisteredWorktree): Promise<void> {
  const record = readRecord(worktree);
  if (record?.settingUp == null) return;
  const { marker, pid } = record.settingUp;
  if (!isAbandoned(marker, pid)) return;
  await sweep(marker);
  writeRecord(worktree, { ...record, settingUp: null });
}

const TIMEOUT_MS = 15 * 60_000;
const GRACE_MS = 2_000;
const LINES_TOLD = 20;
const LENGTH_TOLD = 2_000;

async function runOnce(
  root: string,
  marker: string,
  { setup, setupTimeoutMs = TIMEOUT_MS, env, redact }: ReadyOptions,
  signal: AbortSignal,
): Promise<string | null> {
  const tail = createOutputTail();
  const { ending } = await supervise(
    {
      command: ["sh", "-c", setup],
      cwd: root,
      env: Object.fromEntries(
        Object.entries(env).flatMap(([key, value]) =>
          value === undefined || PLACE_OF_GIT.test(key) ? [] : [[key, value]],
        ),
      ),
      marker,
      timeoutMs: setupTimeoutMs,
      graceMs: GRACE_MS,
      onStdout: tail.take,
      onStderr: tail.take,
    },
    signal,
  );
  const what = whatHappened(ending);
  if (what === null) return null;
  const said = tail.text(redact).split("\n").slice(-LINES_TOLD).join("\n").slice(-LENGTH_TOLD);
  return `the set-up ${redact(JSON.stringify(setup))} ${redact(what)}${said === "" ? "" : `:\n${said}`}`;
}

function whatHappened(ending: Ending): string | null {
  switch (ending.is) {
    case "exited":
      return ending.code === 0 ? null : `failed with exit code ${ending.code}`;
    case "signalled":
      return `was ended by ${ending.signal}`;
    case "timed-out":
    case "idle":
      return `was not over after ${formatDuration(ending.afterMs)}`;
    case "stopped":
    case "interrupted":
      return "was stopped";
    case "not-started":
      return `could not be started: ${ending.message}`;
  }
}

/** In a hook, git says to all its children which repository is meant: not this one. */
const PLACE_OF_GIT =
  /^GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|(?:ALTERNATE_)?OBJECT_DIRECTOR(?:Y|IES)|NAMESPACE|PREFIX)$/;
