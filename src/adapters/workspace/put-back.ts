import { PATHS_KEPT } from "../../core/report/evidence.ts";
import type { CollectRequest } from "../../engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { commitIndex, isMerging, withOwnIndex, type Env } from "./commit-leftovers.ts";
import { commitMessage } from "../git/commit-message.ts";
import { findTampered, type Tampered } from "./find-tampered.ts";
import { textOf, type Git } from "../git/git.ts";
import type { KeptFiles } from "./kept-files.ts";
import { PutAside } from "./put-aside.ts";
import { readPutBackRecord, writePutBackRecord } from "./put-back-record.ts";
import { readHead } from "../git/read-head.ts";
import { readLeftovers, type Leftovers } from "./read-leftovers.ts";
import type { Owner } from "./whose-path.ts";

export interface PutBackOptions {
  readonly whose: (path: string) => Owner;
  /** Null when this process did not see the iteration begin. */
  readonly kept: KeptFiles | null;
  readonly onRefusal: (words: string) => void;
}

export interface PutBackResult {
  readonly putBack: readonly string[];
  /** What is uncommitted afterwards. */
  readonly left: Leftovers;
}

/**
 * One look at the work tree. Protected files that are not what they were are put back, committed if the agent had
 * committed them; its own versions are kept aside.
 */
export async function putBackProtected(
  checkout: Checkout,
  request: CollectRequest,
  { whose, kept, onRefusal }: PutBackOptions,
): Promise<PutBackResult> {
  const { git } = checkout;
  const { head } = await readHead(checkout, git);
  const [left, inCommits] = await Promise.all([
    readLeftovers(checkout, whose),
    head === null ? new Map<string, "new" | "old">() : checkout.comparisons.names(request.from.head, head),
  ]);
  const aside = new PutAside(checkout, request);
  const isOurRecord = kept === null || kept.recorded.has(request.iteration);
  const before = isOurRecord ? readPutBackRecord(aside, request) : null;
  const look = { left, inCommits, whose, kept: kept?.files ?? before?.kept ?? null };
  const found = findTampered(checkout, request, look);
  const known = before?.paths ?? [];
  if (found.length === 0) return { putBack: answer(known), left };
  const inBase = await entriesAt(git, request.from.head, found);
  const items = found.filter((item) => isPossible(item, inBase));
  const paths = [...new Set([...known, ...items.map((item) => textOf(item.bytes).replace(/\/$/, ""))])];
  if (items.length === 0) return { putBack: answer(known), left };
  writePutBackRecord(aside, request, { paths, kept: look.kept });
  kept?.recorded.add(request.iteration);
  await restore(checkout, items, inBase ?? new Map(), aside);
  await commitPutBack(checkout, request, { items, inBase: inBase ?? new Map(), onRefusal });
  return { putBack: answer(paths), left: await readLeftovers(checkout, whose) };
}

function answer(paths: readonly string[]): readonly string[] {
  return paths.toSorted().slice(0, PATHS_KEPT);
}

/** What git had of the paths when the iteration began, as its index writes it; null when that commit is gone. */
async function entriesAt(git: Git, from: string | null, items: readonly Tampered[]): Promise<Entries | null> {
  const entries = new Map<string, string>();
  if (from === null) return entries;
  const wanted = new Set(items.map((item) => item.bytes));
  const { code } = await git.run(["ls-tree", "-r", "-z", "--full-tree", from], {
    onRecord: (record) => {
      const [, mode = "", oid = "", bytes = ""] = /^(\d+) \w+ (\w+)\t([^]*)$/.exec(record) ?? [];
      if (wanted.has(bytes)) entries.set(bytes, `${mode} ${oid}`);
    },
  });
  return code === 0 ? entries : null;
}

type Entries = ReadonlyMap<string, string>;

/** A submodule's own files are another repository's. */
function isPossible({ bytes, was }: Tampered, inBase: Entries | null): boolean {
  if (was !== null) return true;
  return inBase !== null && inBase.get(bytes)?.startsWith("160000 ") !== true;
}

async function restore(
  checkout: Checkout,
  items: readonly Tampered[],
  inBase: Entries,
  aside: PutAside,
): Promise<void> {
  const { git } = checkout;
  for (const { bytes } of items) aside.take(bytes);
  for (const { bytes, was } of items) if (was !== null) aside.write(bytes, was);
  const fromGit = items.filter(({ bytes, was }) => was === null && inBase.has(bytes));
  if (fromGit.length > 0) {
    await withOwnIndex(checkout, async (env) => {
      await git.must(["read-tree", "--empty"], { env });
      await setIndex(git, fromGit, inBase, env);
      await git.must(["checkout-index", "--force", "--all"], { env });
    });
  }
  for (const { bytes } of items) aside.prune(bytes);
  const inIndex = items.filter((item) => item.isStaged || item.isCommitted);
  if (inIndex.length > 0) await setIndex(git, inIndex, inBase, {});
}

/** Also a path that the configuration's owner has changed is committed as git had it. */
async function commitPutBack(
  checkout: Checkout,
  request: CollectRequest,
  {
    items,
    inBase,
    onRefusal,
  }: {
    readonly items: readonly Tampered[];
    readonly inBase: Entries;
    readonly onRefusal: (words: string) => void;
  },
): Promise<void> {
  const committed = items.filter((item) => item.isCommitted);
  // In the middle of a merge a commit would be the merge's; what is in the index goes with it.
  if (committed.length === 0 || isMerging(checkout)) return;
  await withOwnIndex(checkout, async (env) => {
    await checkout.git.must(["read-tree", "HEAD"], { env });
    await setIndex(checkout.git, committed, inBase, env);
    const message = commitMessage(request, "put back protected files");
    await commitIndex(checkout, { message, hooks: request.hooks, env, onRefusal });
  });
}

async function setIndex(git: Git, items: readonly Tampered[], inBase: Entries, env: Env): Promise<void> {
  const lines = items.map(({ bytes }) => `${inBase.get(bytes) ?? NOTHING}\t${bytes}\0`);
  await git.must(["update-index", "--replace", "-z", "--index-info"], { input: lines.join(""), env });
}

/** Mode 0 takes a path out of the index, whatever the object. */
const NOTHING = `0 ${"0".repeat(40)}`;
