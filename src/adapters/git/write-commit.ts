import { existsSync } from "node:fs";
import { join } from "node:path";
import { DETACHED } from "../../core/text.ts";
import type { CommitRequest } from "../../engine/ports.ts";
import type { OpenRepository } from "./find-repository.ts";
import { bytesOf } from "./git.ts";

const SUBJECT_LENGTH_MAX = 72;

/** The trailers tell which iteration a commit belongs to. */
export function commitMessage(
  { task, run, iteration }: Pick<CommitRequest, "task" | "run" | "iteration">,
  what: string,
): string {
  const subject = Array.from(`ralph(${oneLine(task)}): ${oneLine(what)}`);
  const isTooLong = subject.length > SUBJECT_LENGTH_MAX;
  const start = subject.slice(0, isTooLong ? SUBJECT_LENGTH_MAX - 1 : SUBJECT_LENGTH_MAX).join("");
  const short = isTooLong ? `${start.trimEnd()}…` : start;
  return `${short}\n\nRalph-Run: ${oneLine(run)}\nRalph-Iteration: ${iteration}\n`;
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** Where commits are made in the operator's name, or in ours where git has been told none. */
export type CommitPlace = Pick<OpenRepository, "git" | "identity">;

export async function writeCommit(
  { git, identity }: CommitPlace,
  tree: string,
  parents: readonly (string | null)[],
  message: string,
): Promise<string> {
  const args = ["commit-tree", ...parents.flatMap((parent) => (parent === null ? [] : ["-p", parent])), tree];
  return (await git.must([...(await identity()), ...args], { input: bytesOf(message) })).trim();
}

/** Author, date and message as another commit has them; null when git does not take them. */
export async function copyCommit(
  { git, identity }: CommitPlace,
  commit: string,
  { tree, parent }: { readonly tree: string; readonly parent: string },
): Promise<string | null> {
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
}

export function refOf(branch: string): string {
  return branch === DETACHED ? branch : `refs/heads/${branch}`;
}

/** Names the operation that git has not finished in a checkout, such as a rebase; null if there is none. */
export function underWay(gitDir: string): string | null {
  return BEGUN.find(([file]) => existsSync(join(gitDir, file)))?.[1] ?? null;
}

const BEGUN: readonly (readonly [file: string, words: string])[] = [
  ["rebase-merge", "a rebase"],
  ["rebase-apply", "a rebase"],
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["sequencer", "a cherry-pick or revert"],
  ["BISECT_LOG", "a bisection"],
  ["BISECT_START", "a bisection"],
];
