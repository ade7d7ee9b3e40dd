import { resolve } from "node:path";
import { createComparisons, type Comparisons } from "./compare-commits.ts";
import { findRepository, type Repository } from "./find-repository.ts";
import { createGit, type Git } from "./git.ts";
import { readHead } from "./read-head.ts";
import { removeStaleLocks } from "./stale-locks.ts";
import { createWalk, type Walk } from "./walk.ts";
import { ralphPrefixOf } from "./whose-path.ts";

/** A work tree, its repository, and a git that is not held up by the locks of the dead. */
export interface Checkout extends Repository {
  readonly git: Git;
  readonly comparisons: Comparisons;
  readonly walk: Walk;
  /** Our own folder. */
  readonly ralphDir: string;
  /** How git's paths below our own folder begin; null when it lies elsewhere. */
  readonly ralphPrefix: string | null;
  /** Settings for commits of ours where the operator has told git no name. */
  readonly identity: () => Promise<readonly string[]>;
  /** Paths that were seen to be tracked, and in no special way. */
  readonly plainlyTracked: Set<string>;
  /** From here on an index is big: whatever looks at all of its files takes long. */
  readonly bigIndexBytes: number;
}

/** About ten thousand files. */
const BIG_INDEX_BYTES = 1_000_000;

export async function openCheckout(
  root: string,
  ralphDir: string,
  bigIndexBytes = BIG_INDEX_BYTES,
): Promise<Checkout> {
  const repository = await findRepository(root);
  const git = createGit(repository.root, {
    unlock: () => removeStaleLocks(repository),
    place: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: repository.root },
  });
  let identity: Promise<readonly string[]> | null = null;
  const ralphPrefix = ralphPrefixOf(root, ralphDir);
  return {
    ...repository,
    git,
    comparisons: createComparisons(git),
    walk: createWalk(git, () => readHead(repository, git)),
    ralphDir: resolve(root, ralphDir),
    ralphPrefix,
    identity: () => (identity ??= fallbackIdentity(git)),
    plainlyTracked: new Set(),
    bigIndexBytes,
  };
}

async function fallbackIdentity(git: Git): Promise<readonly string[]> {
  // Without this, git makes up a name from the machine's, and only sometimes.
  const known = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].map((name) =>
    git.run(["-c", "user.useConfigOnly=true", "var", name]),
  );
  const isKnown = (await Promise.all(known)).every(({ code }) => code === 0);
  return isKnown ? [] : ["-c", "user.name=Ralph", "-c", "user.email=ralph@localhost"];
}
