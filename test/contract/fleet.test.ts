import { randomUUID } from "node:crypto";
import { setImmediate as immediately, setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";
import { type Database, openDatabase } from "../../src/adapters/fleet/database.ts";
import { openFleet } from "../../src/adapters/fleet/fleet.ts";
import type { Fleet } from "../../src/engine/fleet-ports.ts";
import { FleetStorage, openSimulatedFleet } from "../simulation/simulated-fleet.ts";
import { type FreshDatabase, freshDatabase } from "../support/postgres.ts";
import { describeFleet } from "./fleet.contract.ts";

let fresh: FreshDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  database = await openDatabase(fresh.url, { maxConnections: 20 });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

describeFleet("Postgres", async (lease) => {
  const own = randomUUID();
  const leaseMs = lease === "short" ? 3_000 : 60_000;
  const joined: Fleet[] = [];
  return {
    leaseMs,
    join: async (id, { labels = [], project = "" } = {}) => {
      const worker = { id, host: "host", pid: process.pid, version: "1", labels };
      const fleet = await openFleet({ database, project: own + project, worker, leaseMs });
      joined.push(fleet);
      return fleet;
    },
    sleep,
    close: async () => {
      await Promise.all(joined.map((fleet) => fleet.leave()));
    },
  };
});

describeFleet("memory, in virtual time", async () => {
  const storages = new Map<string, FleetStorage>();
  let now = Date.UTC(2026, 0, 1);
  const pause = async (): Promise<void> => {
    for (let turns = Math.floor(Math.random() * 4); turns > 0; turns -= 1) await immediately();
  };
  return {
    leaseMs: 30_000,
    join: (id, { labels = [], project = "" } = {}) => {
      const storage = storages.get(project) ?? new FleetStorage();
      storages.set(project, storage);
      return openSimulatedFleet({ storage, worker: { id, labels }, leaseMs: 30_000, now: () => now, pause });
    },
    sleep: async (ms) => {
      now += ms;
    },
    close: async () => {},
  };
});
