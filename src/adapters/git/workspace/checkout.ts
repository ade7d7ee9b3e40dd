import { resolve, join } from "node:path";
import { createComparisons, type Comparisons } from "./compare-commits.ts";
import { openRepository, type OpenRepository } from "../find-repository.ts";
import { readHead } from "../read-head.ts";
import { type StatusPlace, readStatus, type StatusEntry } from "./read-status.ts";
import { ralphPrefixOf } from "./whose-path.ts";
import { statsAt } from "../../process/look-at.ts";
import type { Git } from "../git.ts";
import type { Snapshot } from "../../../engine/ports.ts";

/** A work tree, its repository, and a git that is not held up by the locks of the dead. */
export interface Checkout extends OpenRepository, StatusPlace {
  readonly comparisons: Comparisons;
  readonly walk: Walk;
  /** Our own folder. */
  readonly ralphDir: string;
  /** How git's paths below our own folder begin; null when it lies elsewhere. */
  readonly ralphPrefix: string | null;
}

export async function openCheckout(
  root: string,
  ralphDir: string,
  bigIndexBytes = BIG_INDEX_BYTES,
): Promise<Checkout> {
  const repository = await openRepository(root);
  const { git } = repository;
  const ralphPrefix = ralphPrefixOf(root, ralphDir);
  const untracked = createUntrackedCache(git, repository.gitDir, bigIndexBytes);
  return {
    ...repository,
    untracked,
    comparisons: createComparisons(git),
    walk: createWalk({ git, root: repository.root, untracked }, () => readHead(repository, git)),
    ralphDir: resolve(root, ralphDir),
    ralphPrefix,
  };
}

/** About ten thousand files: from here on, whatever looks at all of an index takes long. */
const BIG_INDEX_BYTES = 1_000_000;

/**
 * Whether git may remember in its index which folders had nothing new: half of the walk over a hundred thousand files
 * is the search for new ones. A folder is remembered by its dates, in whole seconds, and one of them nobody can set.
 */
export interface UntrackedCache {
  isUsed(): Promise<boolean>;
}

function createUntrackedCache(git: Git, gitDir: string, bigIndexBytes: number): UntrackedCache {
  let isAllowed: Promise<boolean> | null = null;
  // Not where the operator has switched it off, as on disks that keep no dates of folders.
  const ask = async (): Promise<boolean> => {
    const { stdout } = await git.run(["config", "--type=bool-or-str", "--get", "core.untrackedCache"]);
    return stdout.trim() !== "false";
  };
  return {
    async isUsed() {
      const size = statsAt(join(gitDir, "index"))?.size ?? 0;
      return size >= bigIndexBytes && (isAllowed ??= ask());
    },
  };
}

/** The walk over the work tree. It takes the longest of all looks, so it may begin before anybody needs it. */
interface Walk {
  begin(): void;
  /** Resolves when no walk is under way: whoever moves HEAD and the index is not in its way then. */
  settled(): Promise<void>;
  /** What the walk found that has begun; without one, or when HEAD has moved since, of a new one. */
  entries(): Promise<readonly StatusEntry[]>;
}

/** To write a big index down takes longer than to look again at the few folders that change all the time. */
const REFRESH_EVERY = 10;

function createWalk(place: StatusPlace, readHead: () => Promise<Snapshot>): Walk {
  let begun: { readonly head: Promise<Snapshot>; readonly entries: Promise<StatusEntry[]> } | null = null;
  let walks = 0;
  const walk = async (): Promise<StatusEntry[]> => {
    const mayRefresh = walks % REFRESH_EVERY === 0 || !(await place.untracked.isUsed());
    walks += 1;
    return readStatus(place, { mayRefresh });
  };
  return {
    begin() {
      begun = { head: readHead(), entries: walk() };
      for (const part of [begun.head, begun.entries]) part.catch(() => {}); // told to whoever asks for it
    },
    async settled() {
      await begun?.entries.catch(() => {}); // told to whoever asks for it
    },
    async entries() {
      const ahead = begun;
      begun = null;
      if (ahead === null) return walk();
      // One that failed says nothing of how it is now.
      const [before, now] = await Promise.all([ahead.head.catch(() => null), readHead()]);
      const isMoved = before === null || before.head !== now.head || before.branch !== now.branch;
      return isMoved ? walk() : ahead.entries.catch(walk);
    },
  };
}
