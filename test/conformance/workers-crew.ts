import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { openDatabase } from "../../src/adapters/fleet/database.ts";
import { openFleet } from "../../src/adapters/fleet/fleet.ts";
import { until, type Running } from "../e2e/project.ts";
import { createTeam, type Machine, type Team } from "../e2e/team.ts";
import { administer, ask, cuttableProxy, startServer, type CuttableProxy } from "../support/postgres.ts";
import type { Crew, Fact, Plan } from "./crew.ts";
import { putUpSigns } from "./signs.ts";

const LEASE_MS = 2_000;

interface Member {
  readonly machine: Machine;
  readonly proxy: CuttableProxy;
  readonly running: Running;
  readonly id: string;
  isAlive: boolean;
}

export interface WorkersOptions {
  /** Instead of the server that the tests share: one that can be lost. */
  readonly hasOwnServer: boolean;
}

/** Three workers, each with a clone, a HOME and a way to the database of its own. */
export async function workersCrew(plan: Plan, { hasOwnServer }: WorkersOptions): Promise<Crew> {
  const signs = putUpSigns();
  const server = hasOwnServer ? await startServer() : null;
  const team = await createTeam({
    tasks: plan.tasks,
    script: plan.script,
    lease: `${LEASE_MS / 1000}s`,
    ...(server && { url: server.url }),
  });
  const office = team.machine("office");
  const members: Member[] = [];
  const events = async (): Promise<readonly Fact[]> => (await team.events()) as unknown as Fact[];
  const workerOn = async (task: string): Promise<Member> => {
    const started = (await events()).findLast(
      (fact) => fact.type === "iteration.started" && fact.task === task,
    );
    const member = members.find(({ id }) => id === started?.worker);
    if (member === undefined) throw new Error(`nobody works on ${task}`);
    return member;
  };
  return {
    signs,
    async start() {
      expect(await office.ralph("submit")).toMatchObject({ code: 0 });
      for (const name of ["left", "middle", "right"]) members.push(await join(team, name, signs.env));
    },
    async kill(task) {
      const member = await workerOn(task);
      member.isAlive = false;
      member.running.child.kill("SIGKILL");
      await member.running.finished;
    },
    async freeze(task) {
      const { running, id } = await workerOn(task);
      running.child.kill("SIGSTOP");
      return {
        missed: () =>
          until(`${id} holds nothing any more`, async () => (await heldBy(team, id)).length === 0),
        async wake() {
          const since = await seenAt(team, id);
          running.child.kill("SIGCONT");
          await until(`${id} is here again`, async () => (await seenAt(team, id)) > since);
        },
      };
    },
    async cancel(task) {
      expect(await office.ralph("cancel", task)).toMatchObject({ code: 0 });
    },
    async loseDatabase(how) {
      await (how === "by kill -9" ? server?.kill() : server?.stop());
      await until("everybody has noticed", () =>
        members.every(({ running }) => running.stderr().includes("cannot be reached")),
      );
      // Longer than a lease, and yet nobody is taken for dead who could not say that it lives.
      if (how === "by kill -9") await sleep(1.5 * LEASE_MS);
      await server?.start();
    },
    deliverTwice: (task) => deliverTwice(team, task),
    async cutOff(task) {
      const { proxy } = await workerOn(task);
      proxy.hold();
      return () => proxy.release();
    },
    events,
    git: (...args) => team.git(...args),
    async finish() {
      expect(await office.ralph("submit", "--watch")).toMatchObject({ code: 0 });
      const alive = members.filter(({ isAlive }) => isAlive);
      await until("merged work is cleared away on every machine", async () => {
        const merged = (await events()).filter(({ type }) => type === "task.merged");
        return alive.every(({ machine }) =>
          merged.every(({ task }) => !machine.git("worktree", "list").includes(`[ralph/${task}]`)),
        );
      });
      for (const { running } of alive) running.child.kill("SIGINT");
      for (const { running } of alive) expect(await running.finished).toMatchObject({ code: 130 });
    },
    async remains() {
      const held = await ask<{ name: string; worker: string }>(
        team.url,
        "SELECT name, worker FROM ralph.leases WHERE expires_at IS NOT NULL",
      );
      const branches = team.git("for-each-ref", "--format=%(refname)", "refs/heads/ralph").split("\n");
      const worktrees = members
        .filter(({ isAlive }) => isAlive)
        .flatMap(({ machine }) => machine.git("worktree", "list").split("\n").slice(1));
      return [
        ...team.leftovers().map((pid) => `process ${pid}`),
        ...held.map(({ name, worker }) => `${worker} holds ${name}`),
        ...[...worktrees, ...branches].filter(Boolean),
      ];
    },
    async dispose() {
      for (const { running } of members) running.child.kill("SIGKILL");
      await team.dispose();
      for (const { proxy } of members) await proxy.close();
      await server?.remove();
      signs.remove();
    },
  };
}

async function join(team: Team, name: string, env: Readonly<Record<string, string>>): Promise<Member> {
  const proxy = await cuttableProxy(team.url);
  const machine = team.machine(name, { env, url: proxy.url });
  const running = machine.start("worker");
  await until(`${name} is here`, () => idIn(running) !== null);
  return { machine, proxy, running, id: idIn(running) ?? "", isAlive: true };
}

function idIn(running: Running): string | null {
  return /worker (\S+) is here/.exec(running.stderr())?.[1] ?? null;
}

async function heldBy(team: Team, id: string): Promise<readonly object[]> {
  return ask(
    team.url,
    `SELECT name FROM ralph.leases WHERE worker = '${id}' AND expires_at > clock_timestamp()`,
  );
}

async function seenAt(team: Team, id: string): Promise<number> {
  const [row] = await ask<{ seen: Date }>(
    team.url,
    `SELECT seen_at AS seen FROM ralph.workers WHERE id = '${id}'`,
  );
  return row?.seen.getTime() ?? 0;
}

/** Its job waits again while it is worked on, and somebody offers the task once more. */
async function deliverTwice(team: Team, task: string): Promise<void> {
  await administer(
    team.url,
    `UPDATE ralph_jobs.job SET state = 'created' WHERE singleton_key = '${task}' AND state = 'completed'`,
  );
  const [project] = await ask<{ id: string }>(team.url, "SELECT id FROM ralph.projects");
  const database = await openDatabase(team.url);
  const worker = { id: "stranger", host: "elsewhere", pid: 1, version: "0", labels: ["agent:demo"] };
  const fleet = await openFleet({ database, project: project?.id ?? "", worker, leaseMs: LEASE_MS });
  const labels = worker.labels;
  for (let times = 0; times < 2; times += 1) await fleet.offer([{ task, labels, rank: 0 }]);
  await until("nobody is told to work on it any more", async () => {
    const waiting = await ask(
      team.url,
      `SELECT id FROM ralph_jobs.job WHERE singleton_key = '${task}' AND state < 'active'`,
    );
    return waiting.length === 0;
  });
  await fleet.leave();
  await database.close();
}
