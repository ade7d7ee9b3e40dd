import { resolve } from "node:path";
import { BIG_INDEX_BYTES, type IndexPlace } from "./big-index.ts";
import { createComparisons, type Comparisons } from "./compare-commits.ts";
import { openRepository, type OpenRepository } from "../git/open-repository.ts";
import { readHead } from "../git/read-head.ts";
import type { StatusPlace } from "./read-status.ts";
import { createUntrackedCache } from "./untracked-cache.ts";
import { createWalk, type Walk } from "./walk.ts";
import { ralphPrefixOf } from "./whose-path.ts";

/** A work tree, its repository, and a git that is not held up by the locks of the dead. */
export interface Checkout extends OpenRepository, IndexPlace, StatusPlace {
  readonly comparisons: Comparisons;
  readonly walk: Walk;
  /** Our own folder. */
  readonly ralphDir: string;
  /** How git's paths below our own folder begin; null when it lies elsewhere. */
  readonly ralphPrefix: string | null;
  /** Paths that were seen to be tracked, and in no special way. */
  readonly plainlyTracked: Set<string>;
}

export async function openCheckout(
  root: string,
  ralphDir: string,
  bigIndexBytes = BIG_INDEX_BYTES,
): Promise<Checkout> {
  const repository = await openRepository(root);
  const { git } = repository;
  const ralphPrefix = ralphPrefixOf(root, ralphDir);
  const untracked = createUntrackedCache(git, { gitDir: repository.gitDir, bigIndexBytes });
  return {
    ...repository,
    untracked,
    comparisons: createComparisons(git),
    walk: createWalk({ git, untracked }, () => readHead(repository, git)),
    ralphDir: resolve(root, ralphDir),
    ralphPrefix,
    plainlyTracked: new Set(),
    bigIndexBytes,
  };
}
