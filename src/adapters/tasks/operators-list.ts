import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { ListChange } from "../../core/plan-checks.ts";
import { RalphError } from "../../core/errors.ts";
import type { FieldEdit } from "../../core/review/story-review.ts";
import type { OperatorsList, PutBackRequest } from "../../engine/ports.ts";
import { sealed, unsealed } from "../store/stored-rows.ts";
import { removeAbandonedIn, writeFileAtomically } from "../process/atomic-file.ts";
import { namesIn } from "../process/look-at.ts";
import { safePath } from "../process/safe-path.ts";

export interface ListPlace {
  readonly root: string;
  /** Relative to the root. */
  readonly path: string;
  /** A folder of ours, out of the agent's way; who only reads or marks the list needs none. */
  readonly keepIn?: string | undefined;
}

/** What the guard has to know of the format. */
export interface GuardedFormat {
  /** What leads from one version to the other; none where they say the same. Throws `bad-tasks`. */
  compare(before: Buffer, after: Buffer): readonly ListChange[];
  readonly stories?: StoriesFormat | undefined;
}

/** Of a file with stories: what is in it, undefined when it cannot be read; and the file with fields set. */
export interface StoriesFormat {
  read(file: Buffer): unknown;
  edit(file: Buffer, path: string, edits: readonly FieldEdit[]): Buffer;
}

interface KeptFile {
  readonly is: "file";
  readonly link: string | null;
  readonly bytes: Buffer;
}

/** What stands in the list's place. */
type Version =
  | KeptFile
  /** Nothing, or nothing that can be read; `what` an agent did that made it so. */
  | { readonly is: "gone"; readonly what: string };

/** Keeps a list before an agent starts, and puts it back byte for byte when the agent is gone. */
export function guardList(place: ListPlace, format: GuardedFormat): OperatorsList {
  return {
    keep: async () => {
      const guard = guardAt(place);
      const now = look(guard);
      rmSync(guard.after, { force: true });
      if (now.is === "gone") rmSync(guard.kept, { force: true });
      else write(guard.kept, packed(guard, now));
    },
    see: async (written) => (written === null || isAmong(place, written)) && see(guardAt(place)),
    putBack: async (request) => undo(guardAt(place), request, format),
    read: async () => storiesIn(look(place), format),
  };
}

/** Keeps what the agent made of the file. What is no file is taken away at once: nobody must take it for work. */
function see(guard: Guard): boolean {
  const kept = readVersion(guard.kept);
  const now = look(guard);
  // Put back already, before the run that goes on began: then what the agent made of it is kept, too.
  if (kept === null || isSame(now, kept)) return false;
  write(guard.after, packed(guard, now));
  if (now.is === "gone") putInPlace(guard, kept);
  return now.is === "gone";
}

function undo(
  guard: Guard,
  { iteration, settle }: PutBackRequest,
  format: GuardedFormat,
): readonly ListChange[] {
  const versionAt = (which: "before" | "after"): string => versionName(guard.folder, iteration, which);
  for (;;) {
    const kept = readVersion(guard.kept);
    if (kept?.is !== "file") return [];
    const seen = readVersion(guard.after);
    const edits = settle?.(storiesIn(seen ?? kept, format)) ?? [];
    if (seen === null) return [];
    const target = { ...kept, bytes: format.stories?.edit(kept.bytes, guard.path, edits) ?? kept.bytes };
    const now = look(guard);
    // A person may have edited it since; whoever cannot be told apart is in the proposal.
    const after = isSame(now, target) || isSame(now, kept) ? seen : now;
    const changes = changesBetween(target, after, format);
    write(guard.after, packed(guard, after));
    if (changes.length > 0) {
      write(versionAt("before"), target.bytes);
      if (after.is === "file") write(versionAt("after"), after.bytes);
      else rmSync(versionAt("after"), { force: true });
    }
    putInPlace(guard, target);
    const again = readVersion(guard.kept);
    // A person's command has edited it meanwhile.
    if (again !== null && isSame(again, kept)) return changes;
  }
}

function storiesIn(version: Version, { stories }: GuardedFormat): unknown {
  return version.is === "file" ? stories?.read(version.bytes) : undefined;
}

function changesBetween(before: KeptFile, after: Version, format: GuardedFormat): readonly ListChange[] {
  if (after.is === "gone") return [{ is: "other", what: after.what }];
  const isLink = after.link !== before.link;
  const link: readonly ListChange[] = isLink ? [{ is: "other", what: "replaced the file by a link" }] : [];
  if (after.bytes.equals(before.bytes)) return link;
  try {
    return [...link, ...format.compare(before.bytes, after.bytes)];
  } catch (error) {
    if (!(error instanceof RalphError && ["bad-tasks", "no-tasks"].includes(error.code))) throw error;
    return [...link, { is: "other", what: `made the list unusable (${error.message})` }];
  }
}

interface Lists {
  readonly root: string;
  readonly stateFolder: string;
}

/** Whether a list is not what was kept of it; only while an agent works does that say something. */
export function areListsTouched(lists: Lists): boolean {
  return touched(lists).length > 0;
}

/** Puts lists back that an agent may have changed when its Ralph was killed; the facts about it follow with the next run. */
export function restoreLists(lists: Lists): void {
  for (const { guard, kept, now } of touched(lists)) {
    write(guard.after, packed(guard, now));
    putInPlace(guard, kept);
  }
}

interface Touched {
  readonly guard: Guard;
  readonly kept: Version;
  readonly now: Version;
}

function touched({ root, stateFolder }: Lists): readonly Touched[] {
  const newest = Math.max(...namesIn(join(stateFolder, "proposals")).map(Number));
  // A killed process was writing here, if anywhere.
  for (const folder of ["list", join("proposals", String(newest))])
    removeAbandonedIn(join(stateFolder, folder));
  return namesIn(join(stateFolder, "list")).flatMap((name): readonly Touched[] => {
    const there = name.endsWith(KEPT) ? unpacked(readIfThere(join(stateFolder, "list", name))) : null;
    if (there === null || there.root !== realRoot(root)) return [];
    const guard = guardAt({ root, path: there.path, keepIn: stateFolder });
    const now = look(guard);
    return isSame(now, there.version) ? [] : [{ guard, kept: there.version, now }];
  });
}

/** What comes back when the agent is gone. */
export function readKept(place: ListPlace): Buffer | null {
  const kept = readVersion(guardAt(place).kept);
  return kept?.is === "file" ? kept.bytes : null;
}

/** A person's command edits the list while an agent works: what comes back is edited, too. */
export function editKept(place: ListPlace, change: (file: Buffer) => Buffer | null): void {
  const guard = guardAt(place);
  const kept = readVersion(guard.kept);
  const bytes = kept?.is === "file" ? change(kept.bytes) : null;
  if (kept?.is === "file" && bytes !== null) write(guard.kept, packed(guard, { ...kept, bytes }));
}

export interface ProposedVersions {
  readonly before: Buffer;
  /** Null: the agent left no file. */
  readonly after: Buffer | null;
}

export function readProposal(stateFolder: string, iteration: number): ProposedVersions | null {
  const before = readIfThere(versionName(stateFolder, iteration, "before"));
  return before && { before, after: readIfThere(versionName(stateFolder, iteration, "after")) };
}

interface Guard {
  readonly root: string;
  readonly path: string;
  /** Where versions of the list are kept, in the files that follow. */
  readonly folder: string;
  readonly kept: string;
  readonly after: string;
}

const KEPT = ".kept";

function guardAt({ root, path, keepIn: folder }: ListPlace): Guard {
  if (folder === undefined) throw new Error(`there is no folder to keep ${path} in`);
  const key = createHash("sha256")
    .update(`${realRoot(root)}\0${path}`)
    .digest("hex")
    .slice(0, 16);
  const name = join(folder, "list", key);
  return { root, path, folder, kept: `${name}${KEPT}`, after: `${name}.after` };
}

function versionName(folder: string, iteration: number, which: "before" | "after"): string {
  return join(folder, "proposals", String(iteration), which);
}

function realRoot(root: string): string {
  return existsSync(root) ? realpathSync(root) : root;
}

/** Whether one of the files is the list, under whatever name. */
function isAmong({ root, path }: ListPlace, written: readonly string[]): boolean {
  const list = statSync(join(root, path), { throwIfNoEntry: false });
  return written.some((name) => {
    if (name === path || list === undefined) return true;
    const file = statSync(join(root, name), { throwIfNoEntry: false });
    return file !== undefined && file.ino === list.ino && file.dev === list.dev;
  });
}

function look({ root, path }: ListPlace): Version {
  const there = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (there === undefined) return { is: "gone", what: "deleted the file" };
  const link = there.isSymbolicLink() ? readlinkSync(join(root, path)) : null;
  const what = link === null ? "put something else in the place of the file" : "replaced the file by a link";
  try {
    const real = safePath(root, path);
    return statSync(real).isFile() ? { is: "file", link, bytes: readFileSync(real) } : { is: "gone", what };
  } catch {
    return { is: "gone", what }; // it leads nowhere, or outside
  }
}

function isSame(a: Version, b: Version): boolean {
  return a.is === "file" && b.is === "file" && a.link === b.link && a.bytes.equals(b.bytes);
}

/** Writes it where it was, whatever stands there now. */
function putInPlace({ root, path, folder }: Guard, version: Version): void {
  if (version.is === "gone") return;
  const place = join(root, path);
  clearWay(root, dirname(path), folder);
  const there = lstatSync(place, { throwIfNoEntry: false });
  const link = there?.isSymbolicLink() === true ? readlinkSync(place) : null;
  if (there !== undefined && link === null && !there.isFile()) setAside(place, folder);
  else if (link !== version.link) rmSync(place, { force: true });
  if (version.link !== null && link !== version.link) symlinkSync(version.link, place);
  write(version.link === null ? place : safePath(root, path), version.bytes);
}

/** The folders above it are folders again. */
function clearWay(root: string, above: string, folder: string): void {
  const parts = above === "." ? [] : above.split("/");
  for (const [at] of parts.entries()) {
    const path = join(...parts.slice(0, at + 1));
    const there = lstatSync(join(root, path), { throwIfNoEntry: false });
    const isWrong = there?.isSymbolicLink() === true ? !leadsInside(root, path) : !there?.isDirectory();
    if (there !== undefined && isWrong) setAside(join(root, path), folder);
  }
  mkdirSync(join(root, above), { recursive: true });
}

function leadsInside(root: string, path: string): boolean {
  try {
    return existsSync(safePath(root, path));
  } catch {
    return false;
  }
}

interface Packed {
  readonly root: string;
  readonly path: string;
  readonly version: Version;
}

/** One line that says what it is, and the bytes: one file, so that it is there as a whole or not at all. */
function packed({ root, path }: ListPlace, version: Version): Buffer {
  const bytes = version.is === "file" ? version.bytes : Buffer.alloc(0);
  const header = { root: realRoot(root), path, version: { ...version, bytes: undefined } };
  return Buffer.concat([Buffer.from(`${sealed(JSON.stringify(header), crc32(bytes))}\n`), bytes]);
}

/** Null as well when it is damaged: a list is left as it is rather than made a wrong one. */
function unpacked(file: Buffer | null): Packed | null {
  if (file === null) return null;
  const end = file.indexOf("\n");
  const bytes = file.subarray(end + 1);
  try {
    const header = JSON.parse(unsealed(file.toString("utf8", 0, end), crc32(bytes))) as Packed;
    const { version } = header;
    return version.is === "gone" ? header : { ...header, version: { ...version, bytes } };
  } catch {
    return null;
  }
}

function readVersion(name: string): Version | null {
  return unpacked(readIfThere(name))?.version ?? null;
}

function write(path: string, bytes: Buffer): void {
  if (readIfThere(path)?.equals(bytes) === true) return;
  // The list is copied as it is, with whatever secret somebody wrote into it.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileAtomically(path, bytes);
}

/** Takes whatever stands there out of the work tree. */
function setAside(path: string, folder: string): void {
  const name = `${Date.now()}-${createHash("sha256").update(path).digest("hex").slice(0, 8)}`;
  mkdirSync(join(folder, "set-aside"), { recursive: true });
  try {
    renameSync(path, join(folder, "set-aside", name));
  } catch {
    renameSync(path, `${path}.set-aside-${Date.now()}`); // another disk
  }
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
