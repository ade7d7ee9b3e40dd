import type { Git } from "../git/git.ts";
import { entryOf } from "./changes-between.ts";
import type { TreeEntry } from "./tree-entries.ts";

/** A path of the index that differs from HEAD, or from the work tree. */
export interface Uncommitted {
  readonly bytes: string;
  /** In the index; "conflict" when that is undecided. */
  readonly staged: TreeEntry | "conflict" | null;
}

/**
 * What a move of HEAD could put at risk. A submodule that stands at another commit, or has changes inside, is not
 * among it: git leaves the folders of submodules alone.
 */
export async function readUncommitted(git: Git): Promise<readonly Uncommitted[]> {
  const found: Uncommitted[] = [];
  await git.must([...STATUS], {
    onRecord: (record) => {
      const entry = readRecord(record);
      if (entry !== null) found.push(entry);
    },
  });
  return found;
}

const STATUS = [
  "status",
  "--porcelain=v2",
  "-z",
  "--untracked-files=no",
  "--no-renames",
  "--ignore-submodules=dirty",
];
const CHANGED = /^1 (.). (.)... \d+ (\d+) \d+ \S+ (\S+) ([^]*)$/;
const CONFLICT = /^u .. .... \d+ \d+ \d+ \d+ \S+ \S+ \S+ ([^]*)$/;

function readRecord(record: string): Uncommitted | null {
  const [, conflict] = CONFLICT.exec(record) ?? [];
  if (conflict !== undefined) return { bytes: conflict, staged: "conflict" };
  const [, inIndex, submodule, mode, oid, bytes] = CHANGED.exec(record) ?? [];
  if (mode === undefined || oid === undefined || bytes === undefined) return null;
  if (submodule === "S" && inIndex === ".") return null;
  return { bytes, staged: entryOf(mode, oid) };
}
