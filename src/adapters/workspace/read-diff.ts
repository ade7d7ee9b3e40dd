import { stripEscapes } from "../../core/report/strip-escapes.ts";
import { emptyTree } from "../git/empty-tree.ts";
import { gitError, textOf, type Git } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";
import { readPatches } from "./read-patches.ts";

export interface Diff {
  readonly files: readonly DiffFile[];
  /** Files that are left out because there are too many. */
  readonly more: number;
}

export interface DiffFile {
  readonly path: string;
  /** Of a renamed one: what it was before. */
  readonly from: string | null;
  readonly status: "added" | "changed" | "removed" | "renamed" | "binary";
  /** A unified diff without its header; null where it is too long to show. */
  readonly hunks: string | null;
}

const FILES_MAX = 300;

/** What a commit brought over another (null: over nothing); null when git no longer has them. */
export async function readDiff(
  git: Git,
  { from, to }: { readonly from: string | null; readonly to: string | null },
  redact: (text: string) => string,
): Promise<Diff | null> {
  if (to === null || from === to) return { files: [], more: 0 };
  const base = from ?? emptyTree(to);
  if (!(await isThere(git, to)) || (from !== null && !(await isThere(git, from)))) return null;
  const entries = await readEntries(git, base, to);
  const shown = entries.slice(0, FILES_MAX);
  const sections = shown.reduce((sum, { letter }) => sum + sectionsOf(letter), 0);
  const patches = await readPatches(git.start([...DIFF_TREE, "--patch", base, to]), sections);
  let section = 0;
  const files = shown.map(({ letter, paths }): DiffFile => {
    const own = patches.slice(section, (section += sectionsOf(letter)));
    const isBinary = own.some((patch) => patch.isBinary);
    const texts = own.map(({ hunks }) => (hunks === null ? null : redact(stripEscapes(hunks))));
    return {
      path: textOf(paths.at(-1) ?? ""),
      from: letter === "R" ? textOf(paths[0] ?? "") : null,
      status: isBinary ? "binary" : (STATUSES[letter] ?? "changed"),
      hunks: isBinary || own.length === 0 || texts.includes(null) ? null : texts.join(""),
    };
  });
  return { files, more: entries.length - shown.length };
}

/** One that the operator's own settings do not change. */
const DIFF_TREE = [
  "diff-tree",
  "-r",
  "--find-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--submodule=short",
];
const STATUSES: Readonly<Record<string, DiffFile["status"]>> = {
  A: "added",
  C: "added",
  D: "removed",
  R: "renamed",
};
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Of a file that became a link, or the other way round, git shows that one is gone and the other new. */
function sectionsOf(letter: string): number {
  return letter === "T" ? 2 : 1;
}

async function isThere(git: Git, commit: string): Promise<boolean> {
  return OBJECT_ID.test(commit) && (await resolveCommit(git, commit)) !== null;
}

interface Entry {
  readonly letter: string;
  /** Two of a renamed or copied file. */
  readonly paths: readonly string[];
}

async function readEntries(git: Git, from: string, to: string): Promise<readonly Entry[]> {
  const fields: string[] = [];
  const args = [...DIFF_TREE, "--raw", "-z", from, to];
  const result = await git.run(args, { onRecord: (field) => fields.push(field) });
  if (result.code !== 0) throw gitError(args, result);
  const entries: Entry[] = [];
  for (let at = 0; at < fields.length;) {
    const letter = /^:.* ([A-Z])\d*$/.exec(fields[at] ?? "")?.[1] ?? "M";
    const paths = letter === "R" || letter === "C" ? 2 : 1;
    entries.push({ letter, paths: fields.slice(at + 1, at + 1 + paths) });
    at += 1 + paths;
  }
  return entries;
}
