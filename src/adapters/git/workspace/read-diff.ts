import { stripEscapes } from "../../../core/words/strip-escapes.ts";
import { emptyTree, type Git, textOf } from "../git.ts";
import { openRepository } from "../find-repository.ts";
import { type Change, changesBetween, withOwnIndex } from "../tree-entries.ts";
import { resolveCommit } from "../read-head.ts";

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

interface CommitRange {
  /** Null: nothing at all. */
  readonly from: string | null;
  readonly to: string | null;
}

const FILES_MAX = 300;
const PATCH_LENGTH_MAX = 200_000;
const KEPT_LENGTH_MAX = 4_000_000;
const READ_LENGTH_MAX = 20_000_000;
/** The operator's own settings do not change these. */
const PLAIN = ["--no-ext-diff", "--no-textconv", "--no-color"];
const DIFF_TREE = ["diff-tree", "-r", "--find-renames", ...PLAIN, "--submodule=short"];
const STATUSES: Readonly<Record<string, DiffFile["status"]>> = {
  A: "added",
  C: "added",
  D: "removed",
  R: "renamed",
};
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** What a commit brought over another; null when git no longer has them. */
export async function readDiff(
  git: Git,
  { from, to }: CommitRange,
  redact: (text: string) => string,
): Promise<Diff | null> {
  if (to === null || from === to) return { files: [], more: 0 };
  for (const commit of [to, from ?? to])
    if (!OBJECT_ID.test(commit) || (await resolveCommit(git, commit)) === null) return null;
  const range = [from ?? emptyTree(to), to];
  const fields = await git.records([...DIFF_TREE, "--name-status", "-z", ...range]);
  const patches = await readPatches(git, range);
  const name = (path = ""): string => redact(stripEscapes(textOf(path)));
  const files: DiffFile[] = [];
  let [at, section, more] = [0, 0, 0];
  while (at < fields.length) {
    const letter = fields[at]?.[0] ?? "M";
    // A renamed or copied file has two names.
    const next = at + (letter === "R" || letter === "C" ? 3 : 2);
    const names = fields.slice(at + 1, next);
    at = next;
    // Of a file that became a link, or the other way round, git shows that one is gone and the other new.
    const own = patches.slice(section, (section += letter === "T" ? 2 : 1));
    if (files.length === FILES_MAX) {
      more += 1;
      continue;
    }
    const isBinary = own.some((patch) => patch.isBinary);
    const texts = own.map(({ hunks }) => (hunks === null ? null : redact(stripEscapes(hunks))));
    files.push({
      path: name(names.at(-1)),
      from: letter === "R" ? name(names[0]) : null,
      status: isBinary ? "binary" : (STATUSES[letter] ?? "changed"),
      hunks: isBinary || own.length === 0 || texts.includes(null) ? null : texts.join(""),
    });
  }
  return { files, more };
}

/** One file's part of a patch. */
interface Patch {
  readonly isBinary: boolean;
  /** Without the header; null where there is too much of it. */
  readonly hunks: string | null;
}

async function readPatches(git: Git, range: readonly string[]): Promise<readonly Patch[]> {
  const args = [...DIFF_TREE, "--patch", ...range];
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

const TEXT_LENGTH_MAX = 60_000;

/** The same as one text for a reader, cut where it is long. */
export async function readPatch(
  git: Git,
  range: CommitRange,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const diff = await readDiff(git, range, (text) => text);
  const parts = (diff?.files ?? []).map(
    ({ path, from: before, status, hunks }) =>
      `--- ${path} (${before === null ? status : `renamed from ${before}`})\n${hunks ?? "(too long or binary)\n"}`,
  );
  const text = parts.join("\n");
  return {
    text: text.slice(0, TEXT_LENGTH_MAX),
    isCut: text.length > TEXT_LENGTH_MAX || (diff?.more ?? 0) > 0,
  };
}

/** The whole difference as git prints it; up to the work tree with its new files where `to` is null. */
export async function diffText(root: string, { from, to }: CommitRange): Promise<string> {
  const checkout = await openRepository(root);
  const { git } = checkout;
  const base = from ?? emptyTree(to ?? "");
  const args = ["diff", "--ignore-submodules=dirty", "--find-renames", ...PLAIN, base];
  if (to !== null) return git.must([...args, to, "--"]);
  return withOwnIndex(checkout, async (env) => {
    await git.must(["add", "--intent-to-add", "--all"], { env });
    return git.must([...args, "--"], { env });
  });
}

/** What differs between a commit and a later one, by git's paths. A commit that is no more counts as empty. */
export type ReadChanges = (from: string | null, to: string) => Promise<ReadonlyMap<string, Change>>;

export function createChangeReader(git: Git): ReadChanges {
  let last: { readonly key: string; readonly changes: ReturnType<ReadChanges> } | null = null;
  return async (from, to) => {
    if (from === to) return new Map();
    const key = `${from} ${to}`;
    // An iteration asks for the same again and again.
    if (last?.key !== key)
      last = { key, changes: fromWhatIsLeft(git, from, to, (base) => changesBetween(git, base, to)) };
    return last.changes;
  };
}

/** Files that differ in more than white space; a new empty file and a mode count. */
export async function changedBeyondSpace(
  git: Git,
  from: string | null,
  to: string,
): Promise<readonly string[]> {
  // Git leaves out modified files in which, with these options, no line differs.
  const options = ["--ignore-all-space", "--ignore-blank-lines"];
  return fromWhatIsLeft(git, from, to, (base) => changedLines(git, [...options, base, to, "--"]));
}

/** A command line holds so much, on every system. */
const PATHSPECS_MAX = 200;

/** Of these paths those that differ in the work tree; of all if none is named, or more than can be. */
export async function changedInTree(
  git: Git,
  from: string | null,
  to: string,
  paths: readonly string[],
): Promise<readonly string[]> {
  // What is not UTF-8 cannot be said on a command line.
  const canBeNamed = paths.length <= PATHSPECS_MAX && !paths.some((path) => path.includes("\uFFFD"));
  const named = canBeNamed ? paths.map((path) => `:(literal)${path}`) : [];
  return fromWhatIsLeft(git, from, to, (base) => changedLines(git, [base, "--", ...named]));
}

async function changedLines(git: Git, what: readonly string[]): Promise<readonly string[]> {
  const plain = ["--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative"];
  const records = await git.records([
    "diff",
    "-z",
    "--ignore-submodules=dirty",
    "--numstat",
    ...plain,
    ...what,
  ]);
  // The path comes after the two numbers.
  return records.map((record) => textOf(record.replace(/^[^\t]*\t[^\t]*\t/, "")));
}

/** Compares with nothing where somebody made the repository anew, or pruned what the agent threw away. */
async function fromWhatIsLeft<Result>(
  git: Git,
  from: string | null,
  to: string,
  compare: (base: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await compare(from ?? emptyTree(to));
  } catch (error) {
    if (from === null || (await resolveCommit(git, from)) !== null) throw error;
    return compare(emptyTree(to));
  }
}
