import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { RunEntry, Charts, Series } from "../../../core/projections/run-list.ts";
import { withQuery } from "../api-client.ts";
import { now } from "../overview-store.ts";
import { capital, clockTime, count, dollars, forecastSentence, moment } from "../format.ts";
import { Bar, Empty, Loading, Trouble } from "../parts/notices.tsx";
import { parameters, setParameter } from "../router.ts";
import { isDark } from "../theme.ts";
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
  readonly axis: "time" | "iteration";
  readonly says: (value: number) => string;
}

const HEIGHT = 220;
const MANY = 300;

/** One line, or bars by iteration. */
function Chart({ title, series, axis, says }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const colours = isDark.value;
  const known = series.y.filter((value) => value !== null);
  const last = known.at(-1);
  useEffect(() => {
    const element = frame.current;
    if (element === null || known.length === 0) return undefined;
    const made = new uPlot(optionsOf({ title, series, axis, says }, element), dataOf(series), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [colours, known.length === 0]);
  useEffect(() => plot.current?.setData(dataOf(series)), [series]);
  const summary =
    last === undefined
      ? "not known"
      : `${known.length} values, the last ${says(last)}, the highest ${says(known.reduce((a, b) => Math.max(a, b)))}`;
  return (
    <section class="panel chart" aria-label={title}>
      <h2>
        {title} {last !== undefined && axis === "time" && <span class="chart-last">{says(last)}</span>}
      </h2>
      {known.length === 0 ? (
        <p class="muted chart-none">Not known yet.</p>
      ) : (
        <div ref={frame} class="chart-frame" role="img" aria-label={`${title}: ${summary}`} />
      )}
    </section>
  );
}

function dataOf({ x, y }: Series): uPlot.AlignedData {
  return [[...x], [...y]];
}

function optionsOf({ title, series, axis, says }: ChartProps, element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const lines = {
    stroke: colour("--muted"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  const isBars = axis === "iteration" && series.x.length <= MANY;
  const bars = uPlot.paths.bars?.({ size: [0.7, 24], radius: 0.15 });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    ms: 1,
    cursor: { y: false, points: { size: 7 } },
    scales: {
      x: { time: axis === "time", ...(isBars && { range: (_, low, high) => [low - 0.6, high + 0.6] }) },
      y: { range: (_, __, high) => [0, high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      {
        ...lines,
        size: 30,
        ...(axis === "time"
          ? { values: (_, ticks) => ticks.map((at) => clockTime(at, isShort(series))), space: 70 }
          : { values: (_, ticks) => ticks.map((at) => (Number.isInteger(at) ? String(at) : "")) }),
      },
      { ...lines, size: 56, values: (_, ticks) => ticks.map((tick) => short(tick, says)) },
    ],
    series: [
      { label: axis === "time" ? "at" : "iteration", value: (_, at) => xSays(at, axis) },
      {
        label: title,
        stroke: colour("--blue"),
        fill: colour("--blue-wash"),
        width: 1.5,
        spanGaps: true,
        points: { show: series.x.length < 40 && !isBars },
        value: (_, value) => (value === null || value === undefined ? "–" : says(value)),
        ...(isBars && bars && { paths: bars, fill: colour("--blue") }),
      },
    ],
  };
}

/** Minutes do not tell its moments apart. */
function isShort({ x }: Series): boolean {
  return (x.at(-1) ?? 0) - (x[0] ?? 0) < 10 * 60_000;
}

function xSays(at: number | null, axis: ChartProps["axis"]): string {
  if (at === null || at === undefined) return "–";
  return axis === "time" ? clockTime(at, true) : String(at);
}

/** Words are for the legend: an axis has room for the number. */
function short(value: number, says: (value: number) => string): string {
  const text = says(value);
  return text.startsWith("$") ? text : String(Number(value.toPrecision(2)));
}
