// A process with several workers of the real engine; each has its own database pool, as on a machine of its own.
import { openDatabase } from "../../src/adapters/fleet/database.ts";
import { openFleet } from "../../src/adapters/fleet/fleet.ts";
import { openPostgresLog } from "../../src/adapters/fleet/postgres-log.ts";
import { systemClock } from "../../src/adapters/process/system-clock.ts";
import { fencedLog, Holdings } from "../../src/engine/worker/holdings.ts";
import { runWorker, SharedClock } from "../../src/engine/worker/run-worker.ts";
import { AGENT, stubPorts } from "./stub-ports.ts";

export interface WorkersOptions {
  readonly url: string;
  readonly ids: readonly { readonly project: string; readonly worker: string }[];
  readonly lanes: number;
  readonly leaseMs: number;
  readonly iterationsEach: number;
  readonly agentMs: number;
}

/** What one process spent, from the moment at which all of its workers were there. */
export interface Spent {
  readonly cpuMs: number;
  readonly peakMb: number;
}

async function work(
  { project, worker: id }: WorkersOptions["ids"][number],
  options: WorkersOptions,
  stop: AbortSignal,
): Promise<void> {
  const { url, lanes, leaseMs, iterationsEach, agentMs } = options;
  const labels = ["os:linux", `agent:${AGENT}`];
  const database = await openDatabase(url, {
    patienceMs: Infinity,
    maxConnections: 3,
    applicationName: `ralph worker ${id}`,
  });
  const worker = { id, host: "bench", pid: process.pid, version: "bench", labels };
  const fleet = await openFleet({ database, project, worker, leaseMs });
  const shared = openPostgresLog(database, project);
  const holdings = new Holdings(leaseMs);
  const log = fencedLog(shared, holdings, id);
  const clock = new SharedClock(systemClock);
  await runWorker(
    {
      id,
      lanes,
      labels,
      merges: true,
      drains: false,
      leaseMs,
      log,
      fleet,
      holdings,
      clock,
      followers: [],
      endLeftovers: () => Promise.resolve(),
      portsFor: (state) => stubPorts({ worker: id, log, clock, state, iterationsEach, agentMs }),
      progress: () => [],
      onTrouble: (what) => console.error(`${id}: ${what}`),
      onHealth: () => {},
    },
    stop,
  );
  await database.close();
}

// Whoever started it is gone, with the server.
process.once("disconnect", () => process.exit());
process.once("message", (options: WorkersOptions) => void workUntilStopped(options));

async function workUntilStopped(options: WorkersOptions): Promise<void> {
  const stop = new AbortController();
  const before = process.cpuUsage();
  process.once("message", () => stop.abort());
  await Promise.all(options.ids.map((id) => work(id, options, stop.signal)));
  const { user, system } = process.cpuUsage(before);
  const spent: Spent = {
    cpuMs: (user + system) / 1_000,
    peakMb: process.resourceUsage().maxRSS / 1_024,
  };
  process.send?.(spent, () => process.disconnect());
}
