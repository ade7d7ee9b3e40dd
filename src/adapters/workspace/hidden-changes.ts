import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { textOf } from "../git/git.ts";
import { writeFileAtomically } from "../system/atomic-file.ts";
import type { Checkout } from "./checkout.ts";

/** What of the git directory decides which changes git sees, as it was before an agent. */
export interface GitSteering {
  readonly files: ReadonlyMap<string, Buffer | null>;
  readonly replaced: ReadonlySet<string>;
  readonly isBisecting: boolean;
}

/** Plain looks only: it is done before every agent. */
export function keepGitSteering({ gitDir, commonDir }: Checkout): GitSteering {
  const paths = [
    ...CONFIGURATIONS.map((name) => join(gitDir, name)),
    ...CONFIGURATIONS.map((name) => join(commonDir, name)),
    ...LISTS.map((name) => join(commonDir, "info", name)),
    join(gitDir, "info", "sparse-checkout"),
  ];
  return {
    files: new Map(paths.map((path) => [path, bytesAt(path)])),
    replaced: replacedIn(commonDir),
    isBisecting: isBisecting(gitDir),
  };
}

const CONFIGURATIONS = ["config", "config.worktree"];
const LISTS = ["exclude", "attributes", "sparse-checkout"];
/** Settings that make git overlook changes, or see other contents than those on the disk. */
const STEERS =
  /^(?:core\.(?:fsmonitor|sparsecheckout|sparsecheckoutcone|excludesfile|attributesfile|worktree|ignorestat|checkstat|trustctime|filemode|symlinks)|status\.showuntrackedfiles|filter\..+|submodule\..+\.ignore|diff\.ignoresubmodules|include\.path|includeif\..+)$/;

/** Undoes what hides changes from git, and says what it was. It comes before git looks at the work tree. */
export async function undoHiding(checkout: Checkout, before: GitSteering): Promise<readonly string[]> {
  const found: string[] = [];
  // It would hold the branch where it is.
  if (!before.isBisecting && isBisecting(checkout.gitDir))
    await checkout.git.run(["bisect", "reset", "HEAD"]);
  for (const [path, was] of before.files) {
    const is = bytesAt(path);
    if (is === was || (is !== null && was !== null && is.equals(was))) continue;
    const name = path.slice(path.lastIndexOf("/.git/") + 1);
    if (!CONFIGURATIONS.some((file) => path.endsWith(`/${file}`))) {
      found.push(name);
      if (was === null) rmSync(path, { recursive: true, force: true });
      else writeFileAtomically(path, was);
    } else found.push(...(await setBackSettings(checkout, path, was, is)).map((key) => `${name}: ${key}`));
  }
  for (const ref of replacedIn(checkout.commonDir)) {
    if (before.replaced.has(ref)) continue;
    await checkout.git.run(["update-ref", "-d", `refs/replace/${ref}`]);
    found.push(`refs/replace/${ref}`);
  }
  if (found.some((name) => /filter\.|attributes/i.test(name))) await forgetFileTimes(checkout);
  return found;
}

/** A file that was added through a filter looks unchanged by its size and time: git has to read the files again. */
async function forgetFileTimes(checkout: Checkout): Promise<void> {
  const { git } = checkout;
  const flags = await readIndexFlags(checkout);
  const entries = (await git.run(["ls-files", "--stage", "-z"])).stdout.split("\0");
  const input = entries.filter((entry) => !flags.has(entry.slice(entry.indexOf("\t") + 1))).join("\0");
  await git.run(["update-index", "-z", "--index-info"], { input });
}

async function setBackSettings(
  { git }: Checkout,
  path: string,
  was: Buffer | null,
  is: Buffer | null,
): Promise<readonly string[]> {
  const settingsIn = async (bytes: Buffer | null): Promise<ReadonlyMap<string, readonly string[]>> => {
    const settings = new Map<string, string[]>();
    if (bytes === null) return settings;
    const { stdout } = await git.run(["config", "--file", "-", "--no-includes", "--list", "-z"], {
      input: bytes.toString("latin1"),
    });
    for (const entry of stdout.split("\0")) {
      const [key = "", value = ""] = entry.split(/\n([^]*)/);
      if (STEERS.test(key.toLowerCase())) settings.set(key, [...(settings.get(key) ?? []), value]);
    }
    return settings;
  };
  const [old, now] = await Promise.all([settingsIn(was), settingsIn(is)]);
  const keys = [...new Set([...old.keys(), ...now.keys()])].filter(
    (key) => old.get(key)?.join("\0") !== now.get(key)?.join("\0"),
  );
  for (const key of keys) {
    await git.run(["config", "--file", path, "--unset-all", key]);
    for (const value of old.get(key) ?? []) await git.must(["config", "--file", path, "--add", key, value]);
  }
  return keys;
}

/** Paths of the index at which git does not look, by the letter that `ls-files -v` gives them. */
export type IndexFlags = ReadonlyMap<string, string>;

export async function readIndexFlags({ git }: Checkout): Promise<IndexFlags> {
  const flags = new Map<string, string>();
  await git.run(["ls-files", "-v", "-z"], {
    onRecord: (record) => {
      const letter = record[0] ?? "";
      if (letter === "S" || letter !== letter.toUpperCase()) flags.set(record.slice(2), letter);
    },
  });
  return flags;
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

function isBisecting(gitDir: string): boolean {
  return existsSync(join(gitDir, "BISECT_START"));
}

function replacedIn(commonDir: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(join(commonDir, "refs", "replace")));
  } catch {
    return new Set(); // nothing is replaced
  }
}

function bytesAt(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null; // not there, or not to be read: git does not read it either
  }
}
