import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../../core/errors.ts";
import {
  chooseRemote,
  openRepository,
  type OpenRepository,
  type Repository,
} from "../git/find-repository.ts";
import { createGit, type Git, gitError, type GitResult } from "../git/git.ts";
import { endTree } from "../process/process-sweep.ts";

/** What git said about a remote; `isSilent`: it said nothing for so long that it was ended. */
export interface RemoteResult extends GitResult {
  readonly isSilent: boolean;
}

/** Runs git to its end, and ends it when nothing comes of it. Nobody is ever asked for a password. */
type RunRemoteGit = (args: readonly string[]) => Promise<RemoteResult>;

interface RemoteGitOptions {
  readonly env: NodeJS.ProcessEnv;
  /** How long git may say nothing. */
  readonly patienceMs: number;
}

/** Git for calls that go over the network, with the settings and sign-ins of the user. */
export async function createRemoteGit(
  repository: Repository,
  { env, patienceMs }: RemoteGitOptions,
): Promise<RunRemoteGit> {
  const { root, gitDir } = repository;
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
  const runRemote = await createRemoteGit(repository, {
    env: options.env,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
  });
  return {
    ...repository,
    remoteName: remote,
    target: pushUrl === url.stdout.trim() ? remote : pushUrl,
    runRemote,
  };
}
