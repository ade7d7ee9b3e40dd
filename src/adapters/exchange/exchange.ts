import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../../core/ralph-error.ts";
import { openClone, type Attempted, type Clone, type CloneOptions } from "./clone.ts";
import { fetchRefs, readHeads } from "./fetch-refs.ts";
import { pushOnce, type Move, type PushAttempt } from "./push-once.ts";
import { remoteKey } from "./remote-key.ts";

/** What workers on several machines exchange through the remote of their clones. */
export interface Exchange {
  /** Of the project, on every machine the same. */
  projectKey(): Promise<string>;
  clone(): Promise<Clone>;
  /**
   * Where branches are on the remote by now, with all that is in them; null for those that it does not have. A holder is
   * the task or part for which it is asked: while it is held, trouble with the remote is waited out.
   */
  tips(branches: readonly string[], holder: string | null): Promise<readonly (string | null)[]>;
  /** Those of these branches that the remote has, with all below them; nothing is fetched. */
  heads(patterns: readonly string[], holder: string | null): Promise<ReadonlyMap<string, string>>;
  /** A reference that is no branch, fetched. */
  fetch(ref: string, holder: string | null): Promise<string | null>;
  /** All of the moves, or none. Trouble is not waited out: what came of it is not known. */
  push(moves: readonly Move[]): Promise<PushAttempt>;
  /** Tells of the trouble and waits, longer with every try; refuses when it is held no longer. */
  pause(trouble: Pick<RemoteTrouble, "why" | "tries">, holder: string | null): Promise<void>;
  /** For what is odd and no reason to stop. */
  tell(why: string): Promise<void>;
}

export interface RemoteTrouble {
  readonly remote: string;
  readonly why: string;
  /** How often it has failed now, one after the other. */
  readonly tries: number;
  /** Null: it is not tried again. */
  readonly againInMs: number | null;
}

export interface ExchangeOptions extends CloneOptions {
  readonly onTrouble: (trouble: RemoteTrouble) => void;
  /** Whether this task or part is still held. Without it trouble is told at once. */
  readonly isHeld?: (holder: string | null) => boolean;
  /** The first pause after trouble; each further one is twice as long, up to half a minute. */
  readonly pauseMs?: number;
}

const PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 30_000;
/** How soon it is noticed that it is held no longer. */
const LOOK_MS = 500;

export function createExchange(options: ExchangeOptions): Exchange {
  const { onTrouble, isHeld = () => false, pauseMs = PAUSE_MS } = options;
  let opening: Promise<Clone> | null = null;
  const clone = (): Promise<Clone> =>
    (opening ??= openClone(options).catch((error: unknown) => {
      opening = null;
      throw error;
    }));
  const pause: Exchange["pause"] = async ({ why, tries }, holder) => {
    const { remote } = await clone();
    const againInMs = Math.min(pauseMs * 2 ** (tries - 1), PAUSE_MAX_MS);
    const isWanted = isHeld(holder);
    onTrouble({ remote, why, tries, againInMs: isWanted ? againInMs : null });
    if (!isWanted) throw notAnswered(remote, why);
    for (let left = againInMs; left > 0; left -= LOOK_MS) {
      await sleep(Math.min(left, LOOK_MS));
      if (!isHeld(holder)) throw lost(holder);
    }
  };
  const persist = async <Result>(attempt: () => Promise<Attempted<Result>>, holder: string | null) => {
    for (let tries = 1; ; tries += 1) {
      const { result, trouble } = await attempt();
      if (trouble === undefined) return result;
      await pause({ why: trouble, tries }, holder);
    }
  };
  return {
    clone,
    pause,
    async projectKey() {
      const { git, root, remote } = await clone();
      return remoteKey((await git.must(["remote", "get-url", remote])).trim(), root);
    },
    heads: async (patterns, holder) => {
      const opened = await clone();
      return persist(() => readHeads(opened, patterns), holder);
    },
    tips: async (branches, holder) => {
      const opened = await clone();
      return persist(() => fetchRefs(opened, branches.map(headRef)), holder);
    },
    fetch: async (ref, holder) => {
      const opened = await clone();
      const [id = null] = await persist(() => fetchRefs(opened, [ref]), holder);
      return id;
    },
    push: async (moves) => pushOnce(await clone(), moves),
    async tell(why) {
      onTrouble({ remote: (await clone()).remote, why, tries: 1, againInMs: null });
    },
  };
}

export function headRef(branch: string): string {
  return `refs/heads/${branch}`;
}

export function lost(holder: string | null): RalphError {
  return new RalphError("lease-lost", `${holder ?? "it"} is in other hands by now`);
}

function notAnswered(remote: string, why: string): RalphError {
  return new RalphError("unreachable", `the remote ${remote} does not answer: ${why}`, {
    hint: "git ls-remote says more",
  });
}
