import { openLog } from "../src/app/project-log.ts";
import { openProject } from "../src/app/project.ts";
import Database from "better-sqlite3";
import { join } from "node:path";
import { writeLongHistory } from "../test/web/long-history.ts";
import { figureOf, type Benchmark, type Figure } from "./benchmark.ts";
import { timeIterations } from "./iteration-times.ts";
import { RALPH, sampleFiles } from "./sample-project.ts";
import { makeRepository, type BenchRepository } from "./repositories.ts";
import { interleaved, mustRun, timeOf } from "./samples.ts";

const LENGTHS = [10, 1_000, 100_000] as const;
const ROUNDS = 5;
const WARM_UP = 10;
const ITERATIONS = 30;
const AGENT = [
  "sh",
  "-c",
  'echo "$RALPH_ITERATION" > work.txt; git add work.txt; git commit -qm work; echo working',
];
const TARGET = { of: "ratio", atMost: 1.15 } as const;

export const history: Benchmark = {
  about: "The same, after so many iterations of earlier runs; the floor is the same after one.",
  async measure() {
    const short = await projectAfter(1);
    try {
      const figures: Figure[] = [];
      for (const length of LENGTHS) figures.push(...(await besideShort(short, length)));
      return figures;
    } finally {
      short.dispose();
    }
  },
};

async function besideShort(short: BenchRepository, length: number): Promise<readonly Figure[]> {
  const long = await projectAfter(length);
  const after = `after ${length.toLocaleString("en")} iterations`;
  const floorIs = "the same after 1";
  try {
    const iterations = interleaved(ROUNDS, {
      floor: () => timeIterations(short.folder, { allDone: false }).slice(WARM_UP),
      ours: () => timeIterations(long.folder, { allDone: false }).slice(WARM_UP),
    });
    const status = interleaved(ROUNDS * 3, {
      floor: () => [timeOf(() => mustRun(RALPH, ["status"], short.folder))],
      ours: () => [timeOf(() => mustRun(RALPH, ["status"], long.folder))],
    });
    return [
      figureOf({ name: `one iteration ${after}`, floorIs, target: TARGET }, iterations),
      figureOf({ name: `ralph status ${after}`, floorIs, target: TARGET }, status),
    ];
  } finally {
    long.dispose();
  }
}

/** A project with earlier runs; each further one is as long as is measured. */
async function projectAfter(iterations: number): Promise<BenchRepository> {
  const repository = makeRepository(2, 5);
  const count = WARM_UP + ITERATIONS + 1;
  repository.reset(sampleFiles(count, AGENT, count));
  const log = await openLog(await openProject({ cwd: repository.folder, env: {} }));
  await writeLongHistory(log, iterations);
  await log.append([{ type: "run.ended", run: "run-1", outcome: "exhausted", reason: "enough" }]);
  await log.close();
  makeOld(join(repository.folder, ".git", "ralph", "state.db"));
  timeIterations(repository.folder, { allDone: false });
  return repository;
}

/** A month ago: so many in this hour there cannot be. */
function makeOld(file: string): void {
  const db = new Database(file);
  db.exec(`UPDATE events SET at = at - ${30 * 24 * 3_600_000}`);
  db.close();
}
