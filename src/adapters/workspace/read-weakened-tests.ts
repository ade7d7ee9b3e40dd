import { lstatSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  findWeakenedTests,
  type FileVersions,
  type Weakening,
} from "../../core/weakening/find-weakened-tests.ts";
import { mayHoldTests } from "../../core/weakening/test-files.ts";
import { safePath } from "../system/safe-path.ts";
import type { Checkout } from "./checkout.ts";
import { bytesOf, textOf, type Git } from "../git/git.ts";

/** Which tests check less than at the base, among the files that changed since. */
export async function readWeakenedTests(
  { git, root }: Checkout,
  base: string | null,
  changed: readonly string[],
): Promise<readonly Weakening[]> {
  if (base === null) return [];
  const tests = changed.filter((path) => mayHoldTests(path) && !path.includes("\n")).slice(0, FILES_MAX);
  if (tests.length === 0) return [];
  const before = await blobsAt(git, base, tests);
  const files = tests.flatMap((path): FileVersions[] => {
    const was = before.get(path) ?? null;
    const is = textAt(root, path);
    return was === TOO_BIG || is === TOO_BIG ? [] : [{ path, before: plain(was), after: plain(is) }];
  });
  return findWeakenedTests(
    files,
    changed.filter((path) => isGone(join(root, path))),
  );
}

const FILES_MAX = 200;
const BYTES_MAX = 512 * 1024;
const TOO_BIG: unique symbol = Symbol("too big");

type Text = string | typeof TOO_BIG | null;

/** What the files were, in one process; those that were not there are left out. */
async function blobsAt(git: Git, base: string, paths: readonly string[]): Promise<ReadonlyMap<string, Text>> {
  const names = paths.map((path) => bytesOf(`${base}:${path}`));
  const output = await git.must(["cat-file", "--batch"], { input: `${names.join("\n")}\n` });
  const texts = new Map<string, Text>();
  let at = 0;
  for (const path of paths) {
    const end = output.indexOf("\n", at);
    const [, type, digits] = /^[0-9a-f]+ (\w+) (\d+)$/.exec(output.slice(at, end)) ?? [];
    at = end + 1;
    if (digits === undefined) continue;
    const size = Number(digits);
    const text = size > BYTES_MAX ? TOO_BIG : textOf(output.slice(at, at + size));
    if (type === "blob") texts.set(path, text);
    at += size + 1;
  }
  return texts;
}

/** What a test runner would read there. */
function textAt(root: string, path: string): Text {
  try {
    const place = safePath(root, path);
    const stats = statSync(place);
    if (!stats.isFile()) return null;
    return stats.size > BYTES_MAX ? TOO_BIG : readFileSync(place, "utf8");
  } catch {
    return null; // gone, or outside: nothing of the repository's is tested there
  }
}

/** Git may check out other line ends than it stores. */
function plain(text: string | null): string | null {
  return text === null ? null : text.replaceAll("\r\n", "\n");
}

function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return true; // below something that is a file now
  }
}
