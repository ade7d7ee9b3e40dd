import type { Context, Hono } from "hono";
import { chartsOf, type AroundCharts } from "../../core/projections/charts.ts";
import type { Timeline } from "../../core/projections/timeline.ts";
import type { Log } from "../../engine/ports.ts";
import type { Api } from "../api.ts";
import type { LiveProject } from "../live-project.ts";
import { textIn } from "../parameters.ts";
import { Refusal } from "../refusal.ts";
import { readRuns, readStart, readTimeline } from "../run-reader.ts";
import type { WebPorts } from "../web-ports.ts";

export function runRoutes(app: Hono, live: LiveProject, ports: WebPorts): void {
  const timelines = new Timelines();
  app.get("/api/runs", async (context) => {
    const log = await live.log();
    const index = await live.iterations();
    const runs = log === null || index === null ? [] : await readRuns(log, await index.all());
    return context.json(runs satisfies Api["GET /api/runs"]);
  });
  app.get("/api/timeline", async (context) => {
    const log = await live.log();
    const run = wantedRun(context, live);
    const line = log === null || run === null ? null : await timelines.read(log, run, live.state.position);
    if (line === null && textIn(context, "run") !== null) throw unknownRun(run ?? "");
    return context.json(line satisfies Api["GET /api/timeline"]);
  });
  app.get("/api/charts", async (context) => {
    const log = await live.log();
    const index = await live.iterations();
    const run = wantedRun(context, live);
    if (log === null || index === null || run === null) return context.json(null);
    const around = await aroundCharts(live, log, run, ports);
    const rows = (await index.all()).filter((row) => row.run === run);
    return context.json(chartsOf(rows, around) satisfies Api["GET /api/charts"]);
  });
}

function wantedRun(context: Context, { state }: LiveProject): string | null {
  return textIn(context, "run") ?? state.run?.id ?? null;
}

function unknownRun(run: string): Refusal {
  return new Refusal(404, `there is no run "${run}"`);
}

async function aroundCharts(
  live: LiveProject,
  log: Log,
  run: string,
  ports: WebPorts,
): Promise<AroundCharts> {
  const { state } = live;
  if (state.run?.id === run) {
    const { cost } = (await live.overview()).status;
    const now = state.run.end?.at ?? ports.now();
    return { budgetUsd: cost.budget_usd, forecastUsd: cost.forecast_usd, now };
  }
  const start = await readStart(log, run);
  if (start === undefined) throw unknownRun(run);
  const ends = await log.read(start.position, { types: ["run.ended"] });
  const end = ends.find((event) => event.type === "run.ended" && event.run === run);
  // What its plan came to is no longer known.
  const { run: budgetUsd } = start.settings.limits.budget;
  return { budgetUsd, forecastUsd: null, now: end?.at ?? ports.now() };
}

const KEPT_MAX = 20;

/** Those of runs that are over do not change any more; others are good until something happens. */
class Timelines {
  readonly #kept = new Map<string, { readonly line: Timeline; readonly position: number }>();

  async read(log: Log, run: string, position: number): Promise<Timeline | null> {
    const known = this.#kept.get(run);
    if (known !== undefined && (known.line.to !== null || known.position === position)) return known.line;
    const line = await readTimeline(log, run);
    if (line === null) return null;
    this.#kept.delete(run);
    this.#kept.set(run, { line, position });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    return line;
  }
}
