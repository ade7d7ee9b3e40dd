import { numberTicks, place } from "../../core/run-report/svg.ts";
import { markup, NOTHING, type Markup, page } from "../../core/run-report/page.ts";
import {
  estimatesOf,
  type Evaluation,
  type Estimates,
  isMet,
  PRODUCTION_MEASURES,
  TARGETS,
  type Target,
} from "../evaluation.ts";
import { ALL_FEATURES, BASELINE, EVERYTHING, FEATURES } from "../features.ts";
import {
  inWords,
  MEASURE_WORDS,
  withInterval,
  type MeasureWords,
  type MeasureName,
  type Estimate,
} from "../measures.ts";
import { parameter, PARAMETER_NAMES, PRODUCTION } from "../parameters.ts";

/** An evaluation on one page, with its charts. The same evaluation gives the same bytes. */
export function evaluationPage(evaluation: Evaluation): string {
  const { seed, worlds, iterations } = evaluation;
  const main = markup`${head(evaluation)}
${targets(estimatesOf(evaluation, EVERYTHING.name))}
${charts(evaluation)}
${table(evaluation)}
${features()}
${parameters()}`;
  const again = `ralph eval --seed ${seed} --seeds ${worlds} --iterations ${iterations} --html`;
  return page("What each feature of the loop is worth", main, markup`Made by <code>${again}</code>.`);
}

function head({ worlds, iterations, seed }: Evaluation): Markup {
  return markup`<header class="o-completed">
<p class="over">ralph eval</p>
<h1>What each feature of the loop is worth</h1>
<p class="why">The real loop with imagined agents in virtual time: ${worlds} projects of ${PRODUCTION.tasks} tasks, modelled on ${PRODUCTION.iterations} iterations of production.</p>
<p class="quiet">At most ${iterations} iterations each, seed ${seed}. Intervals hold 95 % (bootstrap over the projects). The agents are a model: what it knows and what it assumes is below.</p>
</header>`;
}

function targets(everything: Estimates): Markup {
  return markup`<dl class="figures">
${TARGETS.map((target) => {
  const { measure, name, wanted } = target;
  const form = formOf(measure);
  const unit = form === "percent" ? " %" : "";
  const goal = `${wanted.is} ${inWords(wanted.value, form)}${unit}`;
  return markup`<div><dt>${name}</dt><dd>${inWords(everything[measure]?.mean, form)}${unit}</dd><dd class="note">${sign(target, everything)} target: ${goal}</dd></div>`;
})}
</dl>`;
}

function sign(target: Target, everything: Estimates): string {
  const met = isMet(target, everything);
  return met === null ? "–" : met ? "✔" : "✗";
}

function charts({ results }: Evaluation): Markup {
  const wanted: readonly MeasureName[] = [
    "uiBlocked",
    "wasted",
    "uiTrulyCompleted",
    "falseAccepted",
    "honestRejected",
    "challenged",
    "asked",
    "costPerTaskUsd",
  ];
  return markup`<section>
<h2>Feature by feature</h2>
<div class="charts">
${wanted.map((measure) => {
  const words = wordsOf(measure);
  const limit = TARGETS.find((one) => one.measure === measure)?.wanted.value ?? null;
  const bars = results.map(({ variant, estimates }) => ({
    name: variant.name,
    estimate: estimates[measure],
  }));
  return markup`<figure><figcaption>${words.long}</figcaption>${estimateChart(bars, words, limit)}</figure>`;
})}
</div>
</section>`;
}

function table({ results }: Evaluation): Markup {
  const production = MEASURE_WORDS.map(({ measure, form }) => {
    const value = PRODUCTION_MEASURES[measure];
    return markup`<td class="number">${value === undefined ? "" : inWords(value, form)}</td>`;
  });
  return markup`<section>
<h2>All figures</h2>
<div class="scrolls" tabindex="0" role="region" aria-label="All figures"><table>
<thead><tr><th></th>${MEASURE_WORDS.map(({ short, long }) => markup`<th class="number" title="${long}">${short}</th>`)}</tr></thead>
<tbody>
<tr><td>production</td>${production}</tr>
${results.map(
  ({ variant, estimates }) =>
    markup`<tr><td>${variant.name}</td>${MEASURE_WORDS.map(
      ({ measure, form }) => markup`<td class="number">${withInterval(estimates[measure], form)}</td>`,
    )}</tr>`,
)}
</tbody></table></div>
${MEASURE_WORDS.map(({ short, long, form }) => markup`<p class="quiet">${short}: ${long}${form === "percent" ? ", in per cent" : ""}.</p>`)}
</section>`;
}

function features(): Markup {
  return markup`<section>
<h2>The features</h2>
<p>The ${BASELINE.name} has none of them: one timeout for everything, and the agent is believed.</p>
<table><tbody>${ALL_FEATURES.map((feature) => markup`<tr><td>${feature}</td><td>${FEATURES[feature]}</td></tr>`)}</tbody></table>
</section>`;
}

function parameters(): Markup {
  return markup`<section>
<h2>The model</h2>
<div class="scrolls" tabindex="0" role="region" aria-label="The model"><table>
<thead><tr><th>Number</th><th class="number">Value</th><th class="number">Range</th><th>Source</th><th>What it is</th></tr></thead>
<tbody>${PARAMETER_NAMES.map((name) => {
    const { value, source, sentence, range } = parameter(name);
    const ends = range === undefined ? NOTHING : markup`${range[0]} to ${range[1]}`;
    return markup`<tr><td>${name}</td><td class="number">${value}</td><td class="number">${ends}</td><td>${source}</td><td>${sentence}</td></tr>`;
  })}</tbody></table></div>
</section>`;
}

function wordsOf(measure: MeasureName): MeasureWords {
  const found = MEASURE_WORDS.find((words) => words.measure === measure);
  if (found === undefined) throw new Error(`no words for ${measure}`);
  return found;
}

function formOf(measure: MeasureName): MeasureWords["form"] {
  return wordsOf(measure).form;
}

interface EstimateBar {
  readonly name: string;
  readonly estimate: Estimate | null;
}

const WIDTH = 480;
const LEFT = 150;
const RIGHT = 16;
const ROW = 20;
const TOP = 6;

/** Lying bars with their intervals; `limit` is a line that they should not cross. */
function estimateChart(
  bars: readonly EstimateBar[],
  { long, form }: MeasureWords,
  limit: number | null,
): Markup {
  const largest = Math.max(limit ?? 0, ...bars.map(({ estimate }) => estimate?.high ?? 0));
  const unit = form === "percent" ? " %" : "";
  const label = (value: number): string => `${inWords(value, form)}${unit}`;
  const ticks = numberTicks(largest === 0 ? 1 : largest, label, form === "percent" ? 0.1 : 0);
  const right = across(ticks.at(-1)?.at ?? 1);
  const floor = TOP + bars.length * ROW;
  return markup`<svg class="chart" viewBox="0 0 ${WIDTH} ${floor + 22}" role="img" aria-label="${long}">
${ticks.map(
  ({ at, label: text }) =>
    markup`<line class="grid" x1="${right(at)}" x2="${right(at)}" y1="${TOP}" y2="${floor}"/><text class="tick" text-anchor="middle" x="${right(at)}" y="${floor + 16}">${text}</text>`,
)}
${bars.map(({ name, estimate }, row) => barMarkup(name, estimate, TOP + row * ROW, right, form))}
${limit === null ? NOTHING : markup`<line class="limit" x1="${right(limit)}" x2="${right(limit)}" y1="${TOP}" y2="${floor}"/>`}
</svg>`;
}

function barMarkup(
  name: string,
  estimate: Estimate | null,
  top: number,
  right: (value: number) => number,
  form: MeasureWords["form"],
): Markup {
  const title = markup`<text class="name" x="0" y="${top + 14}">${name}</text>`;
  if (estimate === null) return title;
  const { mean, low, high } = estimate;
  const middle = top + ROW / 2;
  return markup`${title}<rect class="bar" x="${LEFT}" y="${top + 4}" width="${place(Math.max(0.5, right(mean) - LEFT))}" height="${ROW - 8}"><title>${name}: ${withInterval(estimate, form)}</title></rect><line class="whisker" x1="${right(low)}" x2="${right(high)}" y1="${middle}" y2="${middle}"/>`;
}

function across(most: number): (value: number) => number {
  return (value) => place(LEFT + (value / most) * (WIDTH - LEFT - RIGHT));
}
