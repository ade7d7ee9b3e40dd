import { openLog } from "../../src/app/project-log.ts";
import { openProject } from "../../src/app/project.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EVOLVE_VERSION } from "../../src/core/loop/evolve.ts";
import type { RunEntry, Charts } from "../../src/core/views/run-list.ts";
import type { Overview } from "../../src/core/views/overview.ts";
import type { Timeline } from "../../src/core/views/timeline.ts";
import { latestState } from "../../src/engine/follow-log.ts";
import type { IterationDetail, IterationPage } from "../../src/web/api.ts";
import { temporaryRepository, type TemporaryRepository } from "../fixtures/temporary-repository.ts";
import { writeLongHistory } from "./long-history.ts";
import { openPage, type Page } from "./web-client.ts";

const ITERATIONS = 10_000;

let repository: TemporaryRepository;
let page: Page;

beforeAll(async () => {
  repository = temporaryRepository();
  const log = await openLog(await openProject({ cwd: repository.root, env: {} }));
  await writeLongHistory(log, ITERATIONS);
  await log.saveSnapshot(await latestState(log), EVOLVE_VERSION);
  await log.close();
  page = await openPage(repository.root);
});

afterAll(async () => {
  await page.stop();
  repository.dispose();
});

test("a history of ten thousand iterations is shown from its end, page by page, to its beginning", async () => {
  const { status } = await page.json<Overview>("/api/overview");
  expect(status.run?.iterations).toBe(ITERATIONS);
  const newest = await page.json<IterationPage>("/api/iterations?limit=50");
  expect(newest.rows.map(({ iteration }) => iteration)).toEqual(range(ITERATIONS, ITERATIONS - 49));
  expect(newest.total).toBe(ITERATIONS);
  const seen: number[] = [];
  for (let before = ITERATIONS + 1; before > 1;) {
    const { rows } = await page.json<IterationPage>(`/api/iterations?limit=500&before=${before}`);
    seen.push(...rows.map(({ iteration }) => iteration));
    before = rows.at(-1)?.iteration ?? 0;
  }
  expect(seen).toEqual(range(ITERATIONS, 1));
  expect((await page.json<IterationPage>("/api/iterations?task=task-7&verdict=continue")).total).toBe(200);
});

test("and so are its charts, its time line, its runs and any one iteration", async () => {
  expect((await page.json<Charts>("/api/charts")).files.x).toHaveLength(ITERATIONS);
  const { spans } = await page.json<Timeline>("/api/timeline");
  expect(spans.filter(({ is }) => is === "agent")).toHaveLength(ITERATIONS);
  const [run] = await page.json<readonly RunEntry[]>("/api/runs");
  expect(run).toMatchObject({ iterations: ITERATIONS, accepted: 0 });
  expect(run?.costUsd).toBeCloseTo(500);
  const detail = await page.json<IterationDetail>("/api/iterations/5000");
  expect(detail.gates[0]).toMatchObject({ name: "tests", status: "passed", exitCode: 0 });
});

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: from - to + 1 }, (_, index) => from - index);
}
