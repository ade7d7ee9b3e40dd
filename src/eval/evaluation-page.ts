import { place } from "../core/report/svg.ts";
import { markup, NOTHING, type Markup, page } from "../core/report/page.ts";
import { estimatesOf, signOf, type Evaluation, PRODUCTION_MEASURES, TARGETS } from "./evaluation.ts";
import { EVERYTHING, FEATURES } from "./features.ts";
import { inWords, MEASURE_NAMES, MEASURES, withInterval, type MeasureName } from "./measures.ts";
import { PARAMETERS, PRODUCTION } from "./parameters.ts";

/** An evaluation on one page, with its charts. The same evaluation gives the same bytes. */
export function evaluationPage(evaluation: Evaluation): string {
  const { seed, worlds, iterations, results } = evaluation;
  const main = markup`<header class="o-completed">
<p class="over">ralph eval</p>
<h1>What each feature of the loop is worth</h1>
<p class="why">The real loop with imagined agents in virtual time: ${worlds} projects of ${PRODUCTION.tasks} tasks, modelled on ${PRODUCTION.iterations} iterations of production.</p>
<p class="quiet">At most ${iterations} iterations each, seed ${seed}. Intervals hold 95 % (bootstrap over the projects). The agents are a model: its numbers are below.</p>
</header>
${targets(evaluation)}
<section>
<h2>Feature by feature</h2>
<div class="charts">${CHARTS.map((measure) => chart(measure, evaluation))}</div>
</section>
${section("All figures", [
  ["", ...MEASURE_NAMES.map((name) => MEASURES[name].short)],
  ["production", ...MEASURE_NAMES.map((name) => inWords(PRODUCTION_MEASURES[name], name).replace("–", ""))],
  ...results.map(({ variant, estimates }) => [
    variant.name,
    ...MEASURE_NAMES.map((name) => withInterval(estimates[name], name)),
  ]),
])}
${MEASURE_NAMES.map((name) => markup`<p class="quiet">${MEASURES[name].short}: ${MEASURES[name].long}.</p>`)}
${section("The features", [["Feature", "What it does"], ...Object.entries(FEATURES)])}
${section("The model", [
  ["Number", "Value", "Source", "What it is"],
  ...Object.entries(PARAMETERS).map(([name, { value, source, sentence }]) => [
    name,
    String(value),
    source,
    sentence,
  ]),
])}`;
  const again = `ralph eval --seed ${seed} --seeds ${worlds} --iterations ${iterations} --html`;
  return page("What each feature of the loop is worth", main, markup`Made by <code>${again}</code>.`);
}

function targets(evaluation: Evaluation): Markup {
  const everything = estimatesOf(evaluation, EVERYTHING);
  return markup`<dl class="figures">
${TARGETS.map((target) => {
  const { measure, name, wanted } = target;
  const goal = `${wanted.is} ${inWords(wanted.value, measure, " %")}`;
  return markup`<div><dt>${name}</dt><dd>${inWords(everything[measure]?.mean, measure, " %")}</dd><dd class="note">${signOf(target, everything)} target: ${goal}</dd></div>`;
})}
</dl>`;
}

function section(title: string, [head = [], ...rows]: readonly (readonly string[])[]): Markup {
  const cells = (row: readonly string[]): readonly Markup[] => row.map((cell) => markup`<td>${cell}</td>`);
  return markup`<section>
<h2>${title}</h2>
<div class="scrolls" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${head.map((cell) => markup`<th>${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => markup`<tr>${cells(row)}</tr>`)}</tbody></table></div>
</section>`;
}

const CHARTS: readonly MeasureName[] = [
  "uiBlocked",
  "wasted",
  "uiTrulyCompleted",
  "falseAccepted",
  "honestRejected",
  "challenged",
  "asked",
  "costPerTaskUsd",
];

const WIDTH = 480;
const LEFT = 150;
const RIGHT = 60;
const ROW = 20;

/** Horizontal bars with their intervals, and a line that marks the target. */
function chart(measure: MeasureName, { results }: Evaluation): Markup {
  const { long } = MEASURES[measure];
  const limit = TARGETS.find((target) => target.measure === measure)?.wanted.value ?? 0;
  const bars = results.map(({ variant, estimates }) => ({ name: variant.name, is: estimates[measure] }));
  const largest = Math.max(limit, ...bars.map(({ is }) => is?.high ?? 0)) || 1;
  const x = (value: number): number => place(LEFT + (value / largest) * (WIDTH - LEFT - RIGHT));
  const floor = bars.length * ROW;
  return markup`<figure><figcaption>${long}</figcaption><svg class="chart" viewBox="0 0 ${WIDTH} ${floor}" role="img" aria-label="${long}">
${bars.map(({ name, is }, row) => {
  const top = row * ROW;
  const title = markup`<text class="name" x="0" y="${top + 14}">${name}</text>`;
  if (is === null) return title;
  return markup`${title}<rect class="bar" x="${LEFT}" y="${top + 4}" width="${place(x(is.mean) - LEFT)}" height="${ROW - 8}"><title>${withInterval(is, measure)}</title></rect><line class="whisker" x1="${x(is.low)}" x2="${x(is.high)}" y1="${top + ROW / 2}" y2="${top + ROW / 2}"/><text class="tick" x="${x(is.high) + 6}" y="${top + 14}">${inWords(is.mean, measure, " %")}</text>`;
})}
${limit === 0 ? NOTHING : markup`<line class="limit" x1="${x(limit)}" x2="${x(limit)}" y1="0" y2="${floor}"/>`}
</svg></figure>`;
}
