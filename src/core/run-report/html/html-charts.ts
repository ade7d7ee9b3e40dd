import type { Charts } from "../../projections/charts.ts";
import type { RunReport } from "../run-report.ts";
import { barChart, countChart, lineChart } from "../svg/chart-svg.ts";
import { moment, money } from "../words.ts";
import { markup, type Markup } from "./markup.ts";

export function chartsMarkup({ charts }: RunReport): Markup {
  return markup`<section>
<h2>Charts</h2>
<div class="charts">
${figure("Cost over time", costChart(charts))}
${figure(...durationChart(charts))}
${figure("Files changed by each iteration", filesChart(charts))}
${figure("Interventions", interventionsChart(charts))}
</div>
</section>`;
}

function figure(caption: string, content: Markup): Markup {
  return markup`<figure><figcaption>${caption}</figcaption>${content}</figure>`;
}

function costChart({ cost, forecast }: Charts): Markup {
  if (cost.y.every((value) => value === null)) return empty("Nobody told what it cost.");
  const spent = cost.y.at(-1) ?? 0;
  const chart = lineChart(cost, forecast?.budgetUsd ?? null, {
    label: `Cost over time: ${money(spent)} in the end`,
    value: (usd) => `$${short(usd)}`,
  });
  return forecast === null ? chart : markup`${chart}<p class="quiet">${forecastInWords(forecast)}</p>`;
}

function forecastInWords({ budgetUsd, planUsd, reachedAt }: NonNullable<Charts["forecast"]>): string {
  const plan = planUsd === null ? "" : `, the whole plan is likely to cost ${money(planUsd)}`;
  const when = reachedAt === null ? "" : `; at this rate the budget is used up at ${moment(reachedAt)}`;
  return `The budget is ${money(budgetUsd)}${plan}${when}.`;
}

const LONG_MINUTES = 3;
const VERY_LONG_MINUTES = 180;

function durationChart({ duration }: Charts): [string, Markup] {
  const longest = duration.y.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const [unit, factor] =
    longest < LONG_MINUTES ? ["s", 60] : longest < VERY_LONG_MINUTES ? ["m", 1] : ["h", 1 / 60];
  const y = duration.y.map((value) => (value === null ? null : value * factor));
  const value = (amount: number): string => `${short(amount)}${unit}`;
  return [
    "Time of each iteration",
    barChart(
      { ...duration, y },
      { label: `Time of each iteration, ${value(longest * factor)} at most`, value },
    ),
  ];
}

function filesChart({ files }: Charts): Markup {
  const most = files.y.reduce<number>((largest, value) => Math.max(largest, value ?? 0), 0);
  if (most === 0) return empty("No iteration changed a file.");
  return barChart(files, {
    label: `Files changed by each iteration, ${most} at most`,
    value: short,
    closest: 1,
  });
}

function interventionsChart({ interventions }: Charts): Markup {
  if (interventions.length === 0) return empty("No agent had to be corrected.");
  const counts = interventions.map(({ type, count }) => ({ name: type.replaceAll("_", " "), count }));
  return countChart(
    counts,
    `Interventions: ${counts.map(({ name, count }) => `${name} ${count}`).join(", ")}`,
  );
}

function empty(sentence: string): Markup {
  return markup`<p class="empty">${sentence}</p>`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
