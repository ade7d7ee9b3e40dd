// `npm run simulate`: explores seeded worlds, on all cores; `--mutants` plants bugs and looks whether they are caught.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { recordFigures } from "../../scripts/record-figures.ts";
import type { CrashSites } from "./crashing.ts";
import { explore, repeatCommand, type Found } from "./explore.ts";
import { huntMutants } from "./hunt-mutants.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "500" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    sites: { type: "string", default: "appends" },
    places: { type: "string" },
    workers: { type: "boolean", default: false },
    mutants: { type: "boolean", default: false },
    jobs: { type: "string" },
    json: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});

const SITES: readonly CrashSites[] = ["appends", "calls", "steps"];
const sites = SITES.find((one) => one === values.sites) ?? "appends";
const startedAt = performance.now();
await (values.mutants ? hunt() : simulateAll());

async function hunt(): Promise<void> {
  const hunted = await huntMutants((line) => console.log(line));
  const escaped = hunted.filter(({ caught }) => caught === null).map(({ name }) => name);
  console.log(`${hunted.length} mutants, ${escaped.length} not caught`);
  if (values.record)
    recordFigures("mutants", "npm run simulate -- --mutants", {
      planted: hunted.length,
      caught: hunted.length - escaped.length,
    });
  process.exitCode = escaped.length === 0 ? 0 : 1;
}

async function simulateAll(): Promise<void> {
  const from = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.seeds) : 1;
  const jobs = Math.min(count, Number(values.jobs ?? availableParallelism()));
  const found = jobs > 1 ? await inJobs(from, count, jobs) : await here(from, count);
  if (values.json) process.stdout.write(JSON.stringify(found));
  else report(found, count);
  process.exitCode = found.failures.length === 0 ? 0 : 1;
}

function here(from: number, count: number): Promise<Found> {
  return explore({
    from,
    count,
    sites,
    ...(values.workers && { workers: true }),
    ...(values.places !== undefined && { placesMax: Number(values.places) }),
  });
}

/** Each in a process of its own, with a share of the seeds. */
async function inJobs(from: number, count: number, jobs: number): Promise<Found> {
  const share = Math.ceil(count / jobs);
  const parts = await Promise.all(
    Array.from({ length: jobs }, async (_, job): Promise<Found> => {
      const seeds = Math.min(share, count - job * share);
      const own = ["--from", `${from + job * share}`, "--seeds", `${seeds}`, "--jobs", "1", "--json"];
      const ways = ["--sites", sites, ...(values.workers ? ["--workers"] : [])];
      const places = values.places === undefined ? [] : ["--places", values.places];
      const args = [...process.execArgv, import.meta.filename, ...own, ...ways, ...places];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      return JSON.parse(await text(child.stdout)) as Found;
    }),
  );
  return parts.reduce(together);
}

function together(one: Found, other: Found): Found {
  const names = new Set([...Object.keys(one.outcomes), ...Object.keys(other.outcomes)]);
  return {
    runs: one.runs + other.runs,
    iterations: one.iterations + other.iterations,
    failures: [...one.failures, ...other.failures],
    outcomes: Object.fromEntries(
      [...names].map((name) => [name, (one.outcomes[name] ?? 0) + (other.outcomes[name] ?? 0)]),
    ),
  };
}

function report({ runs, iterations, failures, outcomes }: Found, seeds: number): void {
  for (const { seed, crash, violations } of failures.slice(0, 10)) {
    console.log(`seed ${seed}${crash === null ? "" : `, crash ${crash.side} call ${crash.call}`}:`);
    for (const violation of violations) console.log(`  ${violation}`);
    console.log(`  repeat: ${repeatCommand(seed, sites, ...(values.workers ? ["--workers"] : []))}`);
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(
    `${seeds} seeds, ${runs} runs, ${iterations} iterations, ${failures.length} failures in ${seconds} s`,
  );
  console.log(
    Object.entries(outcomes)
      .map(([outcome, times]) => `${outcome} ${times}`)
      .join(", "),
  );
  if (!values.record) return;
  const name = `simulation-${values.workers ? "workers-" : ""}${sites}`;
  const which = `--from ${values.from} --seeds ${seeds} --sites ${sites}${values.workers ? " --workers" : ""}`;
  const command = `npm run simulate -- ${which}`;
  const places = values.places === undefined ? "" : ` --places ${values.places}`;
  recordFigures(name, `${command}${places}`, {
    worlds: seeds,
    "crash points tried": runs - seeds,
    iterations,
    violations: failures.length,
  });
}
