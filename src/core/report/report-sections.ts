import { count } from "../views/explain-words.ts";
import type { IterationRow } from "../views/iteration-record.ts";
import type { Charts } from "../views/run-list.ts";
import { VERDICT_SIGNS } from "../views/signs.ts";
import { formatDuration } from "../time.ts";
import type { Ruling } from "../verdict/verdict.ts";
import { type Markup, markup } from "./page.ts";
import type { RunReport, TaskReport, Waiting } from "./run-report.ts";
import { barChart, countChart, lineChart, timelineLegend, timelineSvg } from "./svg.ts";
import { bounded, costInWords, moment, money, SPANS, timeOfDay } from "./words.ts";

/** A part of a report. HTML and Markdown are two ways to print the same sections. */
export interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
  /** The numbers behind the rest, for those who open them. */
  readonly isFolded?: true;
}

export type Block =
  | { readonly is: "text"; readonly text: string; readonly kind?: "next" | "quiet" }
  /** A command to type, after what it is for. */
  | { readonly is: "command"; readonly text: string; readonly command: string }
  | { readonly is: "figures"; readonly figures: readonly Figure[] }
  | { readonly is: "waiting"; readonly items: readonly Waiting[] }
  | { readonly is: "task"; readonly task: TaskReport }
  | { readonly is: "table"; readonly table: Table }
  /** Markdown has the table in the place of a picture, or nothing. */
  | { readonly is: "timeline"; readonly svg: Markup; readonly table: Table }
  | { readonly is: "charts"; readonly charts: readonly Chart[] };

export interface Figure {
  readonly name: string;
  readonly value: string;
  /** The page shows it large; the others stand in its head. */
  readonly isLarge?: true;
}

/** A name that begins with "#" is one of numbers. */
export interface Table {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly sum?: readonly string[];
}

interface Chart {
  readonly caption: string;
  readonly svg: Markup;
  readonly table?: Table;
}

export function reportSections(report: RunReport): readonly Section[] {
  const { tasks, timeline, run, durationMs, rows } = report;
  const begun = tasks.filter(({ steps }) => steps.length > 0);
  const until = run.startedAt + durationMs;
  const drawn = markup`<div class="scrolls" tabindex="0" role="region" aria-label="Time line">${timelineSvg(timeline, { until })}</div>
${timelineLegend(timeline)}`;
  const line: Block = { is: "timeline", svg: drawn, table: timelineTable(report, until) };
  const costs: Block = { is: "table", table: costTable(report) };
  const numbers: Block = { is: "table", table: iterationTable(rows) };
  return [
    { title: "", blocks: [{ is: "figures", figures: figures(report) }] },
    waitingSection(report),
    { title: "Time line", blocks: timeline.spans.length === 0 ? [] : [line] },
    { title: "Charts", blocks: rows.length === 0 ? [] : [{ is: "charts", charts: charts(report) }] },
    {
      title: "Tasks",
      blocks: begun.length === 0 ? [NOT_WORKED_ON] : begun.map((task) => ({ is: "task", task })),
    },
    othersSection(tasks.filter(({ steps }) => steps.length === 0)),
    { title: "Costs", blocks: report.costs.length === 0 ? [] : [costs] },
    { title: "Every iteration", isFolded: true, blocks: rows.length === 0 ? [] : [numbers] },
  ];
}

const NOT_WORKED_ON: Block = { is: "text", text: "No task was worked on." };

export function figures(report: RunReport): readonly Figure[] {
  const { run, done, all, durationMs, costPerTaskUsd } = report;
  const lanes = run.lanes === 1 ? "" : `, ${count(run.lanes, "lane")}`;
  const sandbox = run.sandbox === undefined ? "" : `, in ${run.sandbox}`;
  return [
    { name: "Began", value: moment(run.startedAt) },
    { name: "Ended", value: run.endedAt === null ? "not yet" : moment(run.endedAt) },
    { name: "Agent", value: `${run.agent}${lanes}${sandbox}` },
    { name: "Tasks from", value: run.source },
    { name: "Tasks done", value: `${done} of ${all}`, isLarge: true },
    { name: "Iterations", value: String(run.iterations), isLarge: true },
    { name: "Time", value: formatDuration(durationMs), isLarge: true },
    { name: "Cost", value: costInWords(report), isLarge: true },
    {
      name: "Cost per accepted task",
      value: run.accepted === 0 ? "none accepted" : money(costPerTaskUsd),
      isLarge: true,
    },
  ];
}

/** What the run wants from a person, with the commands to type. */
export function waitingSection({ waiting, next, isLatest }: RunReport): Section {
  const items: Block = { is: "waiting", items: waiting };
  if (isLatest) {
    const onward: readonly Block[] =
      next === null ? [] : [{ is: "text", text: `Next: ${next}`, kind: "next" }];
    const nothing: Block = { is: "text", text: "Nothing waits for you." };
    return { title: "Waiting for you", blocks: [waiting.length === 0 ? nothing : items, ...onward] };
  }
  const nothing: Block = { is: "text", text: "Nothing waited when it ended." };
  const text = "Other runs came after it; how things stand now:";
  return {
    title: "What waited for a person when it ended",
    blocks: [waiting.length === 0 ? nothing : items, { is: "command", text, command: "ralph inbox" }],
  };
}

/** "asks", "is blocked" */
export function waitingVerb({ is }: Waiting): string {
  return is === "question" ? "asks" : "is blocked";
}

/** "✔ accepted" */
export function verdictWord(verdict: Ruling | null): string {
  return verdict === null ? "… no verdict" : `${VERDICT_SIGNS[verdict].sign} ${verdict}`;
}

function timelineTable({ timeline }: RunReport, until: number): Table {
  return {
    names: ["Time", "#Took", "Lane", "What", "Task", "Verdict", "Why"],
    rows: timeline.spans.map(({ is, lane, from, to, task, iteration, verdict, says }) => [
      timeOfDay(from),
      formatDuration((to ?? until) - from),
      lane === null ? "all" : String(lane),
      is === "agent" ? `iteration ${iteration ?? ""}` : SPANS[is],
      task ?? "",
      is === "agent" ? verdictWord(verdict) : "",
      bounded(says),
    ]),
  };
}

const OTHERS_SHOWN = 200;

function othersSection(others: readonly TaskReport[]): Section {
  const open = others.filter(({ status }) => status !== "done");
  const done = others.length - open.length;
  const rows = open.map(({ id, title, stands }) => [id, title ?? "", bounded(stands)]);
  const names = ["Task", "Title", "Where it stands"];
  const blocks: Block[] = [];
  if (done > 0) blocks.push({ is: "text", text: `${count(done, "task was", "tasks were")} done before.` });
  if (open.length > 0) blocks.push({ is: "table", table: { names, rows: rows.slice(0, OTHERS_SHOWN) } });
  if (open.length > OTHERS_SHOWN)
    blocks.push({ is: "text", text: `And ${open.length - OTHERS_SHOWN} more.` });
  return { title: "Not worked on in this run", blocks };
}

/** What each agent cost on each task. */
function costTable(report: RunReport): Table {
  const { costs, run } = report;
  const time = formatDuration(costs.reduce((sum, { durationMs }) => sum + durationMs, 0));
  return {
    names: ["Task", "Agent", "#Iterations", "#Time", "#Tokens", "#Cost"],
    rows: costs.map(({ task, agent, iterations, durationMs, tokens, costUsd }) => [
      task,
      agent,
      String(iterations),
      formatDuration(durationMs),
      tokens === null ? "unknown" : tokens.toLocaleString("en"),
      money(costUsd),
    ]),
    sum: ["All", "", String(run.iterations), time, "", costInWords(report)],
  };
}

/** The numbers behind the charts. */
function iterationTable(rows: readonly IterationRow[]): Table {
  return {
    names: ["#", "Task", "Lane", "Agent", "Began", "#Time", "#Files", "#Cost", "Verdict", "Why"],
    rows: rows.map((row) => [
      String(row.iteration),
      row.task,
      String(row.lane),
      row.agent,
      timeOfDay(row.startedAt),
      row.durationMs === null ? "…" : formatDuration(row.durationMs),
      row.files === null ? "–" : String(row.files),
      row.costUsd === null ? "–" : money(row.costUsd),
      verdictWord(row.verdict),
      bounded(row.why ?? ""),
    ]),
  };
}

function charts({ charts: { cost, duration, files, interventions, forecast } }: RunReport): readonly Chart[] {
  const most = highest(files.y);
  const filesLabel = `Files changed by each iteration, ${most} at most`;
  const filesChart = barChart(files, { label: filesLabel, value: short, closest: 1 });
  return [
    { caption: "Cost over time", svg: costChart(cost, forecast) },
    durationChart(duration),
    {
      caption: "Files changed by each iteration",
      svg: most === 0 ? empty("No iteration changed a file.") : filesChart,
    },
    interventionChart(interventions),
  ];
}

function interventionChart(interventions: Charts["interventions"]): Chart {
  const caption = "Interventions";
  if (interventions.length === 0) return { caption, svg: empty("No agent had to be corrected.") };
  const counts = interventions.map(({ type, count: times }) => ({
    name: type.replaceAll("_", " "),
    count: times,
  }));
  const all = counts.map(({ name, count: times }) => `${name} ${times}`).join(", ");
  const rows = counts.map(({ name, count: times }) => [name, String(times)]);
  return {
    caption,
    svg: countChart(counts, `Interventions: ${all}`),
    table: { names: ["Type", "#Times"], rows },
  };
}

function costChart(cost: Charts["cost"], forecast: Charts["forecast"]): Markup {
  if (cost.y.every((value) => value === null)) return empty("Nobody told what it cost.");
  const chart = lineChart(cost, forecast?.budgetUsd ?? null, {
    label: `Cost over time: ${money(cost.y.at(-1) ?? 0)} in the end`,
    value: (usd) => `$${short(usd)}`,
  });
  if (forecast === null) return chart;
  const { budgetUsd, planUsd, reachedAt } = forecast;
  const plan = planUsd === null ? "" : `, the whole plan is likely to cost ${money(planUsd)}`;
  const when = reachedAt === null ? "" : `; at this rate the budget is used up at ${moment(reachedAt)}`;
  return markup`${chart}<p class="quiet">The budget is ${money(budgetUsd)}${plan}${when}.</p>`;
}

const LONG_MINUTES = 3;
const VERY_LONG_MINUTES = 180;

function durationChart(duration: Charts["duration"]): Chart {
  const longest = highest(duration.y);
  const [unit, factor] =
    longest < LONG_MINUTES ? ["s", 60] : longest < VERY_LONG_MINUTES ? ["m", 1] : ["h", 1 / 60];
  const y = duration.y.map((minutes) => (minutes === null ? null : minutes * factor));
  const value = (amount: number): string => `${short(amount)}${unit}`;
  const label = `Time of each iteration, ${value(longest * factor)} at most`;
  return { caption: "Time of each iteration", svg: barChart({ ...duration, y }, { label, value }) };
}

function highest(values: readonly (number | null)[]): number {
  return values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}

function empty(sentence: string): Markup {
  return markup`<p class="empty">${sentence}</p>`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
