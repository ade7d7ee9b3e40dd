import { posix } from "node:path";
import { RalphError } from "../../../core/errors.ts";
import type {
  FileMark,
  MergeRequest,
  PreparedMerge,
  PreparedRevert,
  RevertRequest,
} from "../../../engine/parallel-ports.ts";
import { bytesOf, emptyTree, type Git, gitError, isHere, textOf } from "../git.ts";
import { resolveCommit } from "../read-head.ts";
import {
  changesBetween,
  type EntryAt,
  FOLDER_MODE,
  isSameEntry,
  LINK_MODE,
  readEntry,
  treeOf,
  withEntries,
} from "../tree-entries.ts";
import { commitMessage, type CommitPlace, copyCommit, refOf, writeCommit } from "../write-commit.ts";

/** In this repository, or in the one that several machines share. */
export interface WhereCommitsAre {
  /** Where a branch is: its last commit. */
  readonly findTip: (git: Git, branch: string) => Promise<string>;
  /** Null when the accepted commit is here with all that it needs; otherwise why not, and what helps. */
  readonly whyGone: (git: Git, request: MergeRequest) => Promise<string | null>;
}

export const HERE: WhereCommitsAre = {
  async findTip(git, branch) {
    const tip = await resolveCommit(git, refOf(branch));
    if (tip !== null) return tip;
    const { stdout } = await git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]);
    if (stdout.trim() === branch) {
      throw new RalphError("git-failed", `the branch ${branch} has no commit yet`, {
        hint: "make one: git commit --allow-empty -m first",
      });
    }
    throw new RalphError("git-failed", `there is no branch ${branch}`, { hint: "git branch --list" });
  },
  whyGone: async (git, { commit, branch }) =>
    (await isHere(git, commit))
      ? null
      : `the accepted commit ${commit} of ${branch} is no longer in this repository; fetch it from where it still is`,
};

/** Makes the commit that the base would become. The three ways differ in its history, never in its files. */
export async function prepareMerge(
  place: CommitPlace,
  request: MergeRequest,
  { findTip, whyGone }: WhereCommitsAre,
): Promise<PreparedMerge> {
  const { git } = place;
  const [from, branch] = [await findTip(git, request.base), request.commit];
  const why = await whyGone(git, request);
  if (why !== null) return { is: "gone", why };
  if ((await git.ask(["merge-base", from, branch])).code !== 0) return unrelated(git, from, branch);
  await layOutAttributes(git, from);
  const source = await markFile(git, request.mark, { ours: from, theirs: branch });
  const merged = await mergeHolding(git, source, from, branch);
  if (merged.conflicts.length > 0) return { is: "conflict", from, paths: merged.conflicts };
  const work = merged.tree;
  const tree = await holding(git, work, source.marked);
  const before = await treeOf(git, from);
  if (tree === before) return { is: "nothing", from };
  const commit = (what: string, ...parents: string[]): Promise<string> =>
    writeCommit(place, tree, parents, commitMessage(request, what));
  const writeHistory = async (): Promise<string> => {
    if (work === before) return commit(MARK, from);
    if (request.how === "merge") return commit(request.title, from, branch);
    const replay = { branch, onto: from, held: source.held, tree: work };
    const at = request.how === "rebase" ? await replayCommits(place, replay) : null;
    // After a conflict that the branch solved by a merge, its commits may go together but not one by one.
    if (at === null) return commit(request.title, from);
    return tree === work ? at : commit(MARK, at);
  };
  return { is: "ready", from, to: await writeHistory() };
}

const MARK = "mark done";

/** The branch's work on the base, as if the branch had the base's task source. */
async function mergeHolding(
  git: Git,
  { held }: SourceFile,
  ours: string,
  branch: string,
): Promise<MergedTree> {
  const tree = await treeOf(git, branch);
  const asOurs = await holding(git, tree, held);
  const theirs = asOurs === tree ? branch : await passingCommit(git, asOurs, [branch]);
  const merged = await mergeCommits(git, ours, theirs);
  return settle(git, merged, held);
}

/** Conflicts of what is held are none. */
async function settle(git: Git, merged: MergedTree, held: SourceFile["held"]): Promise<MergedTree> {
  const paths = new Set(held.map(([bytes]) => textOf(bytes)));
  const conflicts = merged.conflicts.filter((path) => !paths.has(path));
  return conflicts.length > 0
    ? { ...merged, conflicts }
    : { tree: await holding(git, merged.tree, held), conflicts };
}

async function unrelated(git: Git, from: string, branch: string): Promise<PreparedMerge> {
  const changes = [...(await changesBetween(git, from, branch)).values()];
  const inBoth = changes.filter(({ before, after }) => before !== null && after !== null);
  const paths = inBoth.map(({ bytes }) => textOf(bytes));
  return { is: "conflict", from, paths, why: "the two have no commit in common" };
}

/** Makes the commit that takes back what led from one commit to another, and leaves what others brought. */
export async function prepareRevert(
  place: CommitPlace,
  request: RevertRequest,
  { findTip }: WhereCommitsAre,
): Promise<PreparedRevert> {
  const { git } = place;
  const from = await findTip(git, request.base);
  await layOutAttributes(git, from);
  const { held, marked } = await markFile(git, request.mark, { ours: from, theirs: from });
  const before = await treeOf(git, from);
  let tree = before;
  const treeAt = async (commit: string | null): Promise<string> =>
    holding(git, commit === null ? emptyTree(from) : await treeOf(git, commit), held);
  for (const span of request.spans) {
    const back = { from: await treeAt(span.to), to: await treeAt(span.from), onto: tree };
    const merged = await settle(git, await mergeTrees(git, back), held);
    if (merged.conflicts.length > 0) return { is: "conflict", from, paths: merged.conflicts };
    ({ tree } = merged);
  }
  tree = await holding(git, tree, marked);
  if (tree === before) return { is: "nothing", from };
  const message = commitMessage(request, request.what ?? "undo");
  return { is: "ready", from, to: await writeCommit(place, tree, [from], message) };
}

interface Replay {
  readonly branch: string;
  readonly onto: string;
  /** What stays as it is, whatever the commits do to it. */
  readonly held: readonly EntryAt[];
  /** The tree that must come out. */
  readonly tree: string;
}

/**
 * The branch's commits one by one on top of another commit; what changes nothing there is left out. Null when they
 * do not come to the tree that they should: one of them conflicts, or a merge among them did more than to merge.
 */
async function replayCommits(place: CommitPlace, replay: Replay): Promise<string | null> {
  const { git } = place;
  const { held, branch, onto } = replay;
  let at = replay.onto;
  let tree = await treeOf(git, at);
  const range = ["--reverse", "--topo-order", "--no-merges", "--parents", branch, `^${onto}`];
  for (const line of (await git.must(["rev-list", ...range])).split("\n").filter(Boolean)) {
    const [commit = "", parent = null] = line.split(" ");
    const before = parent === null ? emptyTree(commit) : await treeOf(git, parent);
    const [from, to] = [
      await holding(git, before, held),
      await holding(git, await treeOf(git, commit), held),
    ];
    const merged = await mergeTrees(git, { from, to, onto: tree });
    if (merged.conflicts.length > 0) return null;
    if (merged.tree === tree) continue;
    const next = await copyCommit(place, commit, { tree: merged.tree, parent: at });
    if (next === null) return null;
    [at, tree] = [next, merged.tree];
  }
  return tree === replay.tree ? at : null;
}

/** Puts the commit's `.gitattributes` into the workbench: git merges by those of the work tree alone. */
async function layOutAttributes(git: Git, commit: string): Promise<void> {
  await git.must(["read-tree", commit]);
  const paths = await git.must(["ls-files", "-z", "--", ":(glob)**/.gitattributes"]);
  if (paths !== "") await git.must(["checkout-index", "--quiet", "-z", "--stdin"], { input: paths });
}

/** How the task source fares in a merge. */
interface SourceFile {
  /** As the base has it, until it is marked: the file and the links that lead to it. */
  readonly held: readonly EntryAt[];
  readonly marked: readonly EntryAt[];
}

/** The base's version counts; the other's only where the base has none. */
async function markFile(
  git: Git,
  mark: FileMark | null,
  { ours, theirs }: { readonly ours: string; readonly theirs: string },
): Promise<SourceFile> {
  if (mark === null) return NO_FILE;
  const inOurs = await followLinks(git, ours, mark.path);
  const found = inOurs.length > 0 ? inOurs : await followLinks(git, theirs, mark.path);
  const [bytes, entry] = found.at(-1) ?? ["", null];
  if (entry === null) return NO_FILE;
  const held: EntryAt[] = [];
  for (const path of new Set([bytesOf(mark.path), ...found.map(([at]) => at)])) {
    const own = await readEntry(git, ours, textOf(path));
    if (own?.mode !== FOLDER_MODE) held.push([path, own]);
  }
  const content = Buffer.from(await git.must(["cat-file", "blob", entry.oid]), "latin1");
  const input = mark.apply(content).toString("latin1");
  const oid = (await git.must(["hash-object", "-w", "--stdin"], { input })).trim();
  return { held, marked: [...found.slice(0, -1), [bytes, { ...entry, oid }]] };
}

const NO_FILE: SourceFile = { held: [], marked: [] };

/** The tree with these entries, made only if it has others. */
async function holding(git: Git, tree: string, entries: readonly EntryAt[]): Promise<string> {
  for (const [bytes, entry] of entries) {
    if (!isSameEntry(await readEntry(git, tree, textOf(bytes)), entry))
      return withEntries(git, tree, entries);
  }
  return tree;
}

const HOPS_MAX = 20;

/** The file that a path means in a tree, links followed; with it the links on the way. Empty: there is none. */
async function followLinks(git: Git, tree: string, path: string): Promise<readonly EntryAt[]> {
  const links: EntryAt[] = [];
  let rest = path.split("/");
  let folder = "";
  while (links.length < HOPS_MAX) {
    const name = rest.shift();
    if (name === undefined) return [];
    const here = posix.join(folder, name);
    if (here === ".." || here.startsWith("../")) return [];
    const entry = here === "." ? null : await readEntry(git, tree, here);
    if (entry === null && here !== ".") return [];
    if (entry?.mode === LINK_MODE) {
      const target = textOf(await git.must(["cat-file", "blob", entry.oid]));
      if (target.startsWith("/")) return [];
      links.push([bytesOf(here), entry]);
      rest = [...target.split("/"), ...rest];
    } else if (rest.length === 0) {
      return entry?.mode.startsWith("100") === true ? [...links, [bytesOf(here), entry]] : [];
    } else {
      folder = here;
    }
  }
  return [];
}

interface MergedTree {
  /** With conflicts, their marks are in it. */
  readonly tree: string;
  readonly conflicts: readonly string[];
}

/** Two commits with a common past. */
async function mergeCommits(git: Git, ours: string, theirs: string): Promise<MergedTree> {
  const args = ["merge-tree", "--write-tree", "--name-only", "-z", ours, theirs];
  const result = await git.run(args);
  if (result.code > 1) throw gitError(args, result);
  const [tree = "", ...records] = result.stdout.split("\0");
  if (result.code === 0) return { tree: tree.trim(), conflicts: [] };
  // Git lists the paths in conflict, an empty record, then messages with the paths that each is about.
  const gap = records.indexOf("");
  // Folders that were renamed in two ways have messages only.
  const paths = gap > 0 ? records.slice(0, gap) : messagePaths(records.slice(gap + 1));
  return { tree, conflicts: [...new Set(paths.map(textOf))].toSorted() };
}

/** What leads from one tree to the other, done to a third. */
async function mergeTrees(
  git: Git,
  { from, to, onto }: { readonly from: string; readonly to: string; readonly onto: string },
): Promise<MergedTree> {
  if (from === onto) return { tree: to, conflicts: [] };
  if (from === to || to === onto) return { tree: onto, conflicts: [] };
  const past = await passingCommit(git, from, []);
  const [ours, theirs] = await Promise.all([
    passingCommit(git, onto, [past]),
    passingCommit(git, to, [past]),
  ]);
  return mergeCommits(git, ours, theirs);
}

/** A commit that nobody will ever see: git merges commits only. */
async function passingCommit(git: Git, tree: string, parents: readonly string[]): Promise<string> {
  const args = ["commit-tree", ...parents.flatMap((parent) => ["-p", parent]), tree];
  return (await git.must(args, { input: "merging\n", env: NOBODY })).trim();
}

const NOBODY = {
  GIT_AUTHOR_NAME: "Ralph",
  GIT_AUTHOR_EMAIL: "ralph@localhost",
  GIT_AUTHOR_DATE: "@0 +0000",
  GIT_COMMITTER_NAME: "Ralph",
  GIT_COMMITTER_EMAIL: "ralph@localhost",
  GIT_COMMITTER_DATE: "@0 +0000",
};

function messagePaths(records: readonly string[]): readonly string[] {
  const paths: string[] = [];
  for (let at = 0; at < records.length;) {
    const count = Number(records[at]);
    const kind = records[at + count + 1];
    if (kind === undefined) break;
    if (kind.startsWith("CONFLICT")) paths.push(...records.slice(at + 1, at + 1 + count));
    at += count + 3;
  }
  return paths;
}
