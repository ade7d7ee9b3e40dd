import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { z } from "zod";
import { PATHS_KEPT } from "../../../core/verdict/evidence.ts";
import type { CollectRequest } from "../../../engine/ports.ts";
import { fileError, systemCode, writeFileAtomically } from "../../process/atomic-file.ts";
import { statsAt } from "../../process/look-at.ts";
import { bytePath, bytesOf, textOf } from "../git.ts";
import {
  type Change,
  type Env,
  listFiles,
  setEntries,
  SUBMODULE_MODE,
  type TreeEntry,
  withOwnIndex,
} from "../tree-entries.ts";
import { readHead } from "../read-head.ts";
import { commitMessage } from "../write-commit.ts";
import { namedBy, type Checkout, type Owners } from "./checkout.ts";
import { commitIndex, isMerging } from "./commit-leftovers.ts";
import { isUntouched, othersLeftovers, readLeftovers, type SortedLeftovers } from "./read-leftovers.ts";

const CONTENT = z.discriminatedUnion("is", [
  z.object({
    is: z.literal("file"),
    bytes: z.codec(z.base64(), z.instanceof(Buffer), {
      decode: (text) => Buffer.from(text, "base64"),
      encode: (bytes) => bytes.toString("base64"),
    }),
    mode: z.int().min(0).max(0o777),
  }),
  z.object({ is: z.literal("link"), target: z.string() }),
  // A folder, or what cannot or need not be read, is other.
  z.object({ is: z.enum(["missing", "other"]) }),
]);

type Content = z.output<typeof CONTENT>;

/** The configuration as it was when an iteration began. It may be uncommitted, so git cannot tell. */
export interface KeptFiles {
  readonly files: ReadonlyMap<string, Content>;
  /** Iterations whose put-back was recorded since; any other record that is there is not ours. */
  readonly recorded: Set<number>;
}

export function keepFiles(checkout: Checkout): KeptFiles {
  const { root } = checkout;
  const paths = configurationPaths(checkout, null);
  return { files: new Map(paths.map((path) => [path, contentAt(root, path)])), recorded: new Set() };
}

const SPECFLOW = ".specflow/config.yaml";
const OWN_FILES = ["ralph.toml", "ralph.json", "config.yaml", "prd.md"];
const BYTES_MAX = 1024 * 1024;
const NAMES_MAX = 200;

/** Where configuration is, was or could be, relative to the root. */
function configurationPaths(
  { root, ralphPrefix }: Checkout,
  kept: KeptFiles["files"] | null,
): readonly string[] {
  const known = [...(kept?.keys() ?? [])].filter((path) => isConfiguration(path, ralphPrefix));
  if (ralphPrefix === null) return [...new Set([SPECFLOW, ...known])];
  const prompts = `${ralphPrefix}prompts/`;
  const own = OWN_FILES.map((name) => ralphPrefix + name);
  const named = namesIn(root, prompts).map((name) => prompts + name);
  return [...new Set([SPECFLOW, ...own, ...named, ...known])];
}

/** The same as patterns, from the root. */
export function configurationGlobs(ralphPrefix: string | null): readonly string[] {
  const own = ralphPrefix === null ? [] : [...OWN_FILES, "prompts/*"];
  return [`/${SPECFLOW}`, ...own.map((name) => `/${ralphPrefix}${name}`)];
}

function isConfiguration(path: string, ralphPrefix: string | null): boolean {
  if (path === SPECFLOW) return true;
  if (ralphPrefix === null || !path.startsWith(ralphPrefix)) return false;
  const name = path.slice(ralphPrefix.length);
  return OWN_FILES.includes(name) || /^prompts\/(?!\.\.?$)[^/]+$/.test(name);
}

export function contentAt(root: string, path: string): Content {
  const place = join(root, path);
  try {
    if (isBeyondLink(root, path)) return { is: existsSync(place) ? "other" : "missing" };
    const stats = lstatSync(place);
    if (stats.isSymbolicLink()) return { is: "link", target: readlinkSync(place) };
    if (!stats.isFile() || stats.size > BYTES_MAX) return { is: "other" };
    return { is: "file", bytes: readFileSync(place), mode: stats.mode & 0o777 };
  } catch (error) {
    // Anything else makes it unreadable, which is not the same as gone.
    return { is: ["ENOENT", "ENOTDIR"].includes(systemCode(error)) ? "missing" : "other" };
  }
}

function isSameContent(a: Content, b: Content): boolean {
  if (a.is === "file" && b.is === "file") return a.mode === b.mode && a.bytes.equals(b.bytes);
  if (a.is === "link" && b.is === "link") return a.target === b.target;
  return a.is === b.is;
}

/** What lies beyond a link is not at this path. */
function isBeyondLink(root: string, path: string): boolean {
  for (let at = posix.dirname(path); at !== "."; at = posix.dirname(at)) {
    if (lstatSync(join(root, at)).isSymbolicLink()) return true;
  }
  return false;
}

function namesIn(root: string, folder: string): readonly string[] {
  try {
    if (isBeyondLink(root, posix.join(folder, "x"))) return [];
    return readdirSync(join(root, folder)).slice(0, NAMES_MAX);
  } catch {
    return []; // no prompts of the operator's own
  }
}

interface PutBackOptions extends Pick<Owners, "whose"> {
  /** Null when this process did not see the iteration begin. */
  readonly kept: KeptFiles | null;
  readonly onRefusal: (words: string) => void;
}

/**
 * One look at the work tree. Protected files that are not what they were are put back, committed if the agent had
 * committed them; its own versions are kept aside. Answers what is uncommitted afterwards, too.
 */
export async function putBackProtected(
  checkout: Checkout,
  request: CollectRequest,
  { whose, kept, onRefusal }: PutBackOptions,
): Promise<{ readonly putBack: readonly string[]; readonly left: SortedLeftovers }> {
  const { git, readChanges } = checkout;
  const { run, iteration, from } = request;
  const { head } = await readHead(checkout, git);
  const [left, inCommits] = await Promise.all([
    readLeftovers(checkout, whose),
    head === null ? new Map<string, Change>() : readChanges(from.head, head),
  ]);
  const isOurRecord = kept === null || kept.recorded.has(iteration);
  const record = isOurRecord ? readRecord(checkout, request) : null;
  const look: Look = { left, inCommits, whose, kept: kept?.files ?? record?.kept ?? null };
  const found = findTampered(checkout, request, look);
  const inBase = found.length > 0 && from.head !== null ? await listFiles(git, from.head) : new Map();
  const items = found.flatMap((item): readonly Item[] => {
    const entry = inBase?.get(item.bytes) ?? null;
    // A commit that is gone tells nothing, and a submodule's own files are another repository's.
    const isPossible = item.was !== null || (inBase !== null && entry?.mode !== SUBMODULE_MODE);
    return isPossible ? [{ ...item, entry }] : [];
  });
  const putBack = new Set([
    ...(record?.paths ?? []),
    ...items.map(({ bytes }) => textOf(bytes).replace(/\/$/, "")),
  ]);
  const answer = [...putBack].toSorted().slice(0, PATHS_KEPT);
  if (items.length === 0) return { putBack: answer, left };
  writeRecord(checkout, { run, iteration, paths: [...putBack], kept: look.kept && [...look.kept] });
  kept?.recorded.add(iteration);
  await restore(checkout, iteration, items);
  await commitPutBack(checkout, request, items, onRefusal);
  return { putBack: answer, left: await readLeftovers(checkout, whose) };
}

/** A protected path that is not what it was when the iteration began. */
interface Tampered {
  /** As git writes it. */
  readonly bytes: string;
  /** What it was; null when git knows. */
  readonly was: Content | null;
  readonly isCommitted: boolean;
  readonly isStaged: boolean;
}

interface Item extends Tampered {
  /** What git had there when the iteration began. */
  readonly entry: TreeEntry | null;
}

interface Look extends Pick<Owners, "whose"> {
  readonly left: SortedLeftovers;
  /** What the commits of the iteration changed. */
  readonly inCommits: ReadonlyMap<string, Change>;
  /** The configuration as it was; null when nobody knows. */
  readonly kept: KeptFiles["files"] | null;
}

function findTampered(checkout: Checkout, request: CollectRequest, look: Look): readonly Tampered[] {
  const { root, ralphPrefix } = checkout;
  const { left, inCommits, whose, kept } = look;
  const isOld = isUntouched(root, request.leftBefore);
  const isOperators = namedBy([...request.leaveAlone, ...request.ignore]);
  const others = othersLeftovers(left);
  const dirty = new Map([...others, ...left.ours].map((entry) => [entry.bytes, entry]));
  /** Of our own folder only the configuration is protected: the rest is ours to write, or everybody's. */
  const isApart = (path: string): boolean =>
    (ralphPrefix !== null && path.startsWith(ralphPrefix)) ||
    (kept !== null && isConfiguration(path, ralphPrefix));
  const isMeant = (path: string): boolean => request.isProtected(path) && !isApart(path);
  const found = new Map<string, Content | null>();
  for (const { bytes, path } of others) if (isMeant(path) && !isOld(path)) found.set(bytes, null);
  for (const bytes of inCommits.keys())
    if (isMeant(textOf(bytes)) && whose(textOf(bytes)) !== "ours") found.set(bytes, null);
  for (const path of configurationPaths(checkout, kept)) {
    if (!isApart(path) || !request.isProtected(path) || isOperators(path)) continue;
    const bytes = bytesOf(path);
    const [entry, committed] = [dirty.get(bytes), inCommits.get(bytes)];
    if (kept === null) {
      // One that is uncommitted may be the operator's. What is gone, or was committed over what git had, is not.
      if ((committed?.before ?? null) !== null || entry?.missing === true) found.set(bytes, null);
      continue;
    }
    const was = kept.get(path) ?? { is: "missing" };
    // What git has of it now is neither what it had nor what lies there.
    const isOtherInGit = committed !== undefined && entry !== undefined;
    if (was.is !== "other" && (isOtherInGit || !isSameContent(was, contentAt(root, path))))
      found.set(bytes, was);
  }
  return [...found].map(([bytes, was]) => {
    const entry = dirty.get(bytes);
    const isStaged = entry !== undefined && (entry.staged || entry.is === "conflict");
    return { bytes, was, isCommitted: inCommits.has(bytes), isStaged };
  });
}

async function restore(checkout: Checkout, iteration: number, items: readonly Item[]): Promise<void> {
  const { git, root } = checkout;
  for (const { bytes } of items) takeAside(checkout, iteration, bytes);
  for (const { bytes, was } of items) if (was !== null) write(join(root, textOf(bytes)), was);
  const fromGit = items.filter(({ was, entry }) => was === null && entry !== null);
  if (fromGit.length > 0) {
    await withOwnIndex(checkout, async (env) => {
      await git.must(["read-tree", "--empty"], { env });
      await setItems(checkout, fromGit, env);
      await git.must(["checkout-index", "--force", "--all"], { env });
    });
  }
  for (const { bytes } of items) removeEmptyFolders(root, bytes);
  const inIndex = items.filter((item) => item.isStaged || item.isCommitted);
  if (inIndex.length > 0) await setItems(checkout, inIndex);
}

/** Also a path that the configuration's owner has changed is committed as git had it. */
async function commitPutBack(
  checkout: Checkout,
  request: CollectRequest,
  items: readonly Item[],
  onRefusal: (words: string) => void,
): Promise<void> {
  const committed = items.filter((item) => item.isCommitted);
  // In the middle of a merge a commit would be the merge's; what is in the index goes with it.
  if (committed.length === 0 || isMerging(checkout)) return;
  await withOwnIndex(checkout, async (env) => {
    await checkout.git.must(["read-tree", "HEAD"], { env });
    await setItems(checkout, committed, env);
    const message = commitMessage(request, "put back protected files");
    await commitIndex(checkout, { message, hooks: request.hooks, env, onRefusal });
  });
}

async function setItems({ git }: Checkout, items: readonly Item[], env: Env = {}): Promise<void> {
  const sibling = items.find(({ entry }) => entry !== null)?.entry?.oid;
  const entries = items.map(({ bytes, entry }) => [bytes, entry] as const);
  await setEntries(git, entries, sibling ?? (await git.must(["hash-object", "/dev/null"])).trim(), env);
}

/** Written before anything is put back, so that a process that dies in between leaves all that the next one needs. */
const RECORD = z.object({
  run: z.string(),
  iteration: z.number(),
  paths: z.array(z.string()),
  /** Null when the process that wrote it did not see the iteration begin. */
  kept: z.array(z.tuple([z.string(), CONTENT])).nullable(),
});

interface PutBackRecord {
  readonly paths: readonly string[];
  readonly kept: KeptFiles["files"] | null;
}

/** Null when there is none of this very iteration. */
function readRecord(
  { ralphDir }: Checkout,
  { run, iteration, isProtected }: CollectRequest,
): PutBackRecord | null {
  const path = join(ralphDir, "logs", "put-back", `${asideName(iteration)}.json`);
  try {
    if (!lstatSync(path).isFile()) return null;
    const record = RECORD.decode(JSON.parse(readFileSync(path, "utf8")) as z.input<typeof RECORD>);
    if (record.run !== run || record.iteration !== iteration) return null;
    return { paths: record.paths.filter(isProtected), kept: record.kept && new Map(record.kept) };
  } catch {
    return null; // none, or somebody else's
  }
}

function writeRecord(checkout: Checkout, record: z.output<typeof RECORD>): void {
  const path = join(makeAsideFolder(checkout), `${asideName(record.iteration)}.json`);
  if (statsAt(path)?.isFile() !== true) rmSync(path, { recursive: true, force: true });
  writeFileAtomically(path, `${JSON.stringify(RECORD.encode(record))}\n`);
}

function asideName(iteration: number): string {
  return `iteration-${String(iteration).padStart(3, "0")}`;
}

/** Where the agent's versions go: `logs/put-back/` in our folder. No link is ever followed. */
function makeAsideFolder({ root, ralphDir, ralphPrefix }: Checkout): string {
  let folder = ralphPrefix === null ? ralphDir : root;
  mkdirSync(folder, { recursive: true });
  const way = (ralphPrefix ?? "").split("/").filter((name) => name !== "");
  for (const name of [...way, "logs", "put-back"]) {
    folder = join(folder, name);
    makeFolder(folder);
  }
  return folder;
}

/** Takes whatever is at git's path out of the work tree, or what stands in the way to it. */
function takeAside(checkout: Checkout, iteration: number, bytes: string): void {
  const { root } = checkout;
  const parts = bytes.replace(/\/$/, "").split("/");
  const path = parts.join("/");
  const way = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
  const found = way.find((one) => statsAt(bytePath(root, one))?.isDirectory() !== true) ?? path;
  const source = bytePath(root, found);
  if (statsAt(source) === null) return;
  const folder = join(makeAsideFolder(checkout), asideName(iteration));
  const target = freePlace(folder, found === path ? path : `${found}.in-the-way`);
  try {
    renameSync(source, target);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw fileError(error, textOf(found));
    cpSync(source.toString(), target.toString(), { recursive: true, verbatimSymlinks: true });
    rmSync(source, { recursive: true, force: true });
  }
}

/** A place for it that is not taken; the first version keeps the plain name. */
function freePlace(top: string, bytes: string): Buffer {
  let folder = "";
  makeFolder(top);
  for (const part of posix.dirname(bytes).split("/")) {
    const isTaken = statsAt(bytePath(top, posix.join(folder, part)))?.isDirectory() === false;
    folder = posix.join(folder, isTaken ? `${part}~folder` : part);
    makeFolder(bytePath(top, folder));
  }
  for (let number = 1; ; number += 1) {
    const name = posix.basename(bytes);
    const path = bytePath(top, posix.join(folder, number === 1 ? name : `${name}~${number}`));
    if (statsAt(path) === null) return path;
  }
}

/** Nobody but us writes there: a link or a file in its place is the agent's. */
function makeFolder(path: string | Buffer): void {
  if (statsAt(path)?.isDirectory() === true) return;
  rmSync(path, { force: true });
  mkdirSync(path);
}

/** Writes what was there; the way has been cleared. */
function write(path: string, content: Content): void {
  try {
    if (content.is === "file" || content.is === "link") mkdirSync(dirname(path), { recursive: true });
    if (content.is === "link") symlinkSync(content.target, path);
    if (content.is !== "file") return;
    writeFileAtomically(path, content.bytes);
    chmodSync(path, content.mode);
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Those above git's path. */
function removeEmptyFolders(root: string, bytes: string): void {
  for (let at = posix.dirname(bytes.replace(/\/$/, "")); at !== "."; at = posix.dirname(at)) {
    try {
      rmdirSync(bytePath(root, at));
    } catch {
      return; // not empty, or not there
    }
  }
}
