// A program: the same work as in an iteration, done bare, so many times. Prints the milliseconds of each as JSON.
import Database from "better-sqlite3";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { BareIterations } from "./floor.ts";
import { mustRun, timeOf } from "./samples.ts";

const { folder, iterations, agent, withCommits } = JSON.parse(process.argv[2] ?? "") as BareIterations;
const file = join(folder, ".git", "floor.db");
const db = new Database(file);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec("CREATE TABLE facts (text TEXT)");
const insert = db.prepare("INSERT INTO facts VALUES (?)");
const [program = "", ...args] = agent;
const times = Array.from({ length: iterations }, (_, index) => timeOf(() => iterate(index + 1)));
db.close();
for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
console.log(JSON.stringify(times));

function iterate(number: number): void {
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
}

function branch(): string {
  return readFileSync(join(folder, ".git", "refs", "heads", "main"), "utf8");
}

function commit(message: string): void {
  git("add", "-A");
  git("commit", "-qm", message);
}

function git(...words: readonly string[]): string {
  return mustRun("git", words, folder);
}
