import { setTimeout as sleep } from "node:timers/promises";
import { createGit, type Git, type GitResult } from "../git/git.ts";
import type { Repository } from "../git/find-repository.ts";
import { endTree } from "../system/end-tree.ts";
import { withoutCredentials } from "./without-credentials.ts";

/** What git said about a remote; `isSilent`: it said nothing for so long that it was ended. */
export interface RemoteResult extends GitResult {
  readonly isSilent: boolean;
}

export interface RemoteGit {
  /** Runs git to its end, and ends it when nothing comes of it. Nobody is ever asked for a password. */
  run(args: readonly string[]): Promise<RemoteResult>;
}

export interface RemoteGitOptions {
  readonly env: NodeJS.ProcessEnv;
  /** How long git may say nothing. */
  readonly patienceMs: number;
}

/** Git for calls that go over the network, with the settings and sign-ins of the user. */
export async function createRemoteGit(
  repository: Repository,
  { env, patienceMs }: RemoteGitOptions,
): Promise<RemoteGit> {
  const { root, gitDir } = repository;
  const own = { GIT_DIR: gitDir, GIT_WORK_TREE: root };
  const ssh = await sshCommand(createGit(root, { place: own }), env);
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const git = createGit(root, { place: { ...given, ...own, ...SILENT, ...ssh } });
  return {
    async run(args) {
      for (const pauseMs of PAUSES_MS) {
        const result = await runBounded(git, args, patienceMs);
        if (result.code === 0 || !IS_CLASH.test(result.stderr)) return result;
        await sleep(pauseMs);
      }
      return runBounded(git, args, patienceMs);
    },
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
