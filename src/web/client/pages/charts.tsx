import { capital } from "../../../core/text.ts";
import { useMemo } from "preact/hooks";
import type { RunEntry, Charts, Series } from "../../../core/views/run-list.ts";
import { barChart, lineChart } from "../../../core/report/svg.ts";
import { withQuery } from "../api-client.ts";
import { now } from "../overview-store.ts";
import { count, dollars, forecastSentence, moment, tickLabel } from "../format.ts";
import { Bar, Empty, Loading, Trouble } from "../parts/notices.tsx";
import { parameters, setParameter } from "../router.ts";
import { useResource } from "../use-resource.ts";
import { isCurrent } from "./runs.tsx";

export function ChartsPage() {
  const run = parameters.value.get("run");
  const runs = useResource<readonly RunEntry[]>("/api/runs", () => true);
  const charts = useResource<Charts | null>(withQuery("/api/charts", { run }), () => true);
  const known = charts.value.value;
  return (
    <>
      <div class="title-line">
        <h1 class="page-title">Charts</h1>
        <RunChoice runs={runs.value.value ?? []} chosen={run} />
      </div>
      {charts.problem.value !== null && <Trouble problem={charts.problem.value} />}
      {known === undefined && charts.problem.value === null && <Loading />}
      {known === null && <Empty title="Nothing has run here yet" command="ralph run" />}
      {known != null && <AllCharts charts={known} />}
    </>
  );
}

function AllCharts({ charts }: { readonly charts: Charts }) {
  const forecast = forecastSentence(charts.forecast, now.value);
  const minutes = (value: number): string => `${value.toFixed(1)} min`;
  const files = (value: number): string => count(Math.round(value), "file");
  return (
    <>
      {forecast !== null && <p class="forecast">{forecast}</p>}
      <div class="charts">
        <Chart title="Cost" series={charts.cost} isLine says={dollars} />
        <Chart title="Cost per accepted task" series={charts.costPerTask} isLine says={dollars} />
        <Chart title="Duration in minutes" series={charts.duration} says={minutes} />
        <Chart title="Files changed" series={charts.files} says={files} />
      </div>
      <InterventionBars interventions={charts.interventions} />
    </>
  );
}

function RunChoice({ runs, chosen }: { readonly runs: readonly RunEntry[]; readonly chosen: string | null }) {
  if (runs.length === 0) return null;
  return (
    <label class="filters">
      <span>Run</span>
      <select
        data-search
        value={chosen ?? ""}
        onChange={(event) => setParameter("run", event.currentTarget.value)}
      >
        <option value="">the latest</option>
        {runs.map((run) => (
          <option key={run.id} value={run.id}>
            {moment(run.startedAt, now.value)} ·{" "}
            {capital(run.outcome ?? (isCurrent(run) ? "running" : "interrupted"))} ·{" "}
            {count(run.iterations, "iteration")}
          </option>
        ))}
      </select>
    </label>
  );
}

function InterventionBars({ interventions }: Pick<Charts, "interventions">) {
  const most = Math.max(0, ...interventions.map(({ count }) => count));
  return (
    <section class="panel interventions" aria-labelledby="interventions-title">
      <h2 id="interventions-title">Interventions</h2>
      {interventions.length === 0 ? (
        <p class="muted">No agent had to be corrected.</p>
      ) : (
        interventions.map(({ type, count }) => (
          <Bar key={type} label={type.replaceAll("_", " ")} value={count} max={most}>
            {String(count)}
          </Bar>
        ))
      )}
    </section>
  );
}

interface ChartProps {
  readonly title: string;
  readonly series: Series;
  /** Over time; else bars by iteration. */
  readonly isLine?: boolean;
  readonly says: (value: number) => string;
}

/** Drawn as in the report of a run. */
function Chart({ title, series, isLine = false, says }: ChartProps) {
  const known = series.y.filter((value) => value !== null);
  const last = known.at(-1);
  const highest = known.reduce((a, b) => Math.max(a, b), 0);
  const label = `${title}: ${known.length} values, the last ${says(last ?? 0)}, the highest ${says(highest)}`;
  const drawn = useMemo(() => {
    const words = { label, value: (value: number) => short(value, says), timeLabel: tickLabel };
    return (isLine ? lineChart(series, null, words) : barChart(series, words)).markup;
  }, [series]);
  return (
    <section class="panel chart-panel" aria-label={title}>
      <h2>
        {title} {last !== undefined && isLine && <span class="chart-last">{says(last)}</span>}
      </h2>
      {known.length === 0 ? (
        <p class="muted chart-none">Not known yet.</p>
      ) : (
        <div class="drawn chart-frame" dangerouslySetInnerHTML={{ __html: drawn }} />
      )}
    </section>
  );
}

/** An axis has room for the number only. */
function short(value: number, says: (value: number) => string): string {
  const text = says(value);
  return text.startsWith("$") ? text : String(Number(value.toPrecision(2)));
}
