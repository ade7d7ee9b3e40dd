import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { textOf } from "../git/git.ts";
import type { Checkout } from "./checkout.ts";

/** Paths of the index at which git does not look, by the letter that `ls-files -v` gives them. */
export type IndexFlags = ReadonlyMap<string, string>;

export async function readIndexFlags(checkout: Checkout): Promise<IndexFlags> {
  const entries = readIndex(checkout);
  if (entries !== null) return new Map(entries.flatMap(({ bytes, flag }) => (flag ? [[bytes, flag]] : [])));
  const flags = new Map<string, string>();
  await checkout.git.run(["ls-files", "-v", "-z"], {
    onRecord: (record) => {
      const letter = record[0] ?? "";
      if (letter === "S" || letter !== letter.toUpperCase()) flags.set(record.slice(2), letter);
    },
  });
  return flags;
}

/**
 * Whether the index may say of a file that was written since that it is what it is not: one that was added through a
 * filter looks unchanged by its size and dates, whatever has become of the filter. Git then reads all files again.
 */
export function forgetFileTimes(checkout: Checkout, since: number): boolean {
  const isTrue = ({ bytes, oid, changedS, size, kind }: IndexEntry): boolean => {
    if (kind !== "file" || changedS * 1_000 < since - COARSEST_MS) return true;
    const found = blobAt(join(checkout.root, textOf(bytes)), oid.length);
    return found?.size !== size || found.changedS !== changedS || found.oid === oid;
  };
  if (readIndex(checkout)?.every(isTrue) === true) return false;
  const index = join(checkout.gitDir, "index");
  if (lstatSync(index, { throwIfNoEntry: false })?.isFile() !== true) return false;
  // Git reads what is younger than its index.
  utimesSync(index, 1, 1);
  return true;
}

const COARSEST_MS = 2_500;

function blobAt(path: string, oidLength: number): Pick<IndexEntry, "oid" | "changedS" | "size"> | null {
  try {
    const { size, ctimeMs } = lstatSync(path);
    return { oid: blobName(readFileSync(path), oidLength), size, changedS: Math.floor(ctimeMs / 1_000) };
  } catch {
    return null; // gone, or not to be read: git says which
  }
}

/** Whether a repository inside ours may be part of it. */
export function mayHaveSubmodules(checkout: Pick<Checkout, "gitDir">): boolean {
  return readIndex(checkout)?.some(({ kind }) => kind === "repository") ?? true;
}

/** What git calls this content. */
export function blobName(content: Buffer, length: number): string {
  const hash = createHash(length === 64 ? "sha256" : "sha1").update(`blob ${content.length}\0`);
  return hash.update(content).digest("hex");
}

interface IndexEntry {
  readonly bytes: string;
  readonly oid: string;
  /** When the file was written or renamed last, as git saw it. */
  readonly changedS: number;
  readonly size: number;
  readonly kind: "file" | "repository" | "other";
  readonly flag: string | null;
}

/** The index in the form that git writes unless told otherwise; null for any other. Its description is in git's manual. */
function readIndex({ gitDir }: Pick<Checkout, "gitDir">): readonly IndexEntry[] | null {
  let index: Buffer;
  try {
    index = readFileSync(join(gitDir, "index"));
  } catch {
    return []; // nothing was ever added
  }
  const version = index.subarray(0, 4).toString("latin1") === "DIRC" ? index.readUInt32BE(4) : 0;
  // Of its parts the checksum at the end tells how long names of objects are.
  const oidLength = [20, 32].find((length) => isChecksum(index, length));
  if ((version !== 2 && version !== 3) || oidLength === undefined) return null;
  const entries: IndexEntry[] = [];
  let at = 12;
  for (let count = index.readUInt32BE(8); count > 0; count -= 1) {
    const flags = index.readUInt16BE(at + STATS + oidLength);
    const isExtended = (flags & 0x4000) !== 0;
    const nameAt = at + STATS + oidLength + (isExtended ? 4 : 2);
    const end = index.indexOf(0, nameAt);
    const isSkipped = isExtended && (index.readUInt16BE(nameAt - 2) & 0x4000) !== 0;
    const isAssumed = (flags & 0x8000) !== 0;
    entries.push({
      bytes: index.toString("latin1", nameAt, end),
      oid: index.toString("hex", at + STATS, at + STATS + oidLength),
      changedS: index.readUInt32BE(at),
      size: index.readUInt32BE(at + STATS - 4),
      kind: KINDS[index.readUInt32BE(at + 24) >>> 12] ?? "other",
      flag: isSkipped ? (isAssumed ? "s" : "S") : isAssumed ? "h" : null,
    });
    at += (nameAt - at + (end - nameAt) + 8) & ~7;
  }
  // One that is only a part has the rest elsewhere.
  return index.subarray(at, at + 4).toString("latin1") === "link" ? null : entries;
}

/** Before the name of an entry's object. */
const STATS = 40;

const KINDS: Readonly<Record<number, "file" | "repository">> = { 0o10: "file", 0o16: "repository" };

function isChecksum(index: Buffer, length: number): boolean {
  const hash = createHash(length === 32 ? "sha256" : "sha1").update(index.subarray(0, -length));
  return hash.digest().equals(index.subarray(-length));
}

/** Clears flags that were not there before; files that are missing because of them come back. */
export async function clearIndexFlags(checkout: Checkout, before: IndexFlags): Promise<readonly string[]> {
  const { git, root } = checkout;
  const fresh = [...(await readIndexFlags(checkout))].filter(([path]) => !before.has(path));
  if (fresh.length === 0) return [];
  const paths = fresh.map(([path]) => path);
  const input = `${paths.join("\0")}\0`;
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"])
    await git.must(["update-index", flag, "-z", "--stdin"], { input });
  const missing = fresh
    .filter(([path, letter]) => letter.toUpperCase() === "S" && !existsSync(join(root, textOf(path))))
    .map(([path]) => path);
  if (missing.length > 0)
    await git.must(["checkout-index", "-z", "--stdin"], { input: `${missing.join("\0")}\0` });
  return paths.map((path) => `index flag of ${textOf(path)}`);
}
