import { randomUUID } from "node:crypto";
import { asArgument } from "../../core/text.ts";
import { RalphError } from "../../core/errors.ts";
import { bytesOf } from "../git/git.ts";
import { inTurn } from "../process/in-turn.ts";
import type { Clone } from "./remote-git.ts";
import { type Remote, lost } from "./remote.ts";
import { encodeName, type Move } from "./push-once.ts";

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

type FencedPush =
  | { readonly is: "pushed" }
  /** One of the references is not where it was expected. */
  | { readonly is: "overtaken" }
  /** In the server's words. */
  | { readonly is: "refused"; readonly why: string };

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
        const held = before?.number === number ? before : { name, number, at: null, sent: new Map() };
        known.set(name, held);
        if (held.at !== null) return false;
        held.at = await plant(remote, held);
        return true;
      }),
    push: (name, moves) =>
      inTurn(`${turn} ${name}`, async () => {
        const held = known.get(name);
        // Under another number others may have worked on it in between.
        if (held === undefined || held.at === null || numberOf(name) !== held.number) throw lost(name);
        return pushHeld(remote, { ...held, at: held.at }, moves, (at) => (held.at = at));
      }),
  };
}

interface Held {
  readonly name: string;
  readonly number: number;
  /** Our last commit on the remote, so far as we know; null until it is taken up. */
  at: string | null;
  /** All that we ever sent under this number, with its count: a push that was given up may still arrive. */
  readonly sent: Map<string, number>;
}

/** Puts our number over a smaller one. */
async function plant(remote: Remote, held: Held): Promise<string> {
  const { name, number, sent } = held;
  const clone = await remote.clone();
  const ref = leaseRef(name);
  for (let tries = 1; ; tries += 1) {
    const there = await remote.fetch(ref, name);
    if (there !== null && sent.has(there)) return there;
    const other = there === null ? null : await readLease(clone, there);
    if (there !== null && (other === null || other >= number)) throw notNewer(clone, held, there, other);
    const mine = await writeLease(clone, { name, number, count: 0, after: there });
    sent.set(mine, 0);
    const attempt = await remote.push([{ ref, from: there, to: mine }]);
    if (attempt.is === "pushed") return mine;
    if (attempt.is === "refused") throw notTaken(clone.remoteName, ref, attempt.why);
    if (attempt.is === "trouble") await remote.pause({ why: attempt.why, tries }, name);
  }
}

async function pushHeld(
  remote: Remote,
  held: Held & { at: string },
  moves: readonly Move[],
  moved: (at: string | null) => void,
): Promise<FencedPush> {
  const { name, number, sent } = held;
  const clone = await remote.clone();
  const ref = leaseRef(name);
  let { at } = held;
  for (let tries = 1; ; tries += 1) {
    const count = (sent.get(at) ?? 0) + 1;
    const next = await writeLease(clone, { name, number, count, after: at });
    sent.set(next, count);
    const attempt = await remote.push([...moves, { ref, from: at, to: next }]);
    if (attempt.is === "pushed") {
      moved(next);
      return { is: "pushed" };
    }
    const there = await remote.fetch(ref, name);
    if (there === null || !sent.has(there)) {
      moved(null);
      throw lost(name);
    }
    at = there;
    moved(at);
    const ids = await whereTheyAre(remote, name, moves);
    // One that was given up may have arrived after all.
    if (ids.every((id, index) => id === moves[index]?.to)) return { is: "pushed" };
    if (ids.some((id, index) => id !== moves[index]?.from)) return { is: "overtaken" };
    if (attempt.is === "refused") return attempt;
    if (attempt.is === "trouble") await remote.pause({ why: attempt.why, tries }, name);
  }
}

async function whereTheyAre(
  remote: Remote,
  name: string,
  moves: readonly Move[],
): Promise<readonly (string | null)[]> {
  const ids: (string | null)[] = [];
  for (const { ref } of moves) ids.push(await remote.fetch(ref, name));
  return ids;
}

function notTaken(remoteName: string, ref: string, why: string): RalphError {
  return new RalphError("git-failed", `the remote ${remoteName} does not take ${ref}: ${why}`, {
    hint: "workers on several machines need to write there below refs/ralph/, and below refs/heads/ralph/",
  });
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

/** What stands in the commit of a lease. */
interface LeaseNote {
  readonly name: string;
  readonly number: number;
  /** How many pushes there were under it. */
  readonly count: number;
  /** The one before: some servers take only what continues what they have. */
  readonly after: string | null;
}

function leaseRef(name: string): string {
  return `refs/ralph/leases/${encodeName(name)}`;
}

async function writeLease({ git, identity }: Clone, note: LeaseNote): Promise<string> {
  const tree = (await git.must(["hash-object", "-w", "-t", "tree", "--stdin"], { input: "" })).trim();
  const parents = note.after === null ? [] : ["-p", note.after];
  const message = `ralph: ${note.name}\n\nRalph-Lease: ${note.number}\nRalph-Count: ${note.count}\nRalph-Push: ${randomUUID()}\n`;
  const args = [...(await identity()), "commit-tree", ...parents, tree];
  return (await git.must(args, { input: bytesOf(message) })).trim();
}

/** Its number; null: it is something else. */
async function readLease({ git }: Clone, commit: string): Promise<number | null> {
  const message = await git.must(["log", "-1", "--format=%B", commit]);
  const number = /^Ralph-Lease: (\d+)$/m.exec(message)?.[1];
  return number === undefined ? null : Number(number);
}
