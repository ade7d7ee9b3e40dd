import { DETACHED } from "../../../core/text.ts";
import { RalphError } from "../../../core/errors.ts";
import type { MergeRequest } from "../../../engine/parallel-ports.ts";
import { bytesOf, type Git, isHere } from "../git.ts";
import type { OpenRepository } from "../find-repository.ts";
import { resolveCommit } from "../read-head.ts";

/** Makes commits in the operator's name, or in ours where git has been told none. */
export interface Committer {
  commit(tree: string, parents: readonly string[], message: string): Promise<string>;
  /** Author, date and message as another commit has them; null when git does not take them. */
  again(commit: string, tree: string, parent: string): Promise<string | null>;
}

export function createCommitter(git: Git, { identity }: Pick<OpenRepository, "identity">): Committer {
  return {
    async commit(tree, parents, message) {
      const args = ["commit-tree", ...parents.flatMap((parent) => ["-p", parent]), tree];
      return (await git.must([...(await identity()), ...args], { input: bytesOf(message) })).trim();
    },
    async again(commit, tree, parent) {
      const [original, committer] = await Promise.all([
        git.must(["cat-file", "commit", commit]),
        git.must([...(await identity()), "var", "GIT_COMMITTER_IDENT"]),
      ]);
      const end = original.indexOf("\n\n");
      const headers = original.slice(0, end).split("\n");
      const headerOf = (name: string): string[] => headers.filter((line) => line.startsWith(`${name} `));
      const lines = [
        `tree ${tree}`,
        `parent ${parent}`,
        ...headerOf("author"),
        `committer ${committer.trim()}`,
        ...headerOf("encoding"),
      ];
      const input = lines.join("\n") + original.slice(end);
      const made = await git.run(["hash-object", "-t", "commit", "-w", "--stdin"], { input });
      return made.code === 0 ? made.stdout.trim() : null;
    },
  };
}

/** Where a branch is: its last commit. */
export type FindTip = (git: Git, branch: string) => Promise<string>;

/** In this repository, or in the one that several machines share. */
export interface WhereCommitsAre {
  readonly findTip: FindTip;
  /** Null when the accepted commit is here with all that it needs; otherwise why not, and what helps. */
  readonly whyGone: (git: Git, request: MergeRequest) => Promise<string | null>;
}

export const HERE: WhereCommitsAre = {
  findTip,
  whyGone: async (git, { commit, branch }) =>
    (await isHere(git, commit))
      ? null
      : `the accepted commit ${commit} of ${branch} is no longer in this repository; fetch it from where it still is`,
};

async function findTip(git: Git, branch: string): Promise<string> {
  const tip = await resolveCommit(git, refOf(branch));
  if (tip !== null) return tip;
  const { stdout } = await git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  if (stdout.trim() === branch) {
    throw new RalphError("git-failed", `the branch ${branch} has no commit yet`, {
      hint: "make one: git commit --allow-empty -m first",
    });
  }
  throw new RalphError("git-failed", `there is no branch ${branch}`, { hint: "git branch --list" });
}

export function refOf(branch: string): string {
  return branch === DETACHED ? branch : `refs/heads/${branch}`;
}

/** What a tree or an index has under a path. */
export interface TreeEntry {
  readonly mode: string;
  readonly oid: string;
}

/** A path and what is there; null: nothing. The path is git's, byte for byte. */
export type EntryAt = readonly [bytes: string, entry: TreeEntry | null];

export const FOLDER_MODE = "040000";
export const LINK_MODE = "120000";
export const SUBMODULE_MODE = "160000";

export async function readEntry(git: Git, tree: string, path: string): Promise<TreeEntry | null> {
  const listed = await git.must(["ls-tree", "-z", "--full-tree", tree, "--", `:(literal)${path}`]);
  const [, mode, oid, bytes] = /^(\d+) \S+ (\S+)\t([^\0]*)\0$/.exec(listed) ?? [];
  return mode !== undefined && oid !== undefined && bytes === bytesOf(path) ? { mode, oid } : null;
}

/** The tree with other entries. Works in the index of a workbench. */
export async function withEntries(git: Git, tree: string, entries: readonly EntryAt[]): Promise<string> {
  if (entries.length === 0) return tree;
  await git.must(["read-tree", tree]);
  await git.must(["update-index", "-z", "--index-info"], { input: indexInfo(entries, tree) });
  return (await git.must(["write-tree"])).trim();
}

/** As `git update-index --index-info` reads it; `sibling` is any object's name. */
export function indexInfo(entries: readonly EntryAt[], sibling: string): string {
  const nothing = { mode: "0", oid: "0".repeat(sibling.length) };
  return entries
    .map(([bytes, entry]) => [bytes, entry ?? nothing] as const)
    .map(([bytes, { mode, oid }]) => `${mode} ${oid}\t${bytes}\0`)
    .join("");
}

export function isSameEntry(one: TreeEntry | null, other: TreeEntry | null): boolean {
  return one?.mode === other?.mode && one?.oid === other?.oid;
}

export async function treeOf(git: Git, commit: string): Promise<string> {
  return (await git.must(["rev-parse", "--verify", `${commit}^{tree}`])).trim();
}
