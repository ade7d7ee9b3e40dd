import { randomUUID } from "node:crypto";
import { asArgument } from "../../core/text.ts";
import { RalphError } from "../../core/errors.ts";
import { bytesOf } from "../git/git.ts";
import { inTurn } from "../process/system-clock.ts";
import { type Clone, encodeName, type Move, type PushAttempt } from "./remote-git.ts";
import { type Remote, lost } from "./remote.ts";

/**
 * Pushes that only the holder of a lease can make. On the remote each task and part has a reference of its own, with a
 * commit that names the number of the lease. Taking up puts a new one there, and each push moves it in the same atomic
 * step as the work. So the server itself refuses whoever was taken over, however long it slept in the middle of a push.
 */
export interface Fence {
  isHeld(name: string): boolean;
  /** From now on nobody who held it before can push. True: it was not so before, by this lease. */
  takeUp(name: string): Promise<boolean>;
  /** All of the moves or none, by the lease that was taken up; rejects with `lease-lost` when it is no longer ours. */
  push(name: string, moves: readonly Move[]): Promise<FencedPush>;
}

/** Overtaken: one of the references is not where it was expected. Trouble is waited out. */
type FencedPush =
  Exclude<PushAttempt, { readonly is: "overtaken" | "trouble" }> | { readonly is: "overtaken" };

interface FenceOptions {
  readonly remote: Remote;
  /** The number of the lease under which this worker holds a task or part; null when it does not. */
  readonly numberOf: (name: string) => number | null;
}

export function createFence({ remote, numberOf }: FenceOptions): Fence {
  const known = new Map<string, Held>();
  const turn = randomUUID();
  return {
    isHeld: (name) => numberOf(name) !== null,
    takeUp: (name) =>
      inTurn(`${turn} ${name}`, async () => {
        const number = numberOf(name);
        if (number === null) throw lost(name);
        const before = known.get(name);
        const held =
          before?.number === number
            ? before
            : { name, number, isUp: false, at: null, sent: new Set<string>() };
        known.set(name, held);
        if (held.isUp) return false;
        await plant(remote, held);
        return true;
      }),
    push: (name, moves) =>
      inTurn(`${turn} ${name}`, async () => {
        const held = known.get(name);
        // Under another number others may have worked on it in between.
        if (held?.isUp !== true || numberOf(name) !== held.number) throw lost(name);
        return pushHeld(remote, held, moves);
      }),
  };
}

interface Held {
  readonly name: string;
  readonly number: number;
  /** Our commit is on the remote, so far as we know. */
  isUp: boolean;
  /** The last commit there, so far as we know. */
  at: string | null;
  /** All that we ever sent under this number: a push that was given up may still arrive. */
  readonly sent: Set<string>;
}

/** Puts our number over a smaller one. */
async function plant(remote: Remote, held: Held): Promise<void> {
  const clone = await remote.clone();
  held.at = await findEnd(remote, clone, held);
  if (held.at === null || !held.sent.has(held.at)) {
    const pushed = await pushHeld(remote, held, []);
    if (pushed.is === "refused")
      throw new RalphError(
        "git-failed",
        `the remote ${clone.remoteName} does not take ${leaseRef(held.name)}: ${pushed.why}`,
        {
          hint: "workers on several machines need to write there below refs/ralph/, and below refs/heads/ralph/",
        },
      );
  }
  held.isUp = true;
}

async function pushHeld(remote: Remote, held: Held, moves: readonly Move[]): Promise<FencedPush> {
  const { name, sent } = held;
  const clone = await remote.clone();
  for (let tries = 1; ; tries += 1) {
    const next = await writeLease(clone, held);
    sent.add(next);
    const attempt = await remote.push([...moves, { ref: leaseRef(name), from: held.at, to: next }]);
    if (attempt.is === "pushed") {
      held.at = next;
      return attempt;
    }
    if (attempt.is === "refused" && !held.isUp) return attempt;
    held.at = await findEnd(remote, clone, held);
    const ids: (string | null)[] = [];
    for (const { ref } of moves) ids.push(await remote.fetch(ref, name));
    // One that was given up may have arrived after all.
    const isOurs = held.at !== null && sent.has(held.at);
    if (isOurs && ids.every((id, index) => id === moves[index]?.to)) return { is: "pushed" };
    if (ids.some((id, index) => id !== moves[index]?.from)) return { is: "overtaken" };
    if (attempt.is === "refused") return attempt;
    if (attempt.is === "trouble") await remote.pause({ why: attempt.why, tries }, name);
  }
}

/** The commit that the next one follows: our last one, or of a smaller number when it is only taken up now. */
async function findEnd(remote: Remote, clone: Clone, held: Held): Promise<string | null> {
  const { name, number, sent } = held;
  const there = await remote.fetch(leaseRef(name), name);
  if (there !== null && sent.has(there)) return there;
  if (held.isUp) {
    held.isUp = false;
    throw lost(name);
  }
  if (there === null) return null;
  const other = await readLease(clone, there);
  if (other === null || other >= number) throw notNewer(clone, held, there, other);
  return there;
}

/** The database tells a worker that was taken over. A newer lease than the database gives was pushed by somebody else. */
function notNewer(
  { remoteName }: Clone,
  { name, number }: Held,
  there: string,
  other: number | null,
): RalphError {
  const what = other === null ? `${there}, which is not a lease,` : `lease ${other}`;
  const message = `${remoteName} has ${what} for ${name}, and the database gave lease ${number} to this worker`;
  return new RalphError("git-failed", message, {
    hint: `delete it if no other worker has ${name}: git push ${remoteName} ${asArgument(`:${leaseRef(name)}`)}`,
  });
}

function leaseRef(name: string): string {
  return `refs/ralph/leases/${encodeName(name)}`;
}

/** A commit with the number of the lease and how many there were under it, after the last: some servers want that. */
async function writeLease({ git, identity }: Clone, { name, number, at, sent }: Held): Promise<string> {
  const tree = (await git.must(["hash-object", "-w", "-t", "tree", "--stdin"], { input: "" })).trim();
  const parents = at === null ? [] : ["-p", at];
  const message = `ralph: ${name}\n\nRalph-Lease: ${number}\nRalph-Count: ${sent.size}\nRalph-Push: ${randomUUID()}\n`;
  const args = [...(await identity()), "commit-tree", ...parents, tree];
  return (await git.must(args, { input: bytesOf(message) })).trim();
}

/** Its number; null: it is something else. */
async function readLease({ git }: Clone, commit: string): Promise<number | null> {
  const message = await git.must(["log", "-1", "--format=%B", commit]);
  const number = /^Ralph-Lease: (\d+)$/m.exec(message)?.[1];
  return number === undefined ? null : Number(number);
}
