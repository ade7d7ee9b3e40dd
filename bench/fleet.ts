import { Client } from "pg";
import { type Database, openDatabase } from "../src/adapters/fleet/database.ts";
import { openFleet } from "../src/adapters/fleet/fleet.ts";
import type { Fleet, Lease, WorkerReport } from "../src/engine/fleet-ports.ts";
import { startServer } from "../test/support/postgres.ts";
import { DURABLE } from "./many-workers/server-load.ts";
import { figureOf, type Benchmark, type Figure } from "./benchmark.ts";
import { timeOfAsync } from "./samples.ts";

const WORKERS = 200;
const TASKS = 10_000;
const CALLS = 100;
const ROUNDS = 5;
const LABELS = [[], ["gpu"]] as const;
const BUSY: WorkerReport = { lanes: 2, isLeaving: false, progress: [] };

export const fleet: Benchmark = {
  about: `What ${WORKERS} workers ask of one Postgres with ${TASKS.toLocaleString("en")} tasks offered, one at a time and all at once. The floor is one durable commit of the same server.`,
  measure: measureFleet,
};

async function measureFleet(): Promise<readonly Figure[]> {
  const server = await startServer({
    configuration: [...DURABLE, "autovacuum_naptime = 5s"],
  });
  const fleets: Fleet[] = [];
  const databases: Database[] = [];
  for (let index = 0; index < WORKERS; index += 1) {
    const database = await openDatabase(server.url, { maxConnections: 2 });
    const worker = { id: `worker ${index}`, host: "bench", pid: index, version: "1", labels: ["gpu"] };
    databases.push(database);
    fleets.push(await openFleet({ database, project: "bench", worker, leaseMs: 600_000 }));
  }
  const figures = await figuresOf(fleets, await bareCommits(server.url));
  await Promise.all(fleets.map((fleet) => fleet.leave()));
  await Promise.all(databases.map((database) => database.close()));
  await server.remove();
  return figures;
}

async function figuresOf(
  fleets: readonly Fleet[],
  floor: readonly (readonly number[])[],
): Promise<readonly Figure[]> {
  const [keeper] = fleets;
  if (keeper === undefined) return [];
  const tasks = Array.from({ length: TASKS }, (_, rank) => ({
    task: `task ${rank}`,
    rank,
    labels: LABELS[rank % 2] ?? [],
  }));
  const held: { readonly fleet: Fleet; readonly lease: Lease }[] = [];
  const fleetAt = (index: number): Fleet => fleets[index % fleets.length] ?? keeper;
  const figure = (name: string, times: readonly number[]): Figure =>
    figureOf({ name, floorIs: "a durable commit" }, { ours: inRounds(times), floor });
  const one = async (name: string, work: (index: number) => Promise<unknown>): Promise<Figure> => {
    const times: number[] = [];
    for (let index = 0; index < CALLS; index += 1) times.push(await timeOfAsync(() => work(index)));
    return figure(name, times);
  };
  const all = async (name: string, work: (fleet: Fleet) => Promise<unknown>): Promise<Figure> => {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      times.push((await timeOfAsync(() => Promise.all(fleets.map(work)))) / fleets.length);
    return figure(`${name}, all at once, each`, times);
  };
  const take = async (fleet: Fleet): Promise<void> => {
    for (const lease of await fleet.take(1, LABELS)) held.push({ fleet, lease });
  };
  const release = async (): Promise<void> => {
    const last = held.pop();
    await last?.fleet.release(last.lease);
  };
  await keeper.offer(tasks);
  // Whoever comes to a queue for the first time asks a little more.
  await Promise.all(fleets.map((fleet) => fleet.take(6, LABELS)));
  return [
    await one("offer 300 tasks that are known", () => keeper.offer(tasks.slice(0, 300))),
    await one("take a task", (index) => take(fleetAt(index))),
    await one("beat", (index) => fleetAt(index).beat(BUSY)),
    await one("release a task", release),
    await one("take where nothing fits", (index) => fleetAt(index).take(1, [["gpu", "gpu"]])),
    await all("take and release", (fleet) => take(fleet).then(release)),
    await all("beat", (fleet) => fleet.beat(BUSY)),
  ];
}

async function bareCommits(url: string): Promise<readonly (readonly number[])[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE floor (text text)");
  const times: number[] = [];
  for (let count = 0; count < CALLS; count += 1)
    times.push(await timeOfAsync(() => client.query("INSERT INTO floor VALUES ($1)", ["a fact"])));
  await client.end();
  return inRounds(times);
}

function inRounds(times: readonly number[]): readonly (readonly number[])[] {
  const size = Math.max(1, Math.floor(times.length / ROUNDS));
  return Array.from({ length: ROUNDS }, (_, round) => times.slice(round * size, (round + 1) * size));
}
