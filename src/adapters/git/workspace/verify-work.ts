import { join } from "node:path";
import type { AcceptedWork, WorkToday } from "../../../core/views/verification.ts";
import { openCheckout, type Checkout } from "./checkout.ts";
import { contains, textOf, type Git } from "../git.ts";
import { changedInTree } from "./read-diff.ts";
import { readHead, resolveCommit } from "../read-head.ts";
import type { GateLine } from "../../../core/verdict/check-files.ts";
import { statsAt } from "../../process/look-at.ts";
import { readSetBacks } from "./read-set-backs.ts";

/** What became of accepted work: looks at the work tree as it is, and changes nothing. */
export async function verifyWork(
  { root, ralphDir }: { readonly root: string; readonly ralphDir: string },
  accepted: AcceptedWork,
  gates: readonly GateLine[] = [],
): Promise<WorkToday> {
  const checkout = await openCheckout(root, ralphDir);
  const { git } = checkout;
  const { head } = await readHead(checkout, git);
  const [commit, base] = await Promise.all([known(git, accepted.commit), known(git, accepted.base)]);
  const isInHistory = commit !== null && head !== null && (await contains(git, head, commit));
  const paths = accepted.paths.filter((path) => !path.includes("\0"));
  const [thenState, baseState, checkFiles] = await Promise.all([
    commit === null ? null : compare(checkout, commit, paths),
    // Work on a repository without a commit began with nothing.
    base === null ? (accepted.base === null ? NOTHING : null) : compare(checkout, base, paths),
    isInHistory ? checkFilesSince(checkout, commit, head, gates) : [],
  ]);
  const undone: string[] = [];
  const gone: string[] = [];
  for (const path of paths) {
    const fate = fateOf(root, path, thenState, baseState);
    if (fate === "undone") undone.push(path);
    const isLost = thenState === null || thenState.has.has(path) || commit === null;
    if (fate === "gone" && (isLost || !(await wasCommitted(git, commit, path)))) gone.push(path);
  }
  return {
    commit:
      accepted.commit === null ? "none" : commit === null ? "gone" : isInHistory ? "in-history" : "elsewhere",
    undone,
    gone,
    checkFiles,
  };
}

async function known(git: Git, commit: string | null): Promise<string | null> {
  return commit === null ? null : resolveCommit(git, commit);
}

/** What no longer existed at the commit, and had existed before, was deleted on purpose. */
async function wasCommitted(git: Git, commit: string, path: string): Promise<boolean> {
  return (await git.must(["rev-list", "-1", commit, "--", `:(literal)${path}`])) !== "";
}

/** A commit against the work tree: which of the paths it has, and which of them are different now. */
interface Comparison {
  readonly has: ReadonlySet<string>;
  readonly differs: ReadonlySet<string>;
}

const NOTHING: Comparison = { has: new Set(), differs: new Set() };

async function compare({ git }: Checkout, commit: string, paths: readonly string[]): Promise<Comparison> {
  if (paths.length === 0) return NOTHING;
  const literal = paths.map((path) => `:(literal)${path}`);
  const list = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", ...literal];
  const [has, differs] = await Promise.all([git.records(list), changedInTree(git, commit, commit, paths)]);
  return { has: new Set(has.map(textOf)), differs: new Set(differs) };
}

/**
 * `undone`: as it was before the task, and that is not how it was accepted. `gone`: accepted, and no longer there. What
 * somebody worked on since is neither.
 */
function fateOf(
  root: string,
  path: string,
  accepted: Comparison | null,
  base: Comparison | null,
): "there" | "undone" | "gone" {
  const exists = statsAt(join(root, path)) !== null;
  const isAs = (then: Comparison): boolean =>
    then.has.has(path) ? !then.differs.has(path) : !exists && !then.differs.has(path);
  // Accepted work that no commit holds lay in the work tree.
  const isCommitted = accepted?.has.has(path) === true || base?.has.has(path) === true;
  if (accepted !== null && isCommitted && isAs(accepted)) return "there";
  if (base !== null && isAs(base)) return base.has.has(path) ? "undone" : "gone";
  return !exists && accepted?.has.has(path) === true ? "gone" : "there";
}

async function checkFilesSince(
  checkout: Checkout,
  commit: string,
  head: string | null,
  gates: readonly GateLine[],
): Promise<readonly string[]> {
  const { git, ralphPrefix } = checkout;
  if (head === null) return [];
  const changed = await changedInTree(git, commit, head, []);
  const counted = changed.filter((path) => ralphPrefix === null || !path.startsWith(ralphPrefix));
  const request = { base: commit, changed: counted, gates, since: Date.now(), oldChecks: "auto" } as const;
  return (await readSetBacks(checkout, request)).setBacks.map(({ path }) => path);
}
