import { join, posix } from "node:path";
import type { Snapshot } from "../../engine/ports.ts";
import { TEMPORARY_PREFIX } from "../system/atomic-file.ts";
import { openCheckout, type Checkout } from "./checkout.ts";
import { lookOf } from "./read-leftovers.ts";
import { readHead } from "../git/read-head.ts";
import { readStatus } from "./read-status.ts";
import { withRealPaths } from "./whose-path.ts";
import { createGit, textOf } from "../git/git.ts";

export interface TreeChanges {
  /** Relative to the root; what git ignores is left out. */
  readonly paths: readonly string[];
  /** Where HEAD was, if it is elsewhere now. */
  readonly headWas: Snapshot | null;
}

/**
 * Remembers the work tree as it is, uncommitted work included; the answer tells what has changed since. It changes
 * nothing. The paths to leave out are relative to the root.
 */
export async function watchTree(
  { root, ralphDir }: { readonly root: string; readonly ralphDir: string },
  leaveOut: readonly string[],
): Promise<() => Promise<TreeChanges>> {
  const checkout = await openCheckout(root, ralphDir);
  const before = await lookAt(checkout);
  return async () => {
    const now = await lookAt(checkout);
    // A file that was put back may be a link's target; both names are meant.
    const left = new Set(withRealPaths(checkout.root, leaveOut));
    const paths = [...new Set([...before.looks.keys(), ...now.looks.keys()])].filter(
      (path) => before.looks.get(path) !== now.looks.get(path) && !left.has(path),
    );
    const hasMoved = before.head.head !== now.head.head || before.head.branch !== now.head.branch;
    return { paths: paths.toSorted(), headWas: hasMoved ? before.head : null };
  };
}

interface Look {
  readonly head: Snapshot;
  /** Of each path that differs from HEAD. */
  readonly looks: ReadonlyMap<string, string>;
}

async function lookAt(checkout: Checkout): Promise<Look> {
  const [head, entries] = await Promise.all([readHead(checkout, checkout.git), readStatus(checkout)]);
  const looks = entries
    .filter(({ path }) => !posix.basename(path).startsWith(TEMPORARY_PREFIX))
    .map(({ path, is, staged }) => [path, `${is} ${staged} ${lookOf(join(checkout.root, path))}`] as const);
  return { head, looks: new Map(looks) };
}

/** Those of the paths, relative to the root and inside it, that git keeps a history of. */
export async function trackedPaths(root: string, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const literal = paths.map((path) => `:(literal)${path}`);
  const listed = await createGit(root).must(["ls-files", "-z", "--", ...literal]);
  const tracked = new Set(listed.split("\0").map(textOf));
  return paths.filter((path) => tracked.has(path));
}
