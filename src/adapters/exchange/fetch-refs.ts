import { inTurn } from "../system/in-turn.ts";
import { resolveCommit } from "../git/read-head.ts";
import { encodeName } from "./encode-name.ts";
import type { Attempted, Clone } from "./clone.ts";
import { failureOf } from "./remote-trouble.ts";
import type { RemoteResult } from "./remote-git.ts";

/** What the remote has of these branches, by name. */
export async function readHeads(
  { over, target, remote }: Clone,
  patterns: readonly string[],
): Promise<Attempted<ReadonlyMap<string, string>>> {
  const result = await over.run([
    "ls-remote",
    "--heads",
    "--refs",
    target,
    ...patterns.map((one) => `refs/heads/${one}`),
  ]);
  if (result.code !== 0) return troubleOf(result, remote);
  const lines = result.stdout.split("\n").filter(Boolean);
  const heads = lines.map((line): [string, string] => {
    const [id = "", ref = ""] = Buffer.from(line, "latin1").toString("utf8").split("\t");
    return [ref.slice("refs/heads/".length), id];
  });
  return { result: new Map(heads) };
}

/** Each with all that it needs; null where the remote has no such reference. Nothing of the user's moves by it. */
export async function fetchRefs(
  clone: Clone,
  refs: readonly string[],
): Promise<Attempted<readonly (string | null)[]>> {
  const ids: (string | null)[] = [];
  for (const ref of refs) {
    const kept = seenRef(ref);
    const fetched = await inTurn(`${clone.commonDir} ${kept}`, () => fetchOne(clone, ref, kept));
    if (fetched.trouble !== undefined) return fetched;
    ids.push(fetched.result);
  }
  return { result: ids };
}

/** Where it is remembered what a reference was on the remote when we last looked; so git does not throw it away. */
export function seenRef(ref: string): string {
  return `refs/ralph/remote/${encodeName(ref)}`;
}

/** Neither the user's tracking branches nor `FETCH_HEAD`, and no more than what was asked for. */
const FETCH = [
  "fetch",
  "--progress",
  "--refmap=",
  "--no-tags",
  "--no-prune",
  "--no-write-fetch-head",
  "--no-recurse-submodules",
  "--no-auto-maintenance",
];

async function fetchOne(clone: Clone, ref: string, kept: string): Promise<Attempted<string | null>> {
  const { over, target, remote, git } = clone;
  const result = await over.run([...FETCH, target, `+${ref}:${kept}`]);
  if (result.code === 0) return { result: await resolveCommit(git, kept) };
  if (/couldn't find remote ref/.test(result.stderr)) {
    await git.must(["update-ref", "-d", kept]);
    return { result: null };
  }
  return troubleOf(result, remote);
}

function troubleOf(result: RemoteResult, remote: string): { readonly trouble: string } {
  const failure = failureOf(result, remote);
  if (failure.is === "error") throw failure.error;
  return { trouble: failure.why };
}
