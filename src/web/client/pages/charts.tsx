import type { Charts } from "../../../core/projections/charts.ts";
import type { RunEntry } from "../../../core/projections/run-list.ts";
import { withQuery } from "../api-client.ts";
import { now } from "../clock.ts";
import { capital, count, dollars, moment } from "../format.ts";
import { Chart } from "../parts/chart.tsx";
import { InterventionBars } from "../parts/intervention-bars.tsx";
import { Empty, Loading, Trouble } from "../parts/notices.tsx";
import { parameters, setParameter } from "../router.ts";
import { forecastSentence } from "../forecast-sentence.ts";
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
  return (
    <>
      {forecast !== null && <p class="forecast">{forecast}</p>}
      <div class="charts">
        <Chart title="Cost" series={charts.cost} axis="time" says={dollars} />
        <Chart title="Cost per accepted task" series={charts.costPerTask} axis="time" says={dollars} />
        <Chart
          title="Duration in minutes"
          series={charts.duration}
          axis="iteration"
          says={(value) => `${value.toFixed(1)} min`}
        />
        <Chart
          title="Files changed"
          series={charts.files}
          axis="iteration"
          says={(value) => count(Math.round(value), "file")}
        />
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
