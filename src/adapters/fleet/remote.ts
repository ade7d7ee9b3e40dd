import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../../core/errors.ts";
import {
  fetchRef,
  type Move,
  type PushAttempt,
  pushOnce,
  readRefs,
  type Attempted,
  type Clone,
  type CloneOptions,
  openClone,
  withoutCredentials,
} from "./remote-git.ts";

/** What workers on several machines exchange through the remote of their clones. */
export interface Remote {
  /** Of the project, on every machine the same. */
  projectKey(): Promise<string>;
  clone(): Promise<Clone>;
  /**
   * Where a reference is on the remote by now, fetched with all that is in it; null: the remote does not have it. A holder
   * is the task or part for which it is asked: while it is held, trouble with the remote is waited out.
   */
  fetch(ref: string, holder: string | null): Promise<string | null>;
  /** Those of these references that the remote has; nothing is fetched. */
  refs(patterns: readonly string[], holder: string | null): Promise<ReadonlyMap<string, string>>;
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

export interface RemoteOptions extends CloneOptions {
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

export function createRemote(options: RemoteOptions): Remote {
  const { onTrouble, isHeld = () => false, pauseMs = PAUSE_MS } = options;
  let opening: Promise<Clone> | null = null;
  const clone = (): Promise<Clone> =>
    (opening ??= openClone(options).catch((error: unknown) => {
      opening = null;
      throw error;
    }));
  const pause: Remote["pause"] = async ({ why, tries }, holder) => {
    const { remoteName } = await clone();
    const againInMs = Math.min(pauseMs * 2 ** (tries - 1), PAUSE_MAX_MS);
    const isWanted = isHeld(holder);
    onTrouble({ remote: remoteName, why, tries, againInMs: isWanted ? againInMs : null });
    if (!isWanted)
      throw new RalphError("unreachable", `the remote ${remoteName} does not answer: ${why}`, {
        hint: "git ls-remote says more",
      });
    for (let left = againInMs; left > 0; left -= LOOK_MS) {
      await sleep(Math.min(left, LOOK_MS));
      if (!isHeld(holder)) throw lost(holder);
    }
  };
  const persist = async <Result>(
    attempt: (opened: Clone) => Promise<Attempted<Result>>,
    holder: string | null,
  ): Promise<Result> => {
    const opened = await clone();
    for (let tries = 1; ; tries += 1) {
      const { result, trouble } = await attempt(opened);
      if (trouble === undefined) return result;
      await pause({ why: trouble, tries }, holder);
    }
  };
  return {
    clone,
    pause,
    async projectKey() {
      const { git, root, remoteName } = await clone();
      return remoteKey((await git.must(["remote", "get-url", remoteName])).trim(), root);
    },
    refs: (patterns, holder) => persist((opened) => readRefs(opened, patterns), holder),
    fetch: (ref, holder) => persist((opened) => fetchRef(opened, ref), holder),
    push: async (moves) => pushOnce(await clone(), moves),
    async tell(why) {
      onTrouble({ remote: (await clone()).remoteName, why, tries: 1, againInMs: null });
    },
  };
}

export function headRef(branch: string): string {
  return `refs/heads/${branch}`;
}

export function lost(holder: string | null): RalphError {
  return new RalphError("lease-lost", `${holder ?? "it"} is in other hands by now`);
}

/**
 * What a repository is known by on every machine, however each of them gets to it: `github.com/owner/name`. A path on a
 * disk is known by where it really is; relative ones are meant from `root`.
 */
export function remoteKey(url: string, root: string): string {
  const helper = /^([a-z0-9+-]+)::(.*)$/is.exec(url);
  if (helper !== null) return `${helper[1]}::${withoutCredentials(helper[2] ?? "")}`;
  // A colon before the first slash: git reads `host:path`.
  const short = /^(?:[^/@]*@)?([^/:]+):(?!\/\/)(.*)$/s.exec(url);
  const full = URL.parse(short === null ? url : `ssh://${short[1]}/${short[2]}`);
  if (full === null || full.protocol === "file:")
    return diskKey(full === null ? url : decoded(full.pathname), root);
  const host = full.hostname.toLowerCase();
  const name = OTHER_NAMES[host] ?? host;
  // A port says how to get in; the same names behind two ports are the same, unless every port is a server of its own.
  const port = IS_THIS_MACHINE.test(name) && full.port !== "" ? `:${full.port}` : "";
  const parts = decoded(full.pathname).split("/").filter(Boolean);
  const path = parts.join("/").replace(/\.git$/, "");
  return `${name}${port}/${IGNORES_CASE.has(name) ? path.toLowerCase() : path}`;
}

const IGNORES_CASE = new Set(["github.com", "gitlab.com", "bitbucket.org"]);
/** For networks that let only some ports through. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};
const IS_THIS_MACHINE = /^(localhost|127\.[\d.]+|\[::1\])$/;

function diskKey(path: string, root: string): string {
  const written = resolve(root, path);
  // In this order git looks for it.
  const found = [`${written}/.git`, written, `${written}.git`].find((candidate) => existsSync(candidate));
  const real = found === undefined ? written : realpathSync(found);
  return `file:${real.replace(/\/\.git$/, "").replace(/(?<=[^/])\.git$/, "")}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // git takes it as it is, too
  }
}
