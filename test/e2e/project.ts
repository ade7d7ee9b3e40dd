import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DemoStep } from "../../src/core/demo/demo-script.ts";
import { pathWithoutAgents } from "../fixtures/path-without-agents.ts";
import { temporaryRepository, type TemporaryRepository } from "../fixtures/temporary-repository.ts";

export const RALPH = join(import.meta.dirname, "..", "..", "bin", "ralph");

export type Steps = readonly DemoStep[];

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  stdout(): string;
  stderr(): string;
}

export interface HistoryEntry {
  readonly iteration: number;
  readonly task: string;
  readonly verdict: string | null;
  readonly reasons: readonly string[];
  readonly exit_code: number | null;
  readonly claim: string | null;
  readonly commit_hash: string | null;
  readonly failure_class: string | null;
  readonly files_changed: number | null;
}

/** A user's repository with the built program beside it; the HOME is empty. */
export interface Project extends TemporaryRepository {
  /** Runs the program to its end. */
  ralph(...args: string[]): Promise<Finished>;
  /** Starts the program and lets it work. */
  start(...args: string[]): Running;
  history(): Promise<readonly HistoryEntry[]>;
  events(): Promise<readonly Record<string, unknown>[]>;
  /** The demo agent's script: what it does for each task, or for all. */
  script(tasks: Readonly<Record<string, readonly Steps[]>>, others?: readonly Steps[]): void;
  /** Processes that carry a marker of this project's agents, and do not end by themselves. */
  leftovers(patienceMs?: number): readonly number[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ProjectOptions {
  readonly tasks?: readonly string[];
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Does the task for real: one file named after it, and the claim. */
export const WORKS: Steps = [
  { shell: 'echo "$RALPH_TASK_ID" > "$RALPH_TASK_ID.txt"' },
  { promise: "COMPLETE" },
];

/** The agent waits for the test, not for a time. */
export const TOLD_TO_GO: DemoStep = {
  shell: 'until test -e "$HOME/go" || ! test -d "$HOME"; do sleep 0.05; done',
};

export function tellToGo(project: Project): void {
  project.write("../home/go", "");
}

export function createProject(options: ProjectOptions = {}): Project {
  const repository = temporaryRepository();
  const home = join(repository.root, "..", "home");
  mkdirSync(home);
  const env = {
    PATH: pathWithoutAgents(join(repository.root, "..", "programs")),
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    RALPH_TEST_PROJECT: repository.root,
    ...inherited("TMPDIR", "NODE_COMPILE_CACHE"),
    ...options.env,
  };
  repository.write(
    ".ralph/ralph.toml",
    options.config ?? 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n',
  );
  const boxes = (options.tasks ?? ["one"]).map((id) => `- [ ] **${id}**: make ${id}\n`).join("");
  repository.write("TODO.md", `# Tasks\n\n${boxes}`);
  const project: Project = {
    ...repository,
    env,
    ralph: async (...args) => startRalph(repository.root, env, args).finished,
    start: (...args) => startRalph(repository.root, env, args),
    history: async () => JSON.parse((await project.ralph("history", "--json")).stdout) as HistoryEntry[],
    events: async () => jsonLines((await project.ralph("history", "--jsonl")).stdout),
    script: (tasks, others) =>
      repository.write(".ralph/script.json", JSON.stringify({ tasks, ...(others && { default: others }) })),
    leftovers: (patienceMs) => lastingProcesses(`RALPH_TEST_PROJECT=${repository.root}`, patienceMs),
    // What a failed test leaves running would go on without its programs, and slow down all that come after it.
    dispose() {
      for (const pid of project.leftovers(0)) kill(pid);
      repository.dispose();
    },
  };
  project.script({}, [WORKS]);
  repository.commit("tasks");
  return project;
}

function inherited(...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** A repository that has never heard of ralph. */
export function createBareProject(files: Readonly<Record<string, string>> = {}): Project {
  const fresh = createProject();
  fresh.remove(".ralph");
  fresh.remove("TODO.md");
  for (const [path, text] of Object.entries(files)) fresh.write(path, text);
  fresh.commit("bare");
  return fresh;
}

export function jsonLines(text: string): readonly Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Polls until something is so. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  patienceMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function startRalph(
  cwd: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Running {
  const child = spawn(RALPH, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const finished = once(child, "close").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    ...output,
  }));
  return { child, finished, stdout: () => output.stdout, stderr: () => output.stderr };
}

/** By an entry of their environment. */
function processesWith(entry: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(entry);
      } catch {
        return false; // gone, or not ours
      }
    });
}

/** Without those that are about to end: a git whose input has been closed needs a moment on a busy machine. */
export function lastingProcesses(entry: string, patienceMs = 5_000): readonly number[] {
  const deadline = performance.now() + patienceMs;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const found = processesWith(entry);
    if (found.length === 0 || performance.now() > deadline) return found;
    Atomics.wait(clock, 0, 0, 50);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone by itself
  }
}

export function exists(project: Project, path: string): boolean {
  return existsSync(join(project.root, path));
}
