import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { DemoStep } from "../../src/core/demo/demo-script.ts";
import { pathWithoutAgents } from "../fixtures/path-without-agents.ts";
import { freshDatabase } from "../support/postgres.ts";
import { jsonLines, lastingProcesses, startRalph, WORKS, type Finished, type Running } from "./project.ts";

/** One machine of a team: a clone of the remote, and a HOME, of its own. */
export interface Machine {
  readonly name: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  ralph(...args: string[]): Promise<Finished>;
  start(...args: string[]): Running;
  git(...args: string[]): string;
}

/** Several machines with one remote and one database. */
export interface Team {
  readonly url: string;
  readonly remote: string;
  machine(name: string, options?: MachineOptions): Machine;
  /** On the remote. */
  git(...args: string[]): string;
  events(): Promise<readonly Record<string, unknown>[]>;
  /** Processes of agents and gates, of all machines, that do not end by themselves. */
  leftovers(patienceMs?: number): readonly number[];
  dispose(): Promise<void>;
}

export interface TeamOptions {
  readonly tasks: readonly string[];
  /** What the demo agent does for each task, or for all. */
  readonly script?: Readonly<Record<string, readonly (readonly DemoStep[])[]>>;
  readonly others?: readonly (readonly DemoStep[])[];
  readonly config?: string;
  readonly lease?: string;
  readonly url?: string;
}

export interface MachineOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the team's own way to the database. */
  readonly url?: string;
  /** Without a checkout. */
  readonly isBare?: boolean;
}

export async function createTeam(options: TeamOptions): Promise<Team> {
  const folder = mkdtempSync(join(tmpdir(), "ralph-team-"));
  const database = options.url === undefined ? await freshDatabase() : null;
  const url = options.url ?? database?.url ?? "";
  const remote = join(folder, "remote.git");
  const seed = join(folder, "seed");
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync("git", args, {
      cwd,
      encoding: "utf8",
      env: gitEnv(folder),
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  mkdirSync(seed);
  git(folder, "init", "--quiet", "--bare", "-b", "main", remote);
  git(seed, "init", "--quiet", "-b", "main");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(seed, path)), { recursive: true });
    writeFileSync(join(seed, path), text);
  };
  const lease = options.lease ?? "3s";
  write(
    ".ralph/ralph.toml",
    `agent = "demo"\n${options.config ?? ""}\n[agents.demo]\nscript = ".ralph/script.json"\n[queue]\nlease = "${lease}"\n`,
  );
  write("TODO.md", `# Tasks\n\n${options.tasks.map((id) => `- [ ] **${id}**: make ${id}\n`).join("")}`);
  write(
    ".ralph/script.json",
    JSON.stringify({ tasks: options.script ?? {}, default: options.others ?? [WORKS] }),
  );
  git(seed, "add", "-A", "-f");
  git(seed, "commit", "--quiet", "-m", "tasks");
  git(seed, "push", "--quiet", remote, "main");
  const machines = new Map<string, Machine>();
  const machine: Team["machine"] = (name, more = {}) => {
    const root = join(folder, name, "clone");
    const home = join(folder, name, "home");
    mkdirSync(home, { recursive: true });
    git(folder, "clone", "--quiet", ...(more.isBare === true ? ["--bare"] : []), remote, root);
    const env = {
      PATH: pathWithoutAgents(join(folder, name, "programs")),
      HOME: home,
      GIT_CONFIG_NOSYSTEM: "1",
      RALPH_QUEUE_URL: more.url ?? url,
      RALPH_TEST_PROJECT: folder,
      RALPH_TEST_MACHINE: name,
      ...more.env,
    };
    const made: Machine = {
      name,
      root,
      env,
      ralph: (...args) => startRalph(root, env, args).finished,
      start: (...args) => startRalph(root, env, args),
      git: (...args) => git(root, ...args),
    };
    machines.set(name, made);
    return made;
  };
  const looker = machine("looker");
  return {
    url,
    remote,
    machine,
    git: (...args) => git(remote, ...args),
    events: async () => jsonLines((await looker.ralph("history", "--jsonl")).stdout),
    leftovers: (patienceMs) => lastingProcesses(`RALPH_TEST_PROJECT=${folder}`, patienceMs),
    async dispose() {
      for (const pid of lastingProcesses(`RALPH_TEST_PROJECT=${folder}`, 0)) endProcess(pid);
      await database?.drop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** What a file is on the remote's base. */
export function onBase({ git }: Pick<Team, "git">, path: string): string | null {
  try {
    return git("show", `main:${path}`);
  } catch {
    return null;
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone by itself
  }
}

function gitEnv(folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "T",
    GIT_AUTHOR_EMAIL: "t@example.org",
    GIT_COMMITTER_NAME: "T",
    GIT_COMMITTER_EMAIL: "t@example.org",
  };
}
