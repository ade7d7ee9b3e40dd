import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { z } from "zod";
import { PATHS_KEPT } from "../../../core/verdict/evidence.ts";
import type { CollectRequest, CommitRequest } from "../../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { commitIndex, isMerging, withOwnIndex, type Env } from "./commit-leftovers.ts";
import { commitMessage } from "../commit-message.ts";
import { textOf, type Git, bytesOf } from "../git.ts";
import {
  type KeptFiles,
  type Content,
  configurationPaths,
  contentAt,
  isConfiguration,
  isSameContent,
} from "./kept-files.ts";
import { readHead } from "../read-head.ts";
import { readLeftovers, type SortedLeftovers, isUntouched } from "./read-leftovers.ts";
import type { Owner } from "./whose-path.ts";
import { fileError, writeFileAtomically } from "../../process/atomic-file.ts";
import { statsAt } from "../../process/look-at.ts";
import type { StatusEntry } from "./read-status.ts";

interface PutBackOptions {
  readonly whose: (path: string) => Owner;
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
  const { git } = checkout;
  const { head } = await readHead(checkout, git);
  const [left, inCommits] = await Promise.all([
    readLeftovers(checkout, whose),
    head === null ? new Map<string, "new" | "old">() : checkout.comparisons.names(request.from.head, head),
  ]);
  const aside = new PutAside(checkout, request);
  const isOurRecord = kept === null || kept.recorded.has(request.iteration);
  const before = isOurRecord ? readRecord(aside, request) : null;
  const look = { left, inCommits, whose, kept: kept?.files ?? before?.kept ?? null };
  const found = findTampered(checkout, request, look);
  const known = before?.paths ?? [];
  if (found.length === 0) return { putBack: answer(known), left };
  const inBase = await entriesAt(git, request.from.head, found);
  const items = found.filter((item) => isPossible(item, inBase));
  const paths = [...new Set([...known, ...items.map((item) => textOf(item.bytes).replace(/\/$/, ""))])];
  if (items.length === 0) return { putBack: answer(known), left };
  const { run, iteration } = request;
  aside.writeRecord(RECORD.encode({ run, iteration, paths, kept: look.kept && [...look.kept] }));
  kept?.recorded.add(request.iteration);
  await restore(checkout, items, inBase ?? new Map(), aside);
  await commitPutBack(checkout, request, items, inBase ?? new Map(), onRefusal);
  return { putBack: answer(paths), left: await readLeftovers(checkout, whose) };
}

function answer(paths: readonly string[]): readonly string[] {
  return paths.toSorted().slice(0, PATHS_KEPT);
}

/** What git had of the paths when the iteration began, as its index writes it; null when that commit is gone. */
async function entriesAt(git: Git, from: string | null, items: readonly Tampered[]): Promise<Entries | null> {
  const entries = new Map<string, string>();
  if (from === null) return entries;
  const wanted = new Set(items.map((item) => item.bytes));
  const { code } = await git.run(["ls-tree", "-r", "-z", "--full-tree", from], {
    onRecord: (record) => {
      const [, mode = "", oid = "", bytes = ""] = /^(\d+) \w+ (\w+)\t([^]*)$/.exec(record) ?? [];
      if (wanted.has(bytes)) entries.set(bytes, `${mode} ${oid}`);
    },
  });
  return code === 0 ? entries : null;
}

type Entries = ReadonlyMap<string, string>;

/** A submodule's own files are another repository's. */
function isPossible({ bytes, was }: Tampered, inBase: Entries | null): boolean {
  if (was !== null) return true;
  return inBase !== null && inBase.get(bytes)?.startsWith("160000 ") !== true;
}

async function restore(
  checkout: Checkout,
  items: readonly Tampered[],
  inBase: Entries,
  aside: PutAside,
): Promise<void> {
  const { git } = checkout;
  for (const { bytes } of items) aside.take(bytes);
  for (const { bytes, was } of items) if (was !== null) aside.write(bytes, was);
  const fromGit = items.filter(({ bytes, was }) => was === null && inBase.has(bytes));
  if (fromGit.length > 0) {
    await withOwnIndex(checkout, async (env) => {
      await git.must(["read-tree", "--empty"], { env });
      await setIndex(git, fromGit, inBase, env);
      await git.must(["checkout-index", "--force", "--all"], { env });
    });
  }
  for (const { bytes } of items) aside.prune(bytes);
  const inIndex = items.filter((item) => item.isStaged || item.isCommitted);
  if (inIndex.length > 0) await setIndex(git, inIndex, inBase, {});
}

/** Also a path that the configuration's owner has changed is committed as git had it. */
async function commitPutBack(
  checkout: Checkout,
  request: CollectRequest,
  items: readonly Tampered[],
  inBase: Entries,
  onRefusal: (words: string) => void,
): Promise<void> {
  const committed = items.filter((item) => item.isCommitted);
  // In the middle of a merge a commit would be the merge's; what is in the index goes with it.
  if (committed.length === 0 || isMerging(checkout)) return;
  await withOwnIndex(checkout, async (env) => {
    await checkout.git.must(["read-tree", "HEAD"], { env });
    await setIndex(checkout.git, committed, inBase, env);
    const message = commitMessage(request, "put back protected files");
    await commitIndex(checkout, { message, hooks: request.hooks, env, onRefusal });
  });
}

async function setIndex(git: Git, items: readonly Tampered[], inBase: Entries, env: Env): Promise<void> {
  const lines = items.map(({ bytes }) => `${inBase.get(bytes) ?? NOTHING}\t${bytes}\0`);
  await git.must(["update-index", "--replace", "-z", "--index-info"], { input: lines.join(""), env });
}

/** Mode 0 takes a path out of the index, whatever the object. */
const NOTHING = `0 ${"0".repeat(40)}`;

/** Written before anything is put back, so that a process that dies in between leaves all that the next one needs. */
const RECORD = z.object({
  run: z.string(),
  iteration: z.number(),
  paths: z.array(z.string()),
  /** Null when the process that wrote it did not see the iteration begin. */
  kept: z
    .array(
      z.tuple([
        z.string(),
        z.discriminatedUnion("is", [
          z.object({
            is: z.literal("file"),
            bytes: z.codec(z.base64(), z.instanceof(Buffer), {
              decode: (text) => Buffer.from(text, "base64"),
              encode: (bytes) => bytes.toString("base64"),
            }),
            mode: z.int().min(0).max(0o777),
          }),
          z.object({ is: z.literal("link"), target: z.string() }),
          z.object({ is: z.enum(["missing", "other"]) }),
        ]),
      ]),
    )
    .nullable(),
});

/** Null when there is none of this very iteration. */
function readRecord(aside: PutAside, { run, iteration, isProtected }: CollectRequest): PutBackRecord | null {
  const { data } = RECORD.safeDecode(aside.readRecord() as z.input<typeof RECORD>);
  if (data?.run !== run || data.iteration !== iteration) return null;
  return { paths: data.paths.filter(isProtected), kept: data.kept && new Map(data.kept) };
}

interface PutBackRecord {
  readonly paths: readonly string[];
  readonly kept: ReadonlyMap<string, Content> | null;
}

/** Where the agent's versions go: `logs/put-back/iteration-007/` in our folder. No link is ever followed. */
class PutAside {
  readonly #checkout: Checkout;
  readonly #name: string;

  constructor(checkout: Checkout, { iteration }: CommitRequest) {
    this.#checkout = checkout;
    this.#name = `iteration-${String(iteration).padStart(3, "0")}`;
  }

  /** What was written down in this iteration, or null. */
  readRecord(): unknown {
    const path = join(this.#checkout.ralphDir, "logs", "put-back", `${this.#name}.json`);
    try {
      return lstatSync(path).isFile() ? (JSON.parse(readFileSync(path, "utf8")) as unknown) : null;
    } catch {
      return null; // none, or somebody else's
    }
  }

  writeRecord(record: unknown): void {
    const path = join(this.#folder(), `${this.#name}.json`);
    if (kindOf(path) !== "file") rmSync(path, { recursive: true, force: true });
    writeFileAtomically(path, `${JSON.stringify(record)}\n`);
  }

  /** Takes whatever is at the path out of the work tree, and what stands in the way to it. Paths are git's bytes. */
  take(bytes: string): void {
    const parts = bytes.replace(/\/$/, "").split("/");
    for (let length = 1; length < parts.length; length += 1) {
      const parent = parts.slice(0, length).join("/");
      const kind = kindOf(this.#inTree(parent));
      if (kind === "missing") return;
      if (kind === "folder") continue;
      this.#move(parent, `${parent}.in-the-way`);
      return;
    }
    const path = parts.join("/");
    if (kindOf(this.#inTree(path)) !== "missing") this.#move(path, path);
  }

  /** Removes the folders above the path that are empty now. */
  prune(bytes: string): void {
    for (let at = posix.dirname(bytes.replace(/\/$/, "")); at !== "."; at = posix.dirname(at)) {
      try {
        rmdirSync(this.#inTree(at));
      } catch {
        return; // not empty, or not there
      }
    }
  }

  /** Writes what was there; the way has been cleared. */
  write(bytes: string, content: Content): void {
    const path = join(this.#checkout.root, textOf(bytes));
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

  #move(from: string, to: string): void {
    const source = this.#inTree(from);
    const target = this.#free(to);
    try {
      renameSync(source, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw fileError(error, textOf(from));
      cpSync(source.toString(), target.toString(), { recursive: true, verbatimSymlinks: true });
      rmSync(source, { recursive: true, force: true });
    }
  }

  /** A place for it that is not taken; the first version keeps the plain name. */
  #free(bytes: string): Buffer {
    let folder = bytesOf(join(this.#folder(), this.#name));
    makeFolder(pathOf(folder));
    for (const part of posix.dirname(bytes).split("/")) {
      const isTaken = !["missing", "folder"].includes(kindOf(pathOf(join(folder, part))));
      folder = join(folder, isTaken ? `${part}~folder` : part);
      makeFolder(pathOf(folder));
    }
    const name = posix.basename(bytes);
    for (let number = 1; ; number += 1) {
      const path = pathOf(join(folder, number === 1 ? name : `${name}~${number}`));
      if (kindOf(path) === "missing") return path;
    }
  }

  #folder(): string {
    const { root, ralphDir, ralphPrefix } = this.#checkout;
    let folder = ralphPrefix === null ? ralphDir : root;
    mkdirSync(folder, { recursive: true });
    const way = (ralphPrefix ?? "").split("/").filter((name) => name !== "");
    for (const name of [...way, "logs", "put-back"]) {
      folder = join(folder, name);
      makeFolder(folder);
    }
    return folder;
  }

  #inTree(bytes: string): Buffer {
    return pathOf(join(bytesOf(this.#checkout.root), bytes));
  }
}

function pathOf(bytes: string): Buffer {
  return Buffer.from(bytes, "latin1");
}

/** Nobody but us writes there: a link or a file in its place is the agent's. */
function makeFolder(path: string | Buffer): void {
  const kind = kindOf(path);
  if (kind === "folder") return;
  if (kind !== "missing") rmSync(path, { force: true });
  mkdirSync(path);
}

function kindOf(path: string | Buffer): "missing" | "folder" | "file" | "other" {
  const stats = statsAt(path);
  if (stats === null) return "missing";
  if (stats.isDirectory()) return "folder";
  return stats.isFile() ? "file" : "other";
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

export interface Look {
  readonly left: SortedLeftovers;
  /** What the commits of the iteration changed: git's bytes, and whether it was there before. */
  readonly inCommits: ReadonlyMap<string, "new" | "old">;
  readonly whose: (path: string) => Owner;
  /** The configuration as it was; null when this process did not see the iteration begin. */
  readonly kept: ReadonlyMap<string, Content> | null;
}

function findTampered(checkout: Checkout, request: CollectRequest, look: Look): readonly Tampered[] {
  const dirty = new Map(
    [...look.left.take, ...look.left.stay, ...look.left.tooRisky, ...look.left.ours].map((entry) => [
      entry.bytes,
      entry,
    ]),
  );
  const found = new Map<string, Content | null>();
  for (const bytes of changedInGit(checkout, request, look)) found.set(bytes, null);
  for (const path of configurationPaths(checkout.root, checkout.ralphPrefix, look.kept)) {
    if (!isApart(path, checkout, look) || !request.isProtected(path) || isOperators(path, request)) continue;
    const bytes = bytesOf(path);
    const entry = dirty.get(bytes);
    const was = look.kept === null ? null : (look.kept.get(path) ?? { is: "missing" });
    const isTampered =
      was === null
        ? isLost(look.inCommits.get(bytes), entry)
        : isChanged(was, contentAt(checkout.root, path), look.inCommits.has(bytes) && entry !== undefined);
    if (isTampered) found.set(bytes, was);
  }
  return [...found].map(([bytes, was]) => {
    const entry = dirty.get(bytes);
    const isStaged = entry !== undefined && (entry.staged || entry.is === "conflict");
    return { bytes, was, isCommitted: look.inCommits.has(bytes), isStaged };
  });
}

function* changedInGit(checkout: Checkout, request: CollectRequest, look: Look): Iterable<string> {
  const { left, inCommits, whose } = look;
  const isOld = isUntouched(checkout.root, request.leftBefore);
  const isMeant = (path: string): boolean => request.isProtected(path) && !isApart(path, checkout, look);
  for (const { bytes, path } of [...left.take, ...left.stay, ...left.tooRisky]) {
    if (isMeant(path) && !isOld(path)) yield bytes;
  }
  for (const bytes of inCommits.keys()) {
    const path = textOf(bytes);
    if (isMeant(path) && whose(path) !== "ours") yield bytes;
  }
}

/** Of our own folder only the configuration is protected: the rest is ours to write, or everybody's. */
function isApart(path: string, { ralphPrefix }: Checkout, { kept }: Look): boolean {
  if (ralphPrefix !== null && path.startsWith(ralphPrefix)) return true;
  return kept !== null && isConfiguration(path, ralphPrefix);
}

/** `isOtherInGit`: what git has of it now is neither what it had nor what lies there. */
function isChanged(was: Content, now: Content, isOtherInGit: boolean): boolean {
  return was.is !== "other" && (isOtherInGit || !isSameContent(was, now));
}

/**
 * Without a memory of it, a configuration that is uncommitted may be the operator's. What is gone, or was committed
 * over what git had, can be put back all the same.
 */
function isLost(inCommits: "new" | "old" | undefined, entry: StatusEntry | undefined): boolean {
  return inCommits === "old" || (entry !== undefined && entry.missing);
}

function isOperators(path: string, { leaveAlone, ignore }: CollectRequest): boolean {
  return [...leaveAlone, ...ignore].some(
    (own) => own === path || (own.endsWith("/") && path.startsWith(own)),
  );
}
