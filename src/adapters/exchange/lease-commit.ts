import { randomUUID } from "node:crypto";
import { RalphError } from "../../core/ralph-error.ts";
import { bytesOf } from "../git/git.ts";
import type { Clone } from "./clone.ts";
import { encodeName } from "./encode-name.ts";

/** What stands in the commit of a lease. */
export interface LeaseNote {
  readonly name: string;
  readonly number: number;
  /** How many pushes there were under it. */
  readonly count: number;
  /** The one before: some servers take only what continues what they have. */
  readonly after: string | null;
}

export function leaseRef(name: string): string {
  return `refs/ralph/leases/${encodeName(name)}`;
}

export async function writeLease({ git, identity }: Clone, note: LeaseNote): Promise<string> {
  const tree = (await git.must(["hash-object", "-w", "-t", "tree", "--stdin"], { input: "" })).trim();
  const parents = note.after === null ? [] : ["-p", note.after];
  const message = `ralph: ${note.name}\n\nRalph-Lease: ${note.number}\nRalph-Count: ${note.count}\nRalph-Push: ${randomUUID()}\n`;
  const args = [...(await identity()), "commit-tree", ...parents, tree];
  return (await git.must(args, { input: bytesOf(message) })).trim();
}

/** Its number. */
export async function readLease({ git }: Clone, commit: string): Promise<number> {
  const message = await git.must(["log", "-1", "--format=%B", "--no-show-signature", commit]);
  const number = /^Ralph-Lease: (\d+)$/m.exec(message)?.[1];
  if (number !== undefined) return Number(number);
  throw new RalphError("git-failed", `on the remote something else is where leases are: ${commit}`, {
    hint: `see what it is (git show ${commit}), then delete it there: git push REMOTE :refs/ralph/leases/NAME`,
  });
}
