import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { WORKS } from "../e2e/project.ts";
import { createTeam, onBase, type Machine, type Team } from "../e2e/team.ts";
import { administer } from "../support/postgres.ts";
import { claim, isFree } from "./violations.ts";

const TASKS = ["one", "two"];

/** A worker with two lanes, on a machine of its own, before its first start; it can be put back to that moment. */
export interface WorkersScene {
  readonly team: Team;
  readonly server: Machine;
  putBack(): Promise<void>;
  dispose(): Promise<void>;
}

export async function openWorkers(): Promise<WorkersScene> {
  const team = await createTeam({
    tasks: TASKS,
    others: [[{ shell: "sleep 0.3" }, ...WORKS]],
    config: '[[gates]]\nname = "right"\ncommand = "sleep 0.2; grep -q . *.txt"',
  });
  const server = team.machine("server");
  const submitted = await team.machine("office").ralph("submit");
  if (submitted.code !== 0) throw new Error(submitted.stderr);
  const folder = join(team.remote, "..");
  const kept = ["remote.git", "server"];
  const copy = (from: string, to: string): void => {
    execFileSync("sh", ["-c", `mkdir -p "$2" && cd "$1" && cp -a ${kept.join(" ")} "$2"`, "sh", from, to]);
  };
  const name = new URL(team.url).pathname.slice(1);
  const admin = new URL(team.url);
  admin.pathname = "/postgres";
  const recreate = (to: string, from: string): Promise<void> =>
    administer(
      admin.href,
      `DROP DATABASE IF EXISTS ${to} WITH (FORCE)`,
      `CREATE DATABASE ${to} TEMPLATE ${from}`,
    );
  const saved = join(folder, "saved");
  copy(folder, saved);
  await recreate(`${name}_saved`, name);
  return {
    team,
    server,
    async putBack() {
      for (const part of kept) rmSync(join(folder, part), { recursive: true, force: true });
      copy(saved, folder);
      await recreate(name, `${name}_saved`);
    },
    async dispose() {
      await administer(admin.href, `DROP DATABASE ${name}_saved`);
      await team.dispose();
    },
  };
}

/** A worker until its end, or for so long. */
export async function workForMs({ server }: WorkersScene, ms: number): Promise<NodeJS.Signals | null> {
  const { child, finished } = server.start("worker", "--lanes", "2", "--drain");
  const killer = ms === Infinity ? undefined : setTimeout(() => child.kill("SIGKILL"), ms);
  const { signal } = await finished;
  clearTimeout(killer);
  return signal;
}

/** Kills a worker, starts it again, and says what is not as it should be, each in a sentence. */
export async function killWorker(
  scene: WorkersScene,
  ms: number,
): Promise<{ readonly signal: NodeJS.Signals | null; readonly violations: readonly string[] }> {
  const { team, server } = scene;
  await scene.putBack();
  const signal = await workForMs(scene, ms);
  const atDeath = await team.events();
  const last = await server.ralph("worker", "--lanes", "2", "--drain");
  const events = await team.events();
  const numbers = (type: string): readonly number[] =>
    events
      .filter((event) => event["type"] === type)
      .map((event) => Number(event["iteration"]))
      .toSorted((one, other) => one - other);
  const tasks = (type: string): readonly string[] =>
    events
      .filter((event) => event["type"] === type)
      .map((event) => String(event["task"]))
      .toSorted();
  const started = numbers("iteration.started");
  const trees = server.git("worktree", "list").split("\n");
  const locks = readdirSync(join(server.root, ".git"), { recursive: true }).filter((path) =>
    String(path).endsWith(".lock"),
  );
  const violations = [
    ...claim(last.code === 0, `the next worker ended with ${last.code}: ${last.stderr}`),
    ...claim(isDeepStrictEqual(events.slice(0, atDeath.length), atDeath), "what was recorded is different"),
    ...claim(
      started.every((number, index) => number === index + 1),
      `iterations began as ${started.join()}`,
    ),
    ...["iteration.ended", "verdict.reached"].flatMap((type) =>
      claim(isDeepStrictEqual(numbers(type), started), `${type} of ${numbers(type).join()}`),
    ),
    ...["task.completed", "task.merged"].flatMap((type) =>
      claim(isDeepStrictEqual(tasks(type), TASKS), `${type} of ${tasks(type).join()}`),
    ),
    ...TASKS.flatMap((task) =>
      claim(onBase(team, `${task}.txt`) === task, `the work of ${task} is not merged`),
    ),
    ...claim(onBase(team, "TODO.md")?.includes("[ ]") === false, "a task is not marked"),
    ...claim(
      team.git("for-each-ref", "refs/heads").split("\n").length === 1,
      "a branch is left on the remote",
    ),
    ...claim(team.git("fsck", "--connectivity-only", "--no-dangling") === "", "git fsck complains"),
    ...claim(trees.length === 1, `worktrees are left: ${trees.join(", ")}`),
    ...claim(locks.length === 0, `locks are left: ${locks.join(", ")}`),
    ...claim(team.leftovers().length === 0, `processes are left: ${team.leftovers().join(", ")}`),
    ...claim(isFree(join(server.root, ".git", "ralph", "lock.db")), "the lock is held"),
  ];
  return { signal, violations };
}
