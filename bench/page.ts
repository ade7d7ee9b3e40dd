import { openLog } from "../src/app/project-log.ts";
import { openProject } from "../src/app/project.ts";
import { EVOLVE_VERSION } from "../src/core/loop/evolve.ts";
import { latestState } from "../src/engine/follow-log.ts";
import { writeLongHistory } from "../test/web/long-history.ts";
import { openPage, type Page } from "../test/web/web-client.ts";
import { figureOf, type Benchmark, type Figure } from "./benchmark.ts";
import { makeRepository } from "./repositories.ts";
import { timeOfAsync } from "./samples.ts";

const LONG = 20_000;
const SHORT = 200;
const ROUNDS = 9;
const ROUTES = [
  "/api/overview",
  "/api/iterations?limit=50",
  "/api/iterations/150",
  "/api/runs",
  "/api/charts",
  "/api/timeline",
];

export const page: Benchmark = {
  about: `What the page asks of its server, with ${LONG.toLocaleString("en")} iterations of history; the floor is the same with ${SHORT}. What is asked again and again must not grow; charts and time line are as long as the history is.`,
  async measure() {
    const [short, long] = [await pageAfter(SHORT), await pageAfter(LONG)];
    try {
      const figures: Figure[] = [];
      for (const route of ROUTES) figures.push(await timeRoute(route, short.page, long.page));
      return figures;
    } finally {
      await short.close();
      await long.close();
    }
  },
};

async function timeRoute(route: string, short: Page, long: Page): Promise<Figure> {
  const [ours, floor]: [number[][], number[][]] = [[], []];
  await Promise.all([short.json(route), long.json(route)]);
  for (let round = 0; round < ROUNDS; round += 1) {
    floor.push([await timeOfAsync(() => short.json(route))]);
    ours.push([await timeOfAsync(() => long.json(route))]);
  }
  return figureOf({ name: route, floorIs: `with ${SHORT} iterations` }, { ours, floor });
}

async function pageAfter(iterations: number): Promise<{ readonly page: Page; close(): Promise<void> }> {
  const repository = makeRepository(1, 1);
  const log = await openLog(await openProject({ cwd: repository.folder, env: {} }));
  await writeLongHistory(log, iterations);
  await log.saveSnapshot(await latestState(log), EVOLVE_VERSION);
  await log.close();
  const opened = await openPage(repository.folder);
  return {
    page: opened,
    async close() {
      await opened.stop();
      repository.dispose();
    },
  };
}
