import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "./find-repository.ts";
import { createGit, type Git, settingVariables } from "./git.ts";
import { abandonedIn, asOwn, OWN_INDEX_PREFIX } from "./stale-locks.ts";

export type Env = Readonly<Record<string, string>>;

/** Works on a copy of the index; what the agent staged there stays as it is. */
export async function withOwnIndex<Result>(
  { gitDir }: Pick<Repository, "gitDir">,
  work: (env: Env) => Promise<Result>,
): Promise<Result> {
  const copy = join(gitDir, `${OWN_INDEX_PREFIX}${randomBytes(4).toString("hex")}`);
  try {
    if (existsSync(join(gitDir, "index"))) copyFileSync(join(gitDir, "index"), copy);
    return await work({ GIT_INDEX_FILE: copy });
  } finally {
    rmSync(copy, { force: true });
    rmSync(`${copy}.lock`, { force: true });
  }
}

/** A git whose index and work tree are a folder of ours: of the repository it sees and makes objects only. */
export async function withWorkbench<Result>(
  { gitDir }: Repository,
  scratch: string,
  use: (git: Git) => Promise<Result>,
): Promise<Result> {
  return withEmptyIndex(scratch, async (env, folder) => {
    const tree = join(folder, "tree");
    mkdirSync(tree);
    return use(createGit(tree, { place: { GIT_DIR: gitDir, GIT_WORK_TREE: tree, ...env } }));
  });
}

/** An index in a folder that lasts as long as `use` takes; folders that killed processes left go first. */
export async function withEmptyIndex<Result>(
  scratch: string,
  use: (env: Env, folder: string) => Promise<Result>,
): Promise<Result> {
  mkdirSync(scratch, { recursive: true });
  for (const path of abandonedIn(scratch, PREFIX)) rmSync(path, { recursive: true, force: true });
  const folder = mkdtempSync(join(scratch, `${PREFIX}${process.pid}-`));
  // Nothing of how the operator keeps the own index, some of which lies outside of the file.
  const settings = settingVariables(process.env, {
    "core.bare": "false",
    "core.splitIndex": "false",
    "core.sparseCheckout": "false",
    "core.untrackedCache": "false",
    "index.sparse": "false",
  });
  try {
    return await asOwn(folder, () => use({ GIT_INDEX_FILE: join(folder, "index"), ...settings }, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PREFIX = "merging-";
