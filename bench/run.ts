// `npm run bench`: what Ralph itself costs, beside the floor of the same work done bare, measured in one run.
// These are figures to look at, not tests: machines are noisy, ratios less so.
import { measureFleet } from "./fleet.ts";
import { measureIteration } from "./iteration.ts";
import { measureLanes } from "./lanes.ts";
import { measureLongHistory } from "./long-history.ts";
import { measureManyWorkers } from "./many-workers.ts";
import { measureOutput } from "./output.ts";
import { measureStartup } from "./startup.ts";

for (const measure of [
  measureStartup,
  measureIteration,
  measureLanes,
  measureOutput,
  measureFleet,
  measureManyWorkers,
  measureLongHistory,
]) {
  for (const line of await measure()) console.log(line);
  console.log();
}
