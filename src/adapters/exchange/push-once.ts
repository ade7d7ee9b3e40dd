import type { Git } from "../git/git.ts";
import type { Clone } from "./clone.ts";
import { seenRef } from "./fetch-refs.ts";
import type { RemoteResult } from "./remote-git.ts";
import { failureOf } from "./remote-trouble.ts";

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
  { over, target, remote, git }: Clone,
  moves: readonly Move[],
): Promise<PushAttempt> {
  const leases = moves.map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ""}`);
  const refspecs = moves.map(({ ref, to }) => (to === null ? `:${ref}` : `${to}:${ref}`));
  const result = await over.run([...PUSH, ...leases, target, ...refspecs]);
  if (result.code === 0) {
    await remember(git, moves);
    return { is: "pushed" };
  }
  const rejections = result.isSilent ? [] : rejectionsIn(result);
  if (rejections.length > 0) return judged(result, rejections);
  const failure = failureOf(result, remote);
  if (failure.is === "error") throw failure.error;
  return { is: "trouble", why: failure.why };
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
