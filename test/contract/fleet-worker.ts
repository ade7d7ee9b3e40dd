// A worker in a process of its own, to be killed or frozen: takes one task, says so, and beats until that is lost.
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../src/adapters/fleet/database.ts";
import { openFleet } from "../../src/adapters/fleet/fleet.ts";

const [url = "", id = "", project = ""] = process.argv.slice(2);
const database = await openDatabase(url, { patienceMs: Infinity });
const worker = { id, host: "host", pid: process.pid, version: "1", labels: [] };
const fleet = await openFleet({ database, project, worker, leaseMs: 3_000 });
const taken = await fleet.take(1, [[]]);
console.log(JSON.stringify({ took: taken.map(({ name }) => name) }));
for (;;) {
  const { lost } = await fleet.beat({ lanes: 1, isLeaving: false, progress: [] });
  if (lost.length > 0) {
    console.log(JSON.stringify({ lost }));
    break;
  }
  await sleep(300);
}
await fleet.leave();
await database.close();
