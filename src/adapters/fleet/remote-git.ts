import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../../core/errors.ts";
import {
  chooseRemote,
  openRepository,
  type OpenRepository,
  type Repository,
} from "../git/find-repository.ts";
import { createGit, type Git, gitError, type GitResult } from "../git/git.ts";
import { resolveCommit } from "../git/read-head.ts";
import { endTree } from "../process/process-sweep.ts";
import { inTurn } from "../process/system-clock.ts";

/** What git said about a remote; `isSilent`: it said nothing for so long that it was ended. */
export interface RemoteResult extends GitResult {
  readonly isSilent: boolean;
}

/** Runs git to its end, and ends it when nothing comes of it. Nobody is ever asked for a password. */
type RunRemoteGit = (args: readonly string[]) => Promise<RemoteResult>;

/** Git for calls that go over the network, with the settings and sign-ins of the user. */
export async function createRemoteGit(
  { root, gitDir }: Repository,
  { env, patienceMs = PATIENCE_MS }: Pick<CloneOptions, "env" | "patienceMs">,
): Promise<RunRemoteGit> {
  const own = { GIT_DIR: gitDir, GIT_WORK_TREE: root };
  const ssh = await sshCommand(createGit(root, { place: own }), env);
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const git = createGit(root, { place: { ...given, ...own, ...SILENT, ...ssh } });
  return async (args) => {
    for (const pauseMs of PAUSES_MS) {
      const result = await runBounded(git, args, patienceMs);
      if (result.code === 0 || !IS_CLASH.test(result.stderr)) return result;
      await sleep(pauseMs);
    }
    return runBounded(git, args, patienceMs);
  };
}

const PAUSES_MS = [50, 200, 500, 1_000];
/** Git looks at all references and worktrees of the clone, also at one that another of us is just making or removing. */
const IS_CLASH =
  /^(fatal|error): (.* did not send all necessary objects|cannot lock ref|failed to read |unable to read .*worktrees|bad object)/m;

const SILENT = {
  GIT_TERMINAL_PROMPT: "0",
  GCM_INTERACTIVE: "never",
  SSH_ASKPASS_REQUIRE: "never",
  LC_ALL: "C",
};

/** Whatever the user has set for it stays; only OpenSSH is told that nobody is there to answer. */
async function sshCommand(git: Git, env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  if (env["GIT_SSH_COMMAND"] === undefined && env["GIT_SSH"] !== undefined) return {};
  const configured = (await git.ask(["config", "--get", "core.sshCommand"])).stdout.trim();
  const command = env["GIT_SSH_COMMAND"] ?? (configured === "" ? "ssh" : configured);
  return /^(\S*\/)?ssh(\s|$)/.test(command) ? { GIT_SSH_COMMAND: `${command} -o BatchMode=yes` } : {};
}

/** Enough of what it says to tell what went wrong. */
const STDERR_KEPT = 16_384;
const DRAIN_MS = 2_000;

function runBounded(git: Git, args: readonly string[], patienceMs: number): Promise<RemoteResult> {
  return new Promise((resolve, reject) => {
    const child = git.start(args);
    let [stdout, stderr, isSilent, isOver] = ["", "", false, false];
    const end = (): void => {
      isSilent = true;
      // With the helper of git's that really hangs.
      if (child.pid !== undefined) endTree(child.pid, "SIGKILL");
    };
    let timer = setTimeout(end, patienceMs);
    const heard = (): void => {
      if (isOver || isSilent) return;
      clearTimeout(timer);
      timer = setTimeout(end, patienceMs);
    };
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString("latin1");
      heard();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString("utf8")).slice(-STDERR_KEPT);
      heard();
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end();
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("exit", () => {
      isOver = true;
      clearTimeout(timer);
      timer = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, DRAIN_MS);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 128, stdout, stderr: withoutCredentials(stderr), isSilent });
    });
  });
}

/** Names and passwords in addresses are nobody's business who reads our messages. */
export function withoutCredentials(text: string): string {
  return text
    .replaceAll(/(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^/\s'"]*@/gi, "")
    .replaceAll(/([?&](?:\w*token|\w*key|\w*secret|password)=)[^&\s'"]*/gi, "$1…");
}

/** Why a call to a remote failed, if time may heal it; what only a person can heal is thrown. */
export function troubleOf(result: RemoteResult, remote: string): string {
  const { stderr, isSilent } = result;
  const why = lastWords(result);
  if (isSilent) return "it did not answer in time";
  const known = ERRORS.find(({ said }) => said.test(stderr));
  if (known !== undefined) throw new RalphError("git-failed", known.message(remote, why), known);
  if (IS_PASSING.test(stderr)) return why;
  throw new RalphError("git-failed", `the remote ${remote}: ${why}`);
}

interface KnownError {
  readonly said: RegExp;
  readonly message: (remote: string, why: string) => string;
  readonly hint: string;
}

const ERRORS: readonly KnownError[] = [
  {
    said: /Authentication failed|could not read (Username|Password)|terminal prompts disabled|Invalid username or|Permission denied \(|Permission to \S+ denied|returned error: 40[13]|Repository not found|access rights? denied/i,
    message: (remote, why) => `the remote ${remote} does not let us in: ${why}`,
    hint: "sign in so that git asks for nothing, then see that it works: GIT_TERMINAL_PROMPT=0 git ls-remote",
  },
  {
    said: /Host key verification failed/i,
    message: (remote) => `ssh does not know the machine of the remote ${remote}`,
    hint: "connect to it once by hand, and look at its key: git ls-remote",
  },
  {
    said: /does not support --atomic/i,
    message: (remote) => `the remote ${remote} cannot move several branches at once (atomic pushes)`,
    hint: "workers on several machines need that; any git server since 2.4 does it, over ssh or smart http",
  },
];

/** What git says when it is the network, or the server's bad day. Other lines are about what was asked for. */
const IS_PASSING =
  /Could not read from remote repository|unable to access|unable to connect|unable to look up|Could not resolve|Connection|hung up|early EOF|RPC failed|time[d-]? ?out|unexpected disconnect|unreachable|no route|TLS|SSL|returned error: (5\d\d|408|429)|broken pipe|sideband|does not appear to be a git repository|kex_exchange|network|cannot lock ref|Unable to create|internal server error/i;

function lastWords({ code, stderr }: RemoteResult): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !IS_ADVICE.test(line));
  const said = lines.findLast((line) => /^(fatal|error|ssh): /.test(line)) ?? lines.at(-1);
  return said?.replace(/^(fatal|error): /, "").trim() ?? `git ended with exit code ${code}`;
}

const IS_ADVICE = /^(Please make sure|and the repository exists|hint:)|Could not read from remote repository/;

/** The repository that a worker works in, and its way to the others. */
export interface Clone extends OpenRepository {
  /** As people call it. */
  readonly remoteName: string;
  /** As git is told: its name, or where pushes go, if that is elsewhere. */
  readonly target: string;
  readonly runRemote: RunRemoteGit;
}

export interface CloneOptions {
  /** The clone's checkout. */
  readonly root: string;
  /** The name of the remote; chosen as for pull requests otherwise. */
  readonly remote?: string;
  /** The branch that work is brought to, whose remote it is. */
  readonly base?: string;
  readonly env: NodeJS.ProcessEnv;
  /** How long git may say nothing before it is ended. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 120_000;

/** The answer, or what is wrong with the remote for now. */
export type Attempted<Result> =
  | { readonly result: Result; readonly trouble?: undefined }
  | { readonly result?: undefined; readonly trouble: string };

export async function openClone(options: CloneOptions): Promise<Clone> {
  const repository = await openRepository(options.root);
  const { git } = repository;
  const chosen =
    options.remote === undefined ? await chooseRemote(git, options.base ?? null) : { name: options.remote };
  if ("why" in chosen)
    throw new RalphError("config", `workers exchange their work through a remote, and ${chosen.why}`, {
      hint: "git remote add origin URL",
    });
  const remote = chosen.name;
  const asked = ["remote", "get-url", remote];
  const url = await git.run(asked);
  if (url.code !== 0) throw gitError(asked, url);
  const pushUrl = (await git.must(["remote", "get-url", "--push", remote])).trim();
  if ((await git.must(["rev-parse", "--is-shallow-repository"])).trim() === "true")
    throw new RalphError(
      "config",
      `${repository.root} is a shallow clone: it lacks the history to merge with`,
      { hint: "git fetch --unshallow" },
    );
  return {
    ...repository,
    remoteName: remote,
    target: pushUrl === url.stdout.trim() ? remote : pushUrl,
    runRemote: await createRemoteGit(repository, options),
  };
}

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
    // As if we had looked; should it fail, the next look tells.
    const lines = moves.map(({ ref, to }) =>
      to === null ? `delete ${seenRef(ref)}\n` : `update ${seenRef(ref)} ${to}\n`,
    );
    await git.run(["update-ref", "--stdin"], { input: lines.join("") });
    return { is: "pushed" };
  }
  const rejections = result.isSilent ? [] : rejectionsIn(result);
  if (rejections.length > 0) return judged(result, rejections);
  return { is: "trouble", why: troubleOf(result, remoteName) };
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
const PASSES =
  /cannot lock ref|failed to update ref|failed to (write|lock)|unable to|unpack|internal|time[d-]? ?out|atomic/i;
/** A branch where the server has a folder of branches, which never passes. */
const IS_BLOCKED = /cannot create|denied|declined|protected/i;

function judged(result: RemoteResult, reasons: readonly string[]): PushAttempt {
  const why = [...new Set([...reasons, ...remoteWords(result)])].join("; ");
  const all = [...reasons, result.stderr].join("\n");
  if (reasons.some((reason) => IS_OVERTAKEN.test(reason)) || /is at \w+ but expected/.test(all))
    return { is: "overtaken", why };
  const isPassing = reasons.every((reason) => PASSES.test(reason)) && !IS_BLOCKED.test(all);
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
  const { commonDir, runRemote, target, remoteName, git } = clone;
  const kept = seenRef(ref);
  return inTurn(`${commonDir} ${kept}`, async () => {
    const result = await runRemote([...FETCH, target, `+${ref}:${kept}`]);
    if (result.code === 0) return { result: await resolveCommit(git, kept) };
    if (!/couldn't find remote ref/.test(result.stderr)) return { trouble: troubleOf(result, remoteName) };
    await git.must(["update-ref", "-d", kept]);
    return { result: null };
  });
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
