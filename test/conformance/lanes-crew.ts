import Database from "better-sqlite3";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { createProject, jsonLines, until, type Running } from "../e2e/project.ts";
import type { Crew, Fact, Plan } from "./crew.ts";
import { putUpSigns } from "./signs.ts";

/** How long somebody else keeps the database for himself. */
const LOCKED_MS = 2_000;

/** Three lanes of one `ralph run` in one repository. */
export function lanesCrew({ tasks, script }: Plan): Promise<Crew> {
  const signs = putUpSigns();
  const project = createProject({ tasks, env: signs.env });
  project.script(script);
  project.commit("script");
  let running: Running | null = null;
  const go = (): Running => (running = project.start("run", "--parallel", "3"));
  const events = async (): Promise<readonly Fact[]> =>
    jsonLines((await project.ralph("history", "--jsonl")).stdout) as unknown as Fact[];
  return Promise.resolve<Crew>({
    signs,
    start: () => Promise.resolve(void go()),
    async kill() {
      running?.child.kill("SIGKILL");
      await running?.finished;
      go();
    },
    freeze() {
      running?.child.kill("SIGSTOP");
      return Promise.resolve({
        missed: () => Promise.resolve(),
        wake: () => Promise.resolve(void running?.child.kill("SIGCONT")),
      });
    },
    async cancel(task) {
      expect(await project.ralph("cancel", task)).toMatchObject({ code: 0 });
    },
    // A file goes away neither in good order nor otherwise; but another program may keep it for itself.
    async loseDatabase() {
      const database = new Database(`${project.root}/.git/ralph/state.db`);
      await until("the database can be locked", () => isLocked(database));
      await sleep(LOCKED_MS);
      database.exec("COMMIT");
      database.close();
    },
    async deliverTwice() {
      const second = await project.ralph("run", "--parallel", "3");
      expect(second.stderr).toContain("another ralph run is working in this repository");
    },
    cutOff: null,
    events,
    git: (...args) => project.git(...args),
    async finish() {
      const ended = await running?.finished;
      expect({ code: ended?.code, stderr: ended?.stderr }).toEqual({ code: 0, stderr: "" });
    },
    remains: () => {
      const worktrees = project.git("worktree", "list").split("\n").slice(1);
      const branches = project
        .git("for-each-ref", "--format=%(refname)", "refs/heads/ralph")
        .split("\n")
        .filter((ref) => !ref.startsWith("refs/heads/ralph/merged/"));
      return Promise.resolve([
        ...project.leftovers().map((pid) => `process ${pid}`),
        ...[...worktrees, ...branches, project.git("status", "--porcelain")].filter(Boolean),
      ]);
    },
    dispose() {
      project.dispose();
      signs.remove();
      return Promise.resolve();
    },
  });
}

function isLocked(database: Database.Database): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch {
    return false;
  }
}
