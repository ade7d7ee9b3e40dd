import type { Benchmark } from "./benchmark.ts";
import { fleet } from "./fleet.ts";
import { history } from "./history.ts";
import { iteration } from "./iteration.ts";
import { lanes } from "./lanes.ts";
import { longHistory } from "./long-history.ts";
import { manyWorkers } from "./many-workers.ts";
import { memory } from "./memory.ts";
import { oldChecks } from "./old-checks.ts";
import { output } from "./output.ts";
import { page } from "./page.ts";
import { startup } from "./startup.ts";
import { store } from "./store.ts";

/** In the order in which they run and stand on the page. */
export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  startup,
  iteration,
  "old-checks": oldChecks,
  history,
  output,
  store,
  lanes,
  page,
  queue: fleet,
  workers: manyWorkers,
  "shared-history": longHistory,
  memory,
};
