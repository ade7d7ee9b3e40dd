import { resolve } from "node:path";
import { createComparisons, type Comparisons } from "./compare-commits.ts";
import { openRepository, type OpenRepository } from "../git/open-repository.ts";
import { readHead } from "../git/read-head.ts";
import { createWalk, type Walk } from "./walk.ts";
import { ralphPrefixOf } from "./whose-path.ts";

/** A work tree, its repository, and a git that is not held up by the locks of the dead. */
export interface Checkout extends OpenRepository {
  readonly comparisons: Comparisons;
  readonly walk: Walk;
  /** Our own folder. */
  readonly ralphDir: string;
  /** How git's paths below our own folder begin; null when it lies elsewhere. */
  readonly ralphPrefix: string | null;
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
  const repository = await openRepository(root);
  const { git } = repository;
  const ralphPrefix = ralphPrefixOf(root, ralphDir);
  return {
    ...repository,
    comparisons: createComparisons(git),
    walk: createWalk(git, () => readHead(repository, git)),
    ralphDir: resolve(root, ralphDir),
    ralphPrefix,
    plainlyTracked: new Set(),
    bigIndexBytes,
  };
}
