import { randomUUID } from "node:crypto";
import { RalphError } from "../../core/ralph-error.ts";
import { inTurn } from "../system/in-turn.ts";
import { lost, type Exchange } from "./exchange.ts";
import { leaseRef, readLease, writeLease } from "./lease-commit.ts";
import type { Move } from "./push-once.ts";

/**
 * Pushes that only the holder of a lease can make. On the remote each task and part has a reference of its own, with a
 * commit that names the number of the lease. Taking up puts a new one there, and each push moves it in the same atomic
 * step as the work. So the server itself refuses whoever was taken over, however long it slept in the middle of a push.
 */
export interface Fence {
  /** From now on nobody who held it before can push. True: it was not so before, by this lease. */
  takeUp(name: string): Promise<boolean>;
  /** All of the moves or none, while the lease lasts; rejects with `lease-lost` when it does not. */
  push(name: string, moves: readonly Move[]): Promise<FencedPush>;
}

export type FencedPush =
  | { readonly is: "pushed" }
  /** One of the references is not where it was expected. */
  | { readonly is: "overtaken" }
  /** In the server's words. */
  | { readonly is: "refused"; readonly why: string };

export interface FenceOptions {
  readonly exchange: Exchange;
  /** The number of the lease under which this worker holds a task or part; null when it does not. */
  readonly numberOf: (name: string) => number | null;
}

export function createFence({ exchange, numberOf }: FenceOptions): Fence {
  const held = new Map<string, Held>();
  const turn = randomUUID();
  const numberNow = (name: string): number => {
    const number = numberOf(name);
    if (number !== null) return number;
    held.delete(name);
    throw lost(name);
  };
  const takeUp = async (name: string): Promise<boolean> => {
    const number = numberNow(name);
    if (held.get(name)?.number === number) return false;
    held.delete(name);
    held.set(name, await plant(exchange, name, number));
    return true;
  };
  const push = async (name: string, moves: readonly Move[]): Promise<FencedPush> => {
    await takeUp(name);
    const mine = held.get(name);
    if (mine === undefined) throw lost(name);
    return pushHeld(exchange, mine, moves).catch((error: unknown) => {
      // What is there is not known any more: the next one looks.
      held.delete(name);
      throw error;
    });
  };
  return {
    takeUp: (name) => inTurn(`${turn} ${name}`, () => takeUp(name)),
    push: (name, moves) => inTurn(`${turn} ${name}`, () => push(name, moves)),
  };
}

interface Held {
  readonly name: string;
  readonly number: number;
  /** Our last commit on the remote, so far as we know. */
  at: string;
  /** All that we ever sent under this number: a push that was given up may still arrive. */
  readonly sent: Map<string, number>;
}

/** Puts our number over a smaller one. */
async function plant(exchange: Exchange, name: string, number: number): Promise<Held> {
  const clone = await exchange.clone();
  const ref = leaseRef(name);
  const sent = new Map<string, number>();
  for (let tries = 1; ; tries += 1) {
    const there = await exchange.fetch(ref, name);
    if (there !== null && sent.has(there)) return { name, number, at: there, sent };
    if (there !== null && (await readLease(clone, there)) >= number) throw lost(name);
    const mine = await writeLease(clone, { name, number, count: 0, after: there });
    sent.set(mine, 0);
    const attempt = await exchange.push([{ ref, from: there, to: mine }]);
    if (attempt.is === "pushed") return { name, number, at: mine, sent };
    if (attempt.is === "refused") throw notTaken(clone.remote, ref, attempt.why);
    if (attempt.is === "trouble") await exchange.pause({ why: attempt.why, tries }, name);
  }
}

async function pushHeld(exchange: Exchange, held: Held, moves: readonly Move[]): Promise<FencedPush> {
  const { name, number, sent } = held;
  const clone = await exchange.clone();
  const ref = leaseRef(name);
  for (let tries = 1; ; tries += 1) {
    const count = (sent.get(held.at) ?? 0) + 1;
    const next = await writeLease(clone, { name, number, count, after: held.at });
    sent.set(next, count);
    const attempt = await exchange.push([...moves, { ref, from: held.at, to: next }]);
    if (attempt.is === "pushed") {
      held.at = next;
      return { is: "pushed" };
    }
    const there = await exchange.fetch(ref, name);
    if (there === null || !sent.has(there)) throw lost(name);
    held.at = there;
    if (await haveMoved(exchange, name, moves)) return { is: "pushed" };
    if (attempt.is === "refused") return attempt;
    if (attempt.is === "trouble") await exchange.pause({ why: attempt.why, tries }, name);
    else if (await areElsewhere(exchange, name, moves)) return { is: "overtaken" };
  }
}

/** A push that was given up may have arrived after all. */
async function haveMoved(exchange: Exchange, name: string, moves: readonly Move[]): Promise<boolean> {
  return (await whereTheyAre(exchange, name, moves)).every((id, at) => id === moves[at]?.to);
}

async function areElsewhere(exchange: Exchange, name: string, moves: readonly Move[]): Promise<boolean> {
  return (await whereTheyAre(exchange, name, moves)).some((id, at) => id !== moves[at]?.from);
}

async function whereTheyAre(
  exchange: Exchange,
  name: string,
  moves: readonly Move[],
): Promise<readonly (string | null)[]> {
  const ids: (string | null)[] = [];
  for (const { ref } of moves) ids.push(await exchange.fetch(ref, name));
  return ids;
}

function notTaken(remote: string, ref: string, why: string): RalphError {
  return new RalphError("git-failed", `the remote ${remote} does not take ${ref}: ${why}`, {
    hint: "workers on several machines need to write there below refs/ralph/, and below refs/heads/ralph/",
  });
}
