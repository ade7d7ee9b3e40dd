import { createHash } from "node:crypto";
import { constants, copyFileSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { OwnFolder } from "../../core/belongings.ts";
import { fileError } from "../system/file-error.ts";
import { isInside, shown, type Place } from "./place.ts";

/** Git's own files, without credentials: whoever commits needs a name, and what is to be ignored. */
const GIT_FILES = [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/**
 * The HOME of one agent in one project, in a folder of its own that lasts, so that sessions can be resumed. Answers
 * what is to be put where.
 */
export function privateHome(folder: string, home: string, owned: readonly OwnFolder[]): readonly Place[] {
  const from = join(folder, "home");
  const all = [{ path: home, shows: GIT_FILES, copies: [] }, ...owned];
  try {
    makeFolder(from);
    return [{ is: "writable", path: home, from }, ...all.flatMap((one) => placesOf(one, folder, home))];
  } catch (error) {
    throw fileError(error, folder);
  }
}

/** Only its owner may look into it. */
export function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

function placesOf({ path, shows, copies }: OwnFolder, folder: string, home: string): readonly Place[] {
  const isAtHome = isInside(path, home);
  const from = isAtHome
    ? join(folder, "home", relative(home, path))
    : join(folder, "elsewhere", nameOf(path));
  makeWithoutLinks(from, folder);
  for (const name of copies) copyIfNewer(join(path, name), join(from, name));
  const there = shows.filter((name) => isThere(join(path, name)));
  for (const name of shows) if (!there.includes(name)) removeTrace(join(from, name));
  return [
    ...(isAtHome ? [] : [{ is: "writable", path, from } as const]),
    ...there.map((name) => shown(join(path, name))),
  ];
}

/** What the agent has put there to lead us elsewhere is gone. */
function makeWithoutLinks(path: string, base: string): void {
  if (path === base) return;
  makeWithoutLinks(dirname(path), base);
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isDirectory()) rmSync(path);
  makeFolder(path);
}

function nameOf(path: string): string {
  return `${basename(path)}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
}

function copyIfNewer(original: string, copy: string): void {
  const now = statSync(original, { throwIfNoEntry: false });
  if (now?.isFile() !== true) return;
  const before = lstatSync(copy, { throwIfNoEntry: false });
  // The agent owns its copy, and may have put a link there.
  if (before?.isFile() === true && before.mtimeMs >= now.mtimeMs) return;
  const draft = `${copy}.ralph-${process.pid}`;
  rmSync(draft, { force: true, recursive: true });
  copyFileSync(original, draft, constants.COPYFILE_EXCL);
  rmSync(copy, { force: true, recursive: before?.isDirectory() === true });
  renameSync(draft, copy);
}

/** What was shown once has left an empty file in its place, which would say something else than none. */
function removeTrace(path: string): void {
  const trace = lstatSync(path, { throwIfNoEntry: false });
  if (trace?.isFile() === true && trace.size === 0) rmSync(path);
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
