import { stripEscapes } from "../../../core/words/strip-escapes.ts";
import { emptyTree, type Git, gitError, textOf } from "../git.ts";
import { openRepository } from "../find-repository.ts";
import { resolveCommit } from "../read-head.ts";
import { withOwnIndex } from "./commit-leftovers.ts";

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
  const patches = await readPatches(git, base, to);
  let section = 0;
  const files = shown.map(({ letter, paths }): DiffFile => {
    const own = patches.slice(section, (section += sectionsOf(letter)));
    const isBinary = own.some((patch) => patch.isBinary);
    const texts = own.map(({ hunks }) => (hunks === null ? null : redact(stripEscapes(hunks))));
    const name = (path = ""): string => redact(stripEscapes(textOf(path)));
    return {
      path: name(paths.at(-1)),
      from: letter === "R" ? name(paths[0]) : null,
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

const PATCH_KEPT = 60_000;

/** The same as one text for a reader, cut where it is long. */
export async function readPatch(
  git: Git,
  from: string | null,
  to: string | null,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const diff = await readDiff(git, { from, to }, (text) => text);
  const parts = (diff?.files ?? []).map(
    ({ path, from: before, status, hunks }) =>
      `--- ${path} (${before === null ? status : `renamed from ${before}`})\n${hunks ?? "(too long or binary)\n"}`,
  );
  const text = parts.join("\n");
  return { text: text.slice(0, PATCH_KEPT), isCut: text.length > PATCH_KEPT || (diff?.more ?? 0) > 0 };
}

/** One file's part of a patch. */
interface Patch {
  readonly isBinary: boolean;
  /** Without the header; null where there is too much of it. */
  readonly hunks: string | null;
}

const PATCH_LENGTH_MAX = 200_000;
const KEPT_LENGTH_MAX = 4_000_000;
const READ_LENGTH_MAX = 20_000_000;

async function readPatches(git: Git, from: string, to: string): Promise<readonly Patch[]> {
  const args = [...DIFF_TREE, "--patch", from, to];
  const { stdout } = await git.run(args, { outputBytesMax: READ_LENGTH_MAX });
  // Inside of hunks every line begins with another character.
  const sections = stdout.split(/^(?=diff --git )/m);
  if (stdout.length >= READ_LENGTH_MAX) sections.pop();
  let kept = 0;
  return sections.map((section) => {
    const at = section.search(/^@@ /m);
    const hunks = at < 0 ? "" : section.slice(at);
    if (hunks.length <= PATCH_LENGTH_MAX) kept += hunks.length;
    const isTooLong = hunks.length > PATCH_LENGTH_MAX || kept > KEPT_LENGTH_MAX;
    return { isBinary: at < 0 && /^Binary files /m.test(section), hunks: isTooLong ? null : textOf(hunks) };
  });
}

interface WorkDiff {
  readonly from: string | null;
  /** Null: the work tree as it is, new files included. */
  readonly to: string | null;
}

/** The whole difference as git prints it, however long. */
export async function diffText(root: string, { from, to }: WorkDiff): Promise<string> {
  const checkout = await openRepository(root);
  const { git } = checkout;
  const base = from ?? emptyTree(to ?? "");
  const plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--find-renames"];
  const args = ["diff", "--ignore-submodules=dirty", ...plain, base];
  if (to !== null) return git.must([...args, to, "--"]);
  return withOwnIndex(checkout, async (env) => {
    await git.must(["add", "--intent-to-add", "--all"], { env });
    return git.must([...args, "--"], { env });
  });
}
