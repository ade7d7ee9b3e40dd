import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { textOf } from "../git.ts";
import type { Checkout } from "./checkout.ts";

/** Paths of the index at which git does not look, by the letter that `ls-files -v` gives them. */
export type IndexFlags = ReadonlyMap<string, string>;

export async function readIndexFlags(checkout: Checkout): Promise<IndexFlags> {
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
export async function forgetFileTimes({ git, gitDir, root }: Checkout, since: number): Promise<boolean> {
  const entries = (await git.must(["ls-files", "--stage", "--debug", "-z"])).matchAll(ENTRY);
  const isFalse = ([, oid = "", bytes = "", changedS, size]: RegExpExecArray): boolean => {
    if (Number(changedS) * 1_000 < since - COARSEST_MS) return false;
    const found = blobAt(join(root, textOf(bytes)), oid.length);
    const isAsNoted = found?.size === Number(size) && found.changedS === Number(changedS);
    return isAsNoted && found.oid !== oid;
  };
  if (![...entries].some(isFalse)) return false;
  // Git reads what is younger than its index.
  utimesSync(join(gitDir, "index"), 1, 1);
  return true;
}

/** A file of the index, when it was written or renamed last, as git saw it, and how long it was. */
const ENTRY = /100\d+ (\w+) 0\t([^\0]*)\0 +ctime: (\d+):[^]*?size: (\d+)\tflags: \w+\n/g;
const COARSEST_MS = 2_500;

interface Blob {
  readonly oid: string;
  readonly changedS: number;
  readonly size: number;
}

function blobAt(path: string, oidLength: number): Blob | null {
  try {
    const { size, ctimeMs } = lstatSync(path);
    return { oid: blobName(readFileSync(path), oidLength), size, changedS: Math.floor(ctimeMs / 1_000) };
  } catch {
    return null; // gone, or not to be read: git says which
  }
}

/** What git calls this content. */
export function blobName(content: Buffer, length: number): string {
  const hash = createHash(length === 64 ? "sha256" : "sha1").update(`blob ${content.length}\0`);
  return hash.update(content).digest("hex");
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
