import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Git } from "../git/git.ts";
import { indexInfo, SUBMODULE_MODE, type EntryAt } from "./tree-entries.ts";
import { onOwnIndex, withFolder } from "./workbench.ts";

export interface WorkTree {
  readonly root: string;
  readonly git: Git;
}

/** Of these paths those where the work tree has exactly this entry, by content and mode. A submodule is its folder. */
export async function matchWorkTree(
  { root, git }: WorkTree,
  scratch: string,
  entries: readonly EntryAt[],
): Promise<ReadonlySet<string>> {
  const files = entries.filter(([, entry]) => entry !== null && entry.mode !== SUBMODULE_MODE);
  const differ = new Set<string>();
  const [first] = files;
  if (first !== undefined) {
    await withFolder(scratch, async (folder) => {
      const env = { GIT_INDEX_FILE: join(folder, "index") };
      const own = onOwnIndex(git);
      const input = indexInfo(files, first[1]?.oid ?? "");
      await own.must(["update-index", "-z", "--index-info"], { input, env });
      // Compares contents where times cannot tell; says with 1 that something differs.
      await own.run(["update-index", "-q", "--refresh"], { env });
      const onRecord = (bytes: string): void => void differ.add(bytes);
      await own.must(["diff-files", "-z", "--name-only", "--no-renames"], { env, onRecord });
    });
  }
  const matches = ([bytes, entry]: EntryAt): boolean => {
    const stats = statOf(root, bytes);
    if (entry === null) return stats === null;
    return entry.mode === SUBMODULE_MODE ? stats === null || stats.isDirectory() : !differ.has(bytes);
  };
  return new Set(entries.filter(matches).map(([bytes]) => bytes));
}

/** What lies at git's path, not followed; null: nothing. */
export function statOf(root: string, bytes: string): Stats | null {
  try {
    return lstatSync(pathOf(root, bytes));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

export function pathOf(root: string, bytes: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytes, "latin1")]);
}
