import Database from "better-sqlite3";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { mustRun, timeOf } from "./samples.ts";

export interface BareIteration {
  readonly agent: readonly string[];
  /** The work that the agent left and the mark, each committed as a person would. */
  readonly withCommits: boolean;
}

/**
 * The same work done bare, by the iteration: the agent's process, two looks at where the branch is, one `git status`,
 * one durable commit to SQLite. The milliseconds of each.
 */
export function timeBare(
  folder: string,
  iterations: number,
  { agent, withCommits }: BareIteration,
): readonly number[] {
  const file = join(folder, ".git", "floor.db");
  const db = new Database(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE facts (text TEXT)");
  const insert = db.prepare("INSERT INTO facts VALUES (?)");
  const git = (...args: readonly string[]): string => mustRun("git", args, folder);
  const commit = (message: string): void => {
    git("add", "-A");
    git("commit", "-qm", message);
  };
  const [program = "", ...args] = agent;
  const branch = (): string => readFileSync(join(folder, ".git", "refs", "heads", "main"), "utf8");
  const bare = (number: number): void => {
    branch();
    mustRun(program, args, folder, {
      env: { RALPH_TASK_ID: `task-${number}`, RALPH_ITERATION: `${number}` },
    });
    branch();
    git("status", "--porcelain=v2", "-z", "--untracked-files=all");
    if (withCommits) {
      commit("work");
      appendFileSync(join(folder, "TODO.md"), `- [x] ${number}\n`);
      commit("mark");
    }
    insert.run("a fact");
  };
  const times = Array.from({ length: iterations }, (_, index) => timeOf(() => bare(index + 1)));
  db.close();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
  return times;
}
