import { parseArgs } from "node:util";
import { explore, repeatCommand } from "./explore.ts";
import type { CrashSites } from "./crashing.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "500" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    sites: { type: "string", default: "appends" },
    workers: { type: "boolean" },
    places: { type: "string" },
  },
});

const SITES: readonly CrashSites[] = ["appends", "calls", "steps"];
const sites = SITES.find((one) => one === values.sites) ?? "appends";
const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const startedAt = performance.now();
const found = await explore({
  from,
  count,
  sites,
  ...(values.workers === true && { workers: true }),
  ...(values.places !== undefined && { placesMax: Number(values.places) }),
});
for (const failure of found.failures.slice(0, 10)) {
  console.log(
    `seed ${failure.seed}${failure.crash === null ? "" : `, crash ${failure.crash.side} call ${failure.crash.call}`}:`,
  );
  for (const violation of failure.violations) console.log(`  ${violation}`);
  console.log(
    `  repeat: ${repeatCommand(failure.seed, sites, ...(values.workers === true ? ["--workers"] : []))}`,
  );
}
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
console.log(
  `${count} seeds, ${found.runs} runs, ${found.iterations} iterations, ${found.failures.length} failures in ${seconds} s`,
);
console.log(
  Object.entries(found.outcomes)
    .map(([outcome, times]) => `${outcome} ${times}`)
    .join(", "),
);
process.exitCode = found.failures.length === 0 ? 0 : 1;
