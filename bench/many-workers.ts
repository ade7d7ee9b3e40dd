import { parseArgs } from "node:util";
import { Client } from "pg";
import { figureOf, type Benchmark } from "./benchmark.ts";
import { startServer } from "../test/support/postgres-server.ts";
import {
  startWorkers,
  stopWorkers,
  submitAll,
  untilDone,
  type FleetSize,
} from "./many-workers/run-workers.ts";
import { DURABLE, ServerWatch, type ServerLoad } from "./many-workers/server-load.ts";
import type { Spent } from "./many-workers/workers.ts";

const SMALL: FleetSize = {
  projects: 2,
  tasksEach: 20,
  workersEach: 4,
  lanes: 1,
  processes: 1,
  iterationsEach: 2,
  agentMs: 20,
  callsPerHour: 0,
  leaseMs: 30_000,
  merge: "squash",
};

export const manyWorkers: Benchmark = {
  about: `${SMALL.projects * SMALL.workersEach} workers on ${SMALL.projects * SMALL.tasksEach} tasks on one Postgres, agents and git being stubs: the time of an iteration. The floor is as many bare commits, one after another.`,
  async measure() {
    const { floor, ours } = perIteration(await runFleet(SMALL, 0));
    const about = { name: "one iteration, all workers together", floorIs: "as many bare commits" };
    return [figureOf(about, { ours: [[ours]], floor: [[floor]] })];
  },
};

/** Many workers on many tasks: what the database and we do for an iteration, beside as many bare commits. */
async function runFleet(size: FleetSize, dearest: number): Promise<Measured> {
  const server = await startServer({ configuration: DURABLE });
  const watch = await ServerWatch.open(server.url);
  try {
    const projects = Array.from({ length: size.projects }, (_, index) => `project-${index + 1}`);
    await submitAll(server.url, projects, size);
    await watch.forget();
    const children = startWorkers(server.url, projects, size);
    const before = await watch.look();
    const startedAt = performance.now();
    const most = await untilDone(server.url, size);
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = await watch.look();
    const statements = await watch.dearest(dearest);
    const spent = await Promise.all(children.map(stopWorkers));
    const facts = await countFacts(server.url);
    const bare = await timeBareCommits(server.url, facts);
    return { size, seconds, load: difference(before, after), most, spent, facts, bare, statements };
  } finally {
    await watch.close();
    await server.remove();
  }
}

interface Facts {
  readonly events: number;
  readonly iterations: number;
  readonly tasks: number;
  readonly bytes: number;
  readonly appends: number;
}

async function countFacts(url: string): Promise<Facts> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Facts>(
    `SELECT count(*)::int AS events, sum(length(data))::int AS bytes, count(DISTINCT batch)::int AS appends,
            count(*) FILTER (WHERE type = 'iteration.started')::int AS iterations,
            count(*) FILTER (WHERE type = 'task.completed')::int AS tasks
     FROM ralph.events`,
  );
  await client.end();
  return rows[0] ?? { events: 0, iterations: 0, tasks: 0, bytes: 0, appends: 0 };
}

const FLOOR_COMMITS = 2_000;

/** The milliseconds of one commit that stores as many bytes as one of ours does, one after another. */
async function timeBareCommits(url: string, { bytes, appends }: Facts): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE floor (text text)");
  const text = "x".repeat(Math.ceil(bytes / appends));
  const startedAt = performance.now();
  for (let count = 0; count < FLOOR_COMMITS; count += 1)
    await client.query("INSERT INTO floor VALUES ($1)", [text]);
  const ms = (performance.now() - startedAt) / FLOOR_COMMITS;
  await client.end();
  return ms;
}

function difference(before: ServerLoad, after: ServerLoad): ServerLoad {
  const names = Object.keys(before) as (keyof ServerLoad)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as ServerLoad;
}

interface Measured {
  readonly size: FleetSize;
  readonly seconds: number;
  readonly load: ServerLoad;
  readonly most: number;
  readonly spent: readonly Spent[];
  readonly facts: Facts;
  /** Milliseconds a commit. */
  readonly bare: number;
  readonly statements: Awaited<ReturnType<ServerWatch["dearest"]>>;
}

/** Milliseconds of ours and of the floor. */
function perIteration({ seconds, bare, facts }: Measured): { readonly ours: number; readonly floor: number } {
  const { appends, iterations } = facts;
  return { ours: (seconds * 1_000) / iterations, floor: (bare * appends) / iterations };
}

function report(measured: Measured): readonly string[] {
  const { size, seconds, load, most, spent, facts, statements } = measured;
  const { ours: msEach, floor } = perIteration(measured);
  const { projects, tasksEach, workersEach, iterationsEach } = size;
  const { iterations, tasks, events, bytes, appends } = facts;
  const workers = projects * workersEach;
  const own = spent.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const memory = spent.reduce((sum, { peakMb }) => sum + peakMb, 0);
  const each = (value: number): string => (value / iterations).toFixed(1).padStart(8);
  const second = (value: number): string => (value / seconds).toFixed(0);
  return [
    `${workers} workers, ${projects} projects of ${tasksEach} tasks, ${iterationsEach} iterations each: ${tasks} tasks in ${seconds.toFixed(1)} s`,
    `  ${second(iterations)} iterations/s   ${second(tasks)} tasks/s   ${second(load.commits)} transactions/s   ${second(load.statements)} statements/s`,
    `  rows/s: ${second(load.rowsRead)} read   ${second(load.rowsWritten)} written   WAL ${second(load.walBytes / 1024)} kB/s`,
    `  connections ${most} (${(most / workers).toFixed(1)} a worker)   memory ${(memory / workers).toFixed(1)} MB a worker`,
    "  an iteration:",
    `  ${each(events)} facts in ${(appends / iterations).toFixed(1)} appends, ${(bytes / iterations / 1024).toFixed(1)} kB`,
    `  ${each(load.statements)} statements   ${each(load.commits)} transactions   ${each(load.rowsWritten)} rows written   ${each(load.rowsRead)} rows read`,
    `  ${each(load.walBytes / 1024)} kB of WAL`,
    `  ${each(own)} ms of CPU of the workers   ${each(load.cpuMs)} ms of CPU of the server`,
    `  ${msEach.toFixed(1).padStart(8)} ms of time; ${floor.toFixed(1)} ms for as many bare commits one after another   ${(msEach / floor).toFixed(2)} × the floor`,
    ...statements.map(
      ({ calls, ms, rows, query }) =>
        `  ${each(calls)} × ${(ms / calls).toFixed(3)} ms, ${(rows / calls).toFixed(1)} rows: ${query.slice(0, 150)}`,
    ),
  ];
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      projects: { type: "string", default: "20" },
      tasks: { type: "string", default: "500" },
      workers: { type: "string", default: "10" },
      lanes: { type: "string", default: "1" },
      processes: { type: "string", default: "2" },
      iterations: { type: "string", default: "2" },
      "agent-ms": { type: "string", default: "20" },
      calls: { type: "string", default: "0" },
      lease: { type: "string", default: "30000" },
      merge: { type: "string", default: "squash" },
      dearest: { type: "string", default: "0" },
    },
  });
  const size: FleetSize = {
    projects: Number(values.projects),
    tasksEach: Number(values.tasks),
    workersEach: Number(values.workers),
    lanes: Number(values.lanes),
    processes: Number(values.processes),
    iterationsEach: Number(values.iterations),
    agentMs: Number(values["agent-ms"]),
    callsPerHour: Number(values.calls),
    leaseMs: Number(values.lease),
    merge: values.merge === "none" ? "none" : "squash",
  };
  for (const line of report(await runFleet(size, Number(values.dearest)))) console.log(line);
}
