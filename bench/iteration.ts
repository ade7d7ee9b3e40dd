import Database from "better-sqlite3";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RALPH, sampleProject } from "./sample-project.ts";
import { median, mustRun } from "./samples.ts";

const ITERATIONS = 40;
const ROUNDS = 5;
const AGENT = ["sh", "-c", 'echo x > "$RALPH_TASK_ID"; echo "<promise>COMPLETE</promise>"'];

/**
 * One accepted iteration (agent, evidence, our commit, verdict, mark and its commit) beside the floor of the same
 * work done bare: the agent's process, `git status`, two commits, one durable commit to SQLite.
 */
export async function measureIteration(): Promise<readonly string[]> {
  const ours: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(timePerIteration());
    floors.push(floor());
  }
  const [own, bare] = [median(ours), median(floors)];
  return [
    `one accepted iteration (median of ${ROUNDS} runs of ${ITERATIONS})`,
    `  floor  ${bare.toFixed(1).padStart(7)} ms`,
    `  ralph  ${own.toFixed(1).padStart(7)} ms   ${(own / bare).toFixed(2)} × the floor`,
  ];
}

function timePerIteration(): number {
  const [few, many] = [2, 2 + ITERATIONS].map((tasks) => {
    const folder = sampleProject(tasks, AGENT);
    const startedAt = performance.now();
    mustRun(RALPH, ["run", "--quiet"], folder);
    return performance.now() - startedAt;
  });
  return ((many ?? 0) - (few ?? 0)) / ITERATIONS;
}

function floor(): number {
  const folder = sampleProject(1, AGENT);
  const db = new Database(join(folder, ".git", "floor.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE facts (text TEXT)");
  const insert = db.prepare("INSERT INTO facts VALUES (?)");
  const commit = (message: string): void => {
    mustRun("git", ["add", "-A"], folder);
    mustRun(
      "git",
      ["-c", "user.name=Bench", "-c", "user.email=b@localhost", "commit", "-qm", message],
      folder,
    );
  };
  const startedAt = performance.now();
  for (let number = 0; number < ITERATIONS; number += 1) {
    spawnSync("sh", AGENT.slice(1), {
      cwd: folder,
      env: { PATH: process.env["PATH"], RALPH_TASK_ID: `task-${number}` },
    });
    mustRun("git", ["status", "--porcelain=v2", "-z"], folder);
    commit("work");
    writeFileSync(join(folder, "TODO.md"), `${number}`);
    commit("mark");
    insert.run("a fact");
  }
  const time = (performance.now() - startedAt) / ITERATIONS;
  db.close();
  return time;
}
