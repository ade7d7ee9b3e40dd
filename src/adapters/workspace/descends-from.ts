import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import type { Checkout } from "./checkout.ts";

/** An agent makes a few commits; beyond that, git knows faster. */
const COMMITS_READ = 20;

/**
 * Whether a commit has an ancestor in its history; `known` is one that has. New commits lie in files of their own,
 * which is one less git to start.
 */
export async function descendsFrom(
  checkout: Checkout,
  commit: string,
  ancestor: string,
  known: string | null,
): Promise<boolean> {
  let at: string | undefined = commit;
  for (let count = 0; count < COMMITS_READ && at !== undefined; count += 1) {
    if (at === ancestor || at === known) return true;
    at = onlyParent(checkout, at);
  }
  return (await checkout.git.run(["merge-base", "--is-ancestor", ancestor, commit])).code === 0;
}

/** Undefined for a merge, a first commit, or one that is packed. */
function onlyParent({ commonDir }: Checkout, commit: string): string | undefined {
  try {
    const file = readFileSync(join(commonDir, "objects", commit.slice(0, 2), commit.slice(2)));
    const header = inflateSync(file).toString("latin1").split("\n\n", 1)[0] ?? "";
    const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)];
    return parents.length === 1 ? parents[0]?.[1] : undefined;
  } catch {
    return undefined; // packed, or not there: git knows
  }
}
