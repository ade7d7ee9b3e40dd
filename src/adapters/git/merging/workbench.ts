import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "../find-repository.ts";
import { createGit, type Git, settingVariables } from "../git.ts";
import { isAlive } from "../../process/atomic-file.ts";

/** A git whose index and work tree are a folder of ours: of the repository it sees and makes objects only. */
export async function withWorkbench<Result>(
  { gitDir }: Repository,
  scratch: string,
  use: (git: Git) => Promise<Result>,
): Promise<Result> {
  return withFolder(scratch, async (folder) => {
    const tree = join(folder, "tree");
    mkdirSync(tree);
    const place = {
      GIT_DIR: gitDir,
      GIT_WORK_TREE: tree,
      GIT_INDEX_FILE: join(folder, "index"),
      ...ownIndexSettings(),
    };
    return use(createGit(tree, { place }));
  });
}

/** A folder for as long as `use` takes; those that killed processes left go first. */
export async function withFolder<Result>(
  scratch: string,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  mkdirSync(scratch, { recursive: true });
  removeDead(scratch);
  const folder = mkdtempSync(join(scratch, `${PREFIX}${process.pid}-`));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PREFIX = "merging-";
/** For an index of ours: nothing of how the operator keeps the own one, some of which lies outside of the file. */
export function ownIndexSettings(): Readonly<Record<string, string>> {
  return settingVariables(process.env, {
    "core.bare": "false",
    "core.splitIndex": "false",
    "core.sparseCheckout": "false",
    "core.untrackedCache": "false",
    "index.sparse": "false",
  });
}

function removeDead(scratch: string): void {
  for (const name of readdirSync(scratch)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (!Number.isNaN(pid) && !isAlive(pid)) rmSync(join(scratch, name), { recursive: true, force: true });
  }
}
