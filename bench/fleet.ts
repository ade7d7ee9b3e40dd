import { type Database, openDatabase, type Transaction } from "../src/adapters/postgres/database.ts";
import { openFleet } from "../src/adapters/postgres/fleet.ts";
import type { Fleet, Lease, WorkerReport } from "../src/engine/fleet-ports.ts";
import { startServer } from "../test/support/postgres.ts";
import { median } from "./samples.ts";

const WORKERS = 200;
const TASKS = 10_000;
const ROUNDS = 100;
const LABELS = [[], ["gpu"]] as const;
const BUSY: WorkerReport = { lanes: 2, isLeaving: false, progress: [] };

/** What workers ask of the database, one at a time and all at once, with many tasks offered. */
export async function measureFleet(): Promise<readonly string[]> {
  const server = await startServer({
    configuration: [`max_connections = ${3 * WORKERS}`, "autovacuum = on", "autovacuum_naptime = 5s"],
  });
  const counted = { trips: 0 };
  const fleets: Fleet[] = [];
  const databases: Database[] = [];
  for (let index = 0; index < WORKERS; index += 1) {
    const database = counting(await openDatabase(server.url, { maxConnections: 2 }), counted);
    const worker = { id: `worker ${index}`, host: "bench", pid: index, version: "1", labels: ["gpu"] };
    databases.push(database);
    fleets.push(await openFleet({ database, project: "bench", worker, leaseMs: 600_000 }));
  }
  const lines = await rows(fleets, counted);
  await Promise.all(fleets.map((fleet) => fleet.leave()));
  await Promise.all(databases.map((database) => database.close()));
  await server.remove();
  return [`${WORKERS} workers and ${TASKS} offered tasks on one Postgres (median of ${ROUNDS})`, ...lines];
}

async function rows(fleets: readonly Fleet[], counted: { trips: number }): Promise<readonly string[]> {
  const [keeper] = fleets;
  if (keeper === undefined) return [];
  const tasks = Array.from({ length: TASKS }, (_, rank) => ({
    task: `task ${rank}`,
    rank,
    labels: LABELS[rank % 2] ?? [],
  }));
  const held: { readonly fleet: Fleet; readonly lease: Lease }[] = [];
  const fleetAt = (index: number): Fleet => fleets[index % fleets.length] ?? keeper;
  const one = async (name: string, work: (index: number) => Promise<unknown>): Promise<string> => {
    const [times, before] = [[] as number[], counted.trips];
    for (let index = 0; index < ROUNDS; index += 1) times.push(await msOf(() => work(index)));
    return row(name, median(times), (counted.trips - before) / ROUNDS);
  };
  const all = async (name: string, work: (fleet: Fleet) => Promise<unknown>): Promise<string> => {
    const before = counted.trips;
    const ms = await msOf(() => Promise.all(fleets.map(work)));
    return row(`  all at once: ${name}`, ms / fleets.length, (counted.trips - before) / fleets.length);
  };
  const take = async (fleet: Fleet): Promise<void> => {
    for (const lease of await fleet.take(1, LABELS)) held.push({ fleet, lease });
  };
  const release = async (): Promise<void> => {
    const last = held.pop();
    await last?.fleet.release(last.lease);
  };
  const firstOffer = await msOf(() => keeper.offer(tasks));
  // Whoever comes to a queue for the first time asks a little more.
  await Promise.all(fleets.map((fleet) => fleet.take(6, LABELS)));
  return [
    row(`  offer ${TASKS} new tasks`, firstOffer, null),
    await one("  offer 300 that are known", () => keeper.offer(tasks.slice(0, 300))),
    await one("  take", (index) => take(fleetAt(index))),
    await one("  beat", (index) => fleetAt(index).beat(BUSY)),
    await one("  release", release),
    await one("  take where nothing fits", (index) => fleetAt(index).take(1, [["gpu", "gpu"]])),
    await all("take and release", (fleet) => take(fleet).then(release)),
    await all("beat", (fleet) => fleet.beat(BUSY)),
  ];
}

function row(name: string, ms: number, trips: number | null): string {
  const asked = trips === null ? "" : `   ${trips.toFixed(1)} round trips`;
  return `${name.padEnd(34)}${ms.toFixed(1).padStart(8)} ms${asked}`;
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** BEGIN and COMMIT are asked, too. */
function counting(database: Database, counted: { trips: number }): Database {
  const count =
    (asked: Transaction): Transaction["query"] =>
    (sql, values) => {
      counted.trips += 1;
      return asked.query(sql, values);
    };
  return {
    name: database.name,
    query: count(database),
    transaction: (work, happened) => {
      counted.trips += 2;
      return database.transaction((transaction) => work({ query: count(transaction) }), happened);
    },
    connect: () => database.connect(),
    close: () => database.close(),
  };
}
