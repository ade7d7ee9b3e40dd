import { createHash } from "node:crypto";
import type { Git } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";
import { inTurn } from "../process/system-clock.ts";
import { type Attempted, type Clone, type RemoteResult, troubleOf } from "./remote-git.ts";

/** Of a reference on the remote, if it is where it is expected; null: it is not there. */
export interface Move {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

export type PushAttempt =
  | { readonly is: "pushed" }
  /** Something is not where it was expected, or was not just now. */
  | { readonly is: "overtaken"; readonly why: string }
  /** The server does not want it: a protected branch, a hook. In its own words. */
  | { readonly is: "refused"; readonly why: string }
  /** Nobody knows whether it arrived, or whether it still will. */
  | { readonly is: "trouble"; readonly why: string };

/** One atomic push: the server itself compares each reference with where it was. */
export async function pushOnce(
  { runRemote, target, remoteName, git }: Clone,
  moves: readonly Move[],
): Promise<PushAttempt> {
  const leases = moves.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ""}`);
  const refspecs = moves.map(({ ref, to }) => (to === null ? `:${ref}` : `${to}:${ref}`));
  const result = await runRemote([...PUSH, ...leases, target, ...refspecs]);
  if (result.code === 0) {
    await remember(git, moves);
    return { is: "pushed" };
  }
  const rejections = result.isSilent ? [] : rejectionsIn(result);
  if (rejections.length > 0) return judged(result, rejections);
  return { is: "trouble", why: troubleOf(result, remoteName) };
}

/** As if we had looked; should it fail, the next look tells. */
async function remember(git: Git, moves: readonly Move[]): Promise<void> {
  const lines = moves.map(({ ref, to }) =>
    to === null ? `delete ${seenRef(ref)}\n` : `update ${seenRef(ref)} ${to}\n`,
  );
  await git.run(["update-ref", "--stdin"], { input: lines.join("") });
}

const PUSH = [
  "push",
  "--progress",
  "--porcelain",
  "--atomic",
  "--no-verify",
  "--no-follow-tags",
  "--recurse-submodules=no",
];

/** Lines of the flag `!`: what, and in brackets why. */
function rejectionsIn({ stdout }: RemoteResult): readonly string[] {
  const lines = Buffer.from(stdout, "latin1").toString("utf8").split("\n");
  const reasons = lines.flatMap((line) => /^!\t[^\t]*\t\[[^\]]*\] \((.*)\)$/.exec(line)?.[1] ?? []);
  const own = reasons.filter((reason) => !/^atomic (push|transaction) fail/.test(reason));
  return own.length > 0 ? own : reasons;
}

const IS_OVERTAKEN =
  /stale info|fetch first|non-fast-forward|needs force|incorrect old value|reference already exists|remote ref updated/i;
const IS_PASSING =
  /cannot lock ref|failed to update ref|failed to (write|lock)|unable to|unpack|internal|time[d-]? ?out|atomic/i;
/** A branch where the server has a folder of branches, which never passes. */
const IS_BLOCKED = /cannot create|denied|declined|protected/i;

function judged(result: RemoteResult, reasons: readonly string[]): PushAttempt {
  const why = [...new Set([...reasons, ...remoteWords(result)])].join("; ");
  const all = [...reasons, result.stderr].join("\n");
  if (reasons.some((reason) => IS_OVERTAKEN.test(reason)) || /is at \w+ but expected/.test(all))
    return { is: "overtaken", why };
  const isPassing = reasons.every((reason) => IS_PASSING.test(reason)) && !IS_BLOCKED.test(all);
  return { is: isPassing ? "trouble" : "refused", why };
}

const LINES_TOLD = 6;

/** What the server's hooks have to say. */
function remoteWords({ stderr }: RemoteResult): readonly string[] {
  const lines = stderr.split(/[\n\r]/).flatMap((line) => /^remote: (.*)$/.exec(line)?.[1]?.trim() ?? []);
  return lines
    .filter((line) => line !== "" && !/^(Resolving|Counting|Compressing) /.test(line))
    .slice(0, LINES_TOLD);
}

/** What the remote has of these references, by name. */
export async function readRefs(
  { runRemote, target, remoteName }: Clone,
  patterns: readonly string[],
): Promise<Attempted<ReadonlyMap<string, string>>> {
  const result = await runRemote(["ls-remote", "--refs", target, ...patterns]);
  if (result.code !== 0) return { trouble: troubleOf(result, remoteName) };
  const lines = result.stdout.split("\n").filter(Boolean);
  const refs = lines.map((line): [string, string] => {
    const [id = "", ref = ""] = Buffer.from(line, "latin1").toString("utf8").split("\t");
    return [ref, id];
  });
  return { result: new Map(refs) };
}

/** With all that it needs; null where the remote has no such reference. Nothing of the user's moves by it. */
export function fetchRef(clone: Clone, ref: string): Promise<Attempted<string | null>> {
  const kept = seenRef(ref);
  return inTurn(`${clone.commonDir} ${kept}`, () => fetchOne(clone, ref, kept));
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
  const { runRemote, target, remoteName, git } = clone;
  const result = await runRemote([...FETCH, target, `+${ref}:${kept}`]);
  if (result.code === 0) return { result: await resolveCommit(git, kept) };
  if (/couldn't find remote ref/.test(result.stderr)) {
    await git.must(["update-ref", "-d", kept]);
    return { result: null };
  }
  return { trouble: troubleOf(result, remoteName) };
}

/** A name of anything as one part of the name of a reference: the same on all machines, never two alike. */
export function encodeName(name: string): string {
  const encoded = Array.from(Buffer.from(name, "utf8"), encodeByte).join("");
  if (encoded.length <= LENGTH_MAX) return encoded;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  return `${encoded.slice(0, LENGTH_MAX - HASH_LENGTH - 2)}%%${hash}`;
}

/** With room for what git and file systems add to it. */
const LENGTH_MAX = 180;
const HASH_LENGTH = 32;

/** Upper case, too: a server may not tell it from lower case. */
function encodeByte(byte: number): string {
  const sign = String.fromCodePoint(byte);
  return /[a-z0-9_-]/.test(sign) ? sign : `%${byte.toString(16).padStart(2, "0")}`;
}
