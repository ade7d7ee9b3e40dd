import { RalphError } from "../../core/ralph-error.ts";
import type { Git } from "../git/git.ts";
import type { TreeEntry } from "./tree-entries.ts";

/** A path that differs between two commits. */
export interface Change {
  readonly bytes: string;
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

export async function changesBetween(
  git: Git,
  from: string,
  to: string,
): Promise<ReadonlyMap<string, Change>> {
  const records: string[] = [];
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
  await git.must([...args, from, to], { onRecord: (record) => records.push(record) });
  const changes = new Map<string, Change>();
  for (let at = 0; at + 1 < records.length; at += 2) {
    const bytes = records[at + 1] ?? "";
    changes.set(bytes, { bytes, ...entriesIn(records[at] ?? "") });
  }
  return changes;
}

export function entryOf(mode: string, oid: string): TreeEntry | null {
  return /^0+$/.test(mode) ? null : { mode, oid };
}

const RAW = /^:(\d+) (\d+) (\S+) (\S+) \S+$/;

function entriesIn(record: string): Pick<Change, "before" | "after"> {
  const [, modeBefore, modeAfter, before, after] = RAW.exec(record) ?? [];
  if (modeBefore === undefined || modeAfter === undefined || before === undefined || after === undefined)
    throw new RalphError("internal", `git diff-tree wrote a line that is not known: ${record}`);
  return { before: entryOf(modeBefore, before), after: entryOf(modeAfter, after) };
}
