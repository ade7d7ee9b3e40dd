import { textOf } from "../git/git.ts";
import { holdsOnlyLink } from "./clear-the-way.ts";
import { isAsCopied } from "./copy-included.ts";
import { hasIndex, type RegisteredWorktree } from "./registry.ts";
import { gitIn } from "./site.ts";
import { readRecord } from "./worktree-record.ts";

export interface Inside {
  readonly head: string | null;
  /** Something would be lost with the worktree: changes, untracked files, or commits that are on no branch. */
  readonly isDirty: boolean;
}

/** Ignored files do not count, nor do copies of the user's that are as they were. */
export async function lookInside(worktree: RegisteredWorktree): Promise<Inside> {
  const record = readRecord(worktree);
  const isEmpty = record?.isFilled === false || holdsOnlyLink(worktree.root);
  if (isEmpty && !hasIndex(worktree)) return { head: null, isDirty: false };
  const git = gitIn(worktree);
  const { code, stdout } = await git.run(STATUS);
  if (code !== 0) return { head: null, isDirty: true }; // git cannot tell: nobody may throw it away
  const records = stdout.split("\0").filter((line) => line !== "");
  const oid = headerOf(records, "oid");
  const head = oid === null || !/^[0-9a-f]+$/.test(oid) ? null : oid;
  const copied = new Set(
    (record?.copied ?? []).filter((file) => isAsCopied(worktree.root, file)).map((file) => `? ${file.path}`),
  );
  const hasChanges = records.some((line) => !line.startsWith("# ") && !copied.has(textOf(line)));
  if (hasChanges || head === null || headerOf(records, "head") !== "(detached)") {
    return { head, isDirty: hasChanges };
  }
  const holding = await git.must(["for-each-ref", "--count=1", "--contains", head]);
  return { head, isDirty: holding === "" };
}

const STATUS = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"];

function headerOf(records: readonly string[], name: string): string | null {
  const start = `# branch.${name} `;
  return records.find((line) => line.startsWith(start))?.slice(start.length) ?? null;
}
