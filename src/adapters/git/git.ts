import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Advanced, AdvanceRequest, MovedBranch } from "../../engine/parallel-ports.ts";
import { RalphError } from "../../core/errors.ts";
import { withoutOwnSecrets } from "../../core/redact.ts";

/** Git in one directory. All text is bytes, one character each: a path need not be UTF-8. */
export interface Git {
  /** Runs git to its end, whatever the exit code. Throws when git is not there or the disk is full. */
  run(args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** Starts git and leaves it to the caller. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams;
  /** For questions: the exit code 0 is yes, 1 is no, any other is thrown. */
  ask(args: readonly string[]): Promise<GitResult>;
  /** The output; a failure of git is thrown. */
  must(args: readonly string[], options?: GitOptions): Promise<string>;
  /** The same as NUL-terminated records. */
  records(args: readonly string[], options?: GitOptions): Promise<string[]>;
}

interface GitOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Lets the operator's hooks and signing run; they are off otherwise. */
  readonly hooks?: boolean;
  /** Lets git tidy up, if its settings say so and before it ends; it does not otherwise. */
  readonly tidies?: boolean;
  /** Ends git after so long. */
  readonly timeoutMs?: number;
  /** Ends git after so much output. */
  readonly outputBytesMax?: number;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface GitPlace {
  /** Asked when a lock file is in the way, before the command is tried again. */
  readonly unlock?: () => Promise<void>;
  /** Variables that say where repository and work tree are, whatever its configuration says by now. */
  readonly place?: Readonly<Record<string, string>>;
}

/** Runs before each git in these directories; `steering.ts` sets it while agents work. */
export const guard: { beforeGit(dirs: readonly string[]): void } = { beforeGit: () => undefined };

/** Of a git directory that is named: what its own file `commondir` says may be an agent's. */
function commonDirOf(gitDir: string): string {
  const parent = dirname(gitDir);
  return basename(parent) === "worktrees" ? dirname(parent) : gitDir;
}

/** The one place that starts git. */
export function createGit(cwd: string, { unlock = () => Promise.resolve(), place = {} }: GitPlace = {}): Git {
  const gitDir = place["GIT_DIR"];
  const commonDir = gitDir === undefined ? undefined : commonDirOf(gitDir);
  const at = { ...place, ...(commonDir !== undefined && { GIT_COMMON_DIR: commonDir }) };
  const dirs = [...new Set([gitDir, commonDir])].filter((dir) => dir !== undefined);
  const run: Git["run"] = async (args, options = {}) => {
    const once = (): Promise<GitResult & Ending> => {
      guard.beforeGit(dirs);
      return runOnce(cwd, args, {
        ...options,
        env: { ...(options.hooks === true ? {} : at), ...options.env },
      });
    };
    for (const pauseMs of PAUSES_MS) {
      const result = await once();
      if (result.isStillborn) continue;
      const isLocked = IS_LOCKED.test(result.stderr);
      if (result.code === 0 || !(isLocked || IS_HALF_MADE.test(result.stderr))) return result;
      if (isLocked) await unlock();
      await sleep(pauseMs);
    }
    return once();
  };
  const ask: Git["ask"] = async (args) => {
    const result = await run(args);
    if (result.code > 1) throw gitError(args, result);
    return result;
  };
  const must: Git["must"] = async (args, options) => {
    const result = await run(args, options);
    if (result.code !== 0) throw gitError(args, result);
    return result.stdout;
  };
  const start: Git["start"] = (args) => {
    guard.beforeGit(dirs);
    const env = { ...environment(), ...at };
    return spawn("git", withConfig(args), { cwd, env, detached: true, stdio: "pipe" });
  };
  const records: Git["records"] = async (args, options) => recordsIn(await must(args, options));
  return { run, start, ask, must, records };
}

interface AtOnce {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: Buffer;
  readonly timeoutMs?: number;
}

const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;

/** Git where nothing else can go on meanwhile, or where no agent of ours is at work. The code is null when it did not end. */
export function runGitAtOnce(
  args: readonly string[],
  { cwd, env = process.env, input, timeoutMs }: AtOnce,
): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync("git", withConfig(args), {
    cwd,
    env: environment(env),
    input,
    encoding: "latin1",
    timeout: timeoutMs,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  return { code: status, stdout: stdout ?? "", stderr: stderr ?? "" };
}

/** What git refused, as one sentence. */
export function gitError(args: readonly string[], result: GitResult): RalphError {
  const hint = mendingHint(result.stderr);
  return new RalphError("git-failed", `git ${verbOf(args)} failed: ${lastWords(result)}`, {
    ...(hint !== null && { hint }),
    cause: result,
  });
}

/** The path as people see it. */
export function textOf(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** What `-z` ends with NUL. */
export function recordsIn(output: string): string[] {
  return output.split("\0").slice(0, -1);
}

export function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Where git's path lies; it need not be UTF-8. */
export function bytePath(root: string, bytes: string): Buffer {
  return Buffer.from(join(bytesOf(root), bytes), "latin1");
}

/** What git calls this content, in the manner of the repository that `sibling` is from. */
export function blobName(content: Buffer, sibling: string): string {
  const hash = createHash(sibling.length === 64 ? "sha256" : "sha1").update(`blob ${content.length}\0`);
  return hash.update(content).digest("hex");
}

/** No answer is worth waiting for a background child of a hook that holds our pipe. */
const DRAIN_MS = 2_000;
const STDERR_KEPT = 16_384;
const IS_LOCKED = /Unable to create '[^']*\.lock': File exists/;
/** Git looks at all worktrees, also at one that somebody is just making or removing. */
const IS_HALF_MADE = /failed to read .*(commondir|gitdir|HEAD)|unable to read .*worktrees/i;
const PAUSES_MS = [0, 50, 200, 500];
const UNTIDY = ["gc.auto=0", "maintenance.auto=false"];
const TIDY_AT_ONCE = ["gc.autoDetach=false", "maintenance.autoDetach=false"];
const OWN_CONFIG = [
  "core.safecrlf=false",
  "core.quotePath=false",
  "i18n.commitEncoding=utf-8",
  // No program of the repository's is started, and none of its own repositories is looked into.
  "core.fsmonitor=false",
  "submodule.recurse=false",
  "diff.ignoreSubmodules=dirty",
  "log.showSignature=false",
  // A file is what it is, not what somebody has set its date to.
  "core.trustctime=true",
  "core.checkStat=default",
  "core.ignoreStat=false",
  // Ancestors are what commits say.
  "core.commitGraph=false",
];
const NO_HOOKS = ["core.hooksPath=/dev/null", "commit.gpgSign=false"];

interface Ending {
  /** A Ctrl-C that came before git had a process group of its own: it has done nothing. */
  readonly isStillborn: boolean;
}

const OF_TERMINALS: ReadonlySet<string | null> = new Set(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]);

function runOnce(cwd: string, args: readonly string[], options: GitOptions): Promise<GitResult & Ending> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", withConfig(args, options), {
      cwd,
      env: { ...environment(), ...options.env },
      // Ctrl-C is for us: a git that dies of it would look like a failure.
      detached: true,
      timeout: options.timeoutMs,
      stdio: [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    const stdout: string[] = [];
    let stderr = "";
    let read = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      read += chunk.length;
      stdout.push(chunk.toString("latin1"));
      if (read >= (options.outputBytesMax ?? Infinity)) child.kill();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString("utf8")).slice(-STDERR_KEPT);
    });
    // Git may end without reading everything; its exit code says whether that was a failure.
    child.stdin?.on("error", () => undefined);
    if (options.input !== undefined) child.stdin?.end(options.input, "latin1");
    child.on("error", (error) => reject(notStarted(error, cwd)));
    child.on("exit", () => {
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS).unref();
    });
    child.on("close", (code, signal) => {
      const isStillborn = OF_TERMINALS.has(signal) && read === 0 && stderr === "";
      if (/No space left on device|Disk quota exceeded/.test(stderr)) reject(diskFull(args, cwd));
      else resolve({ code: code ?? 128, stdout: stdout.join(""), stderr, isStillborn });
    });
  });
}

function withConfig(args: readonly string[], { hooks = false, tidies = false }: GitOptions = {}): string[] {
  const config = [...(tidies ? TIDY_AT_ONCE : UNTIDY), ...OWN_CONFIG, ...(hooks ? [] : NO_HOOKS)];
  return [...config.flatMap((setting) => ["-c", setting]), ...args];
}

/** The same for a program that starts git itself, such as `gh`. */
export function hardenedForOthers(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings = [...OWN_CONFIG, ...NO_HOOKS].map((setting): [string, string] => {
    const [key = "", value = ""] = setting.split("=");
    return [key, value];
  });
  return { ...env, ...settingVariables(env, Object.fromEntries(settings)) };
}

/** Settings of git by environment, behind those that are there; none where these make no sense. */
export function settingVariables(
  env: Readonly<NodeJS.ProcessEnv>,
  settings: Readonly<Record<string, string>>,
): Record<string, string> {
  const count = Number(env["GIT_CONFIG_COUNT"] ?? "0");
  if (!Number.isInteger(count) || count < 0) return {};
  const added = Object.entries(settings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${count + index}`, key],
    [`GIT_CONFIG_VALUE_${count + index}`, value],
  ]);
  return { ...Object.fromEntries(added), GIT_CONFIG_COUNT: String(count + added.length / 2) };
}

function environment(env: NodeJS.ProcessEnv = process.env): Record<string, string | undefined> {
  return {
    ...withoutOwnSecrets(env),
    // What a commit holds is what its id says.
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null/none",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_EDITOR: ":",
    LC_ALL: "C",
    // Ours say `:(literal)` where they must.
    GIT_LITERAL_PATHSPECS: undefined,
    GIT_GLOB_PATHSPECS: undefined,
    GIT_NOGLOB_PATHSPECS: undefined,
    GIT_ICASE_PATHSPECS: undefined,
  };
}

function notStarted(error: NodeJS.ErrnoException, cwd: string): RalphError {
  if (!existsSync(cwd)) return new RalphError("git-failed", `${cwd} does not exist`, { cause: error });
  if (error.code === "ENOENT") {
    return new RalphError("no-git", "git is not installed, or not in PATH", {
      hint: "install git (https://git-scm.com/downloads)",
      cause: error,
    });
  }
  const hint = /^(EMFILE|ENFILE|EAGAIN|ENOMEM)$/.test(error.code ?? "")
    ? { hint: "this machine has no more to give: allow more (ulimit -n 4096), then start ralph again" }
    : {};
  return new RalphError("git-failed", `git could not be started: ${error.message}`, {
    ...hint,
    cause: error,
  });
}

function diskFull(args: readonly string[], cwd: string): RalphError {
  return new RalphError("disk-full", `no space left on the disk for git ${verbOf(args)} in ${cwd}`, {
    hint: "free some space and start ralph again: it goes on where it was, nothing recorded is lost",
  });
}

function verbOf(args: readonly string[]): string {
  return args.find((arg, at) => !arg.startsWith("-") && args[at - 1] !== "-c") ?? "";
}

/** Git explains after the fact; the line that says what happened is the one it labels. */
function lastWords({ code, stderr }: GitResult): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const line = lines.findLast((candidate) => /^(fatal|error): /.test(candidate)) ?? lines.at(-1);
  return line?.replace(/^(fatal|error): /, "").trim() ?? `exit code ${code}`;
}

/** What a person can do about a repository that git itself cannot read; null where it is something else. */
function mendingHint(stderr: string): string | null {
  if (SPOILT_INDEX.test(stderr))
    return "git's index is damaged; it can be made again, and no file changes by that: rm .git/index && git reset";
  if (SPOILT_HEAD.test(stderr))
    return "the repository is damaged: .git/HEAD should name a branch (git symbolic-ref HEAD refs/heads/main); then start ralph again";
  if (SPOILT_OBJECT.test(stderr))
    return "the repository is damaged: see what git fsck says, and bring back what is missing, from another clone for example; then start ralph again, it goes on where it was";
  return null;
}

const SPOILT_INDEX =
  /index file (smaller|corrupt|open failed)|bad (index file|signature)|unknown index entry/i;
const SPOILT_HEAD = /not a git repository: '/;
const SPOILT_OBJECT =
  /bad (tree )?object|invalid object|error building trees|unable to read (tree|blob|sha1|[0-9a-f]{40})|(object|commit|tree|blob) .*(corrupt|missing|is empty)|could not parse (object|commit)|inflate: /i;

/** The name of the tree without files, in the manner of the repository that `sibling` is from. */
export function emptyTree(sibling: string): string {
  return sibling.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}

/** Whether the commit has the other in its past, or is it. */
export async function contains(git: Git, commit: string, other: string): Promise<boolean> {
  return (await git.ask(["merge-base", "--is-ancestor", other, commit])).code === 0;
}

export async function isHere(git: Git, commit: string): Promise<boolean> {
  return (await git.run(["cat-file", "-e", `${commit}^{commit}`])).code === 0;
}

/** Those of the paths that git keeps a history of. */
export async function findTracked(git: Git, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const tracked = await git.records(["ls-files", "-z", "--", ...paths.map((path) => `:(literal)${path}`)]);
  return new Set(tracked.map(textOf));
}

/** Whether a base, which is at `head`, has moved from one commit to the next; "before": not yet. */
export async function whereBaseStands(
  git: Git,
  head: string | null,
  { base, from, to }: Pick<AdvanceRequest, "base" | "from" | "to">,
): Promise<Advanced | "before"> {
  if (head === to) return { is: "moved" };
  if (head === null || !(await isHere(git, to))) return { is: "elsewhere", head };
  // Somebody may have worked on top of it since.
  if (head !== from) return (await contains(git, head, to)) ? { is: "moved" } : { is: "elsewhere", head };
  if (!(await contains(git, to, from)))
    throw new RalphError("internal", `${to} does not continue ${from}: ${base} stays where it is`);
  return "before";
}

interface BranchPlace extends Pick<MovedBranch, "tip" | "where" | "restore"> {
  readonly commit: string;
}

/** A branch beside the commit that was accepted on it. */
export async function compareBranch(git: Git, place: BranchPlace): Promise<MovedBranch | null> {
  const { commit, ...moved } = place;
  const { tip } = moved;
  if (tip === commit) return null;
  if (tip === null) return { ...moved, commits: 0, isAhead: false };
  const count = await git.must(["rev-list", "--count", tip, `^${commit}`]);
  return { ...moved, commits: Number(count), isAhead: await contains(git, tip, commit) };
}
