import { parseArgs } from "node:util";
import { Client } from "pg";
import { openDatabase, type Database } from "../src/adapters/fleet/database.ts";
import { openPostgresLog } from "../src/adapters/fleet/postgres-log.ts";
import type { Event } from "../src/core/events.ts";
import { EVOLVE_VERSION } from "../src/core/loop/evolve.ts";
import { EMPTY_STATE } from "../src/core/state.ts";
import type { SharedLog } from "../src/engine/fleet-ports.ts";
import { Journal } from "../src/engine/journal.ts";
import { startServer } from "../test/support/postgres-server.ts";
import { figureOf, type Benchmark } from "./benchmark.ts";
import { timeOfAsync } from "./samples.ts";
import { startWorkers, stopWorkers, submitAll, untilDone } from "./many-workers/run-workers.ts";
import { submitTasks } from "./many-workers/project.ts";
import { DURABLE, ServerWatch } from "./many-workers/server-load.ts";

const PROJECT = "project-1";
const LONG = "long";
const TASKS = 50;
const ROUNDS = 40;
const SHORT = 10_000;
const MIDDLE = 100_000;
/** A million in a year. */
const FACT_EVERY_MS = 31_536;

export const longHistory: Benchmark = {
  about: `A shared log of ${MIDDLE.toLocaleString("en")} facts in Postgres; the floor is one of ${SHORT.toLocaleString("en")}.`,
  async measure() {
    const { before, after } = await costsBeside(MIDDLE);
    return [...before].map(([name, floor]) =>
      figureOf(
        { name, floorIs: "of a short log" },
        { ours: [after.get(name)?.times ?? []], floor: [floor.times] },
      ),
    );
  },
};

interface Beside {
  readonly before: ReadonlyMap<string, Cost>;
  readonly after: ReadonlyMap<string, Cost>;
  readonly bytesEach: number;
}

/** The same asked of a short log and of one that many have worked on for a year: a ratio of 1 is what we want. */
async function costsBeside(events: number): Promise<Beside> {
  const server = await startServer({ configuration: DURABLE });
  const watch = await ServerWatch.open(server.url);
  try {
    await workOnce(server.url);
    const short = await openDatabase(server.url, { maxConnections: 2 });
    await copyWork(server.url, SHORT);
    const before = await costsOf(short, watch);
    await short.close();
    await copyWork(server.url, events);
    const long = await openDatabase(server.url, { maxConnections: 2 });
    const after = await costsOf(long, watch);
    const [size] = await long.query<{ bytes: number }>(
      "SELECT pg_total_relation_size('ralph.events') / count(*) AS bytes FROM ralph.events",
    );
    await long.close();
    return { before, after, bytesEach: size?.bytes ?? 0 };
  } finally {
    await watch.close();
    await server.remove();
  }
}

interface Cost {
  readonly times: readonly number[];
  readonly blocks: number;
}

async function tellCosts(events: number): Promise<void> {
  const { before, after, bytesEach } = await costsBeside(events);
  console.log(
    `a log of ${events.toLocaleString("en")} facts beside one of ${SHORT.toLocaleString("en")} (best of ${ROUNDS}; 8 kB blocks that the server looked at)`,
  );
  for (const [name, cost] of before) console.log(row(name, cost, after.get(name) ?? cost));
  console.log(`  ${bytesEach} bytes a fact on disk, with its indexes`);
}

function row(name: string, short: Cost, long: Cost): string {
  const best = ({ times }: Cost): number => Math.min(...times);
  const show = (cost: Cost): string =>
    `${best(cost).toFixed(2).padStart(7)} ms ${cost.blocks.toFixed(0).padStart(5)} blocks`;
  const ratio = `${(best(long) / best(short)).toFixed(2)} × the time, ${(long.blocks / short.blocks).toFixed(2)} × the blocks`;
  return `  ${name.padEnd(36)} ${show(short)}  ${show(long)}   ${ratio}`;
}

/** Facts as real workers record them. */
async function workOnce(url: string): Promise<void> {
  const size = {
    projects: 1,
    tasksEach: 20,
    workersEach: 2,
    lanes: 2,
    processes: 1,
    iterationsEach: 2,
    agentMs: 0,
    callsPerHour: 0,
    leaseMs: 30_000,
    merge: "squash",
  } as const;
  await submitAll(url, [PROJECT], size);
  const children = startWorkers(url, [PROJECT], size);
  await untilDone(url, size);
  await Promise.all(children.map(stopWorkers));
}

/** Again and again, as tasks and iterations of their own, until now; and a run that has just begun after it. */
async function copyWork(url: string, events: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("DELETE FROM ralph.events WHERE project = $1", [LONG]);
  await client.query(
    `WITH facts AS (
       SELECT *, row_number() OVER (ORDER BY position) - 1 AS index FROM ralph.events
       WHERE project = $1 AND type NOT IN ('run.started', 'tasks.observed', 'run.ended')
     ), numbers AS (SELECT count(*) AS facts FROM facts)
     INSERT INTO ralph.events (project, position, at, v, type, run, task, iteration, cost, batch, data)
     SELECT $2, n, extract(epoch FROM now()) * 1000 - ($3::bigint - n) * $4::bigint, v, type, run,
            facts.task || '-' || n / numbers.facts, facts.iteration + 40 * (n / numbers.facts), cost,
            gen_random_uuid(), data
     FROM numbers CROSS JOIN generate_series(1, $3::bigint) AS n JOIN facts ON facts.index = n % numbers.facts`,
    [PROJECT, LONG, events, FACT_EVERY_MS],
  );
  await client.query(
    `INSERT INTO ralph.projects (id, position) VALUES ($1, $2)
     ON CONFLICT (id) DO UPDATE SET position = excluded.position`,
    [LONG, events],
  );
  await client.query("DELETE FROM ralph.snapshots WHERE project = $1", [LONG]);
  await client.query("VACUUM ANALYZE ralph.events");
  await client.end();
  const database = await openDatabase(url);
  const log = openPostgresLog(database, LONG);
  await log.saveSnapshot({ ...EMPTY_STATE, position: events, lastIteration: events }, EVOLVE_VERSION);
  await submitTasks(log, { tasksEach: TASKS, callsPerHour: 0, merge: "squash" });
  await database.close();
}

async function costsOf(database: Database, watch: ServerWatch): Promise<Map<string, Cost>> {
  const log = openPostgresLog(database, LONG);
  const [end] = await database.query<{ position: number }>(
    "SELECT position FROM ralph.projects WHERE id = $1",
    [LONG],
  );
  const costs = new Map<string, Cost>();
  for (const [name, ask] of Object.entries(questionsTo(log, end?.position ?? 0, Date.now()))) {
    await ask();
    const before = await watch.look();
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await timeOfAsync(ask));
    costs.set(name, { times, blocks: ((await watch.look()).blocks - before.blocks) / ROUNDS });
  }
  return costs;
}

function questionsTo(log: SharedLog, last: number, now: number): Record<string, () => Promise<unknown>> {
  const fact: Event = { type: "task.unblocked", task: "task-1", reason: "", timeoutMs: null, by: "person" };
  const calls = { since: now - 3_600_000, below: 1_000_000 };
  let end = last;
  return {
    "append a fact": () => log.append([fact], { since: end }, () => ((end += 1), [])),
    "refuse what came too late for its task": () =>
      log.append([fact], { task: { id: "task-1", position: 0 } }),
    "admit, with a limit of calls": () => log.append([fact], { calls }),
    "read news, of which there is none": () => log.read(end + 1_000_000),
    "read the last ten facts": () => log.read(last - 10, { limit: 10 }),
    "read an old task": () => log.read(0, { task: "task-7-3" }),
    "read an old iteration": () => log.read(0, { iteration: 47 }),
    "read the first of two kinds": () =>
      log.read(0, { types: ["task.merged", "verdict.reached"], limit: 20 }),
    "count the calls of an hour": () => log.countCalls(now - 3_600_000),
    "add up the costs of a day": () => log.sumCosts(now - 86_400_000),
    "open a journal, as status does": () => Journal.open(log, [], Date.now),
    "load the snapshot": () => log.loadSnapshot(EVOLVE_VERSION),
    "save a snapshot": async () => log.saveSnapshot({ ...EMPTY_STATE, position: end }, EVOLVE_VERSION),
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { events: { type: "string", default: "1000000" } } });
  await tellCosts(Number(values.events));
}
