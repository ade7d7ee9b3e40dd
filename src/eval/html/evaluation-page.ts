import { markup, NOTHING, type Markup } from "../../core/run-report/html/markup.ts";
import { page } from "../../core/run-report/html/page.ts";
import { estimatesOf, type Evaluation } from "../evaluation.ts";
import type { Estimates } from "../evaluate.ts";
import { ALL_FEATURES, BASELINE, EVERYTHING, FEATURES } from "../features.ts";
import { inWords, MEASURE_WORDS, withInterval, type MeasureWords } from "../measure-words.ts";
import type { MeasureName } from "../measures.ts";
import { parameter, PARAMETER_NAMES, PRODUCTION } from "../parameters.ts";
import { isMet, PRODUCTION_MEASURES, TARGETS, type Target } from "../targets.ts";
import { estimateChart } from "./estimate-chart.ts";
import { sensitivityMarkup } from "./sensitivity-markup.ts";
import { tuningMarkup } from "./tuning-markup.ts";

/** An evaluation on one page, with its charts. The same evaluation gives the same bytes. */
export function evaluationPage(evaluation: Evaluation): string {
  const { seed, worlds, iterations } = evaluation;
  const main = markup`${head(evaluation)}
${targets(estimatesOf(evaluation, EVERYTHING.name))}
${charts(evaluation)}
${table(evaluation)}
${sensitivityMarkup(evaluation)}
${tuningMarkup(evaluation)}
${features()}
${parameters()}`;
  const extras = (["sensitivity", "tuning"] as const).filter((name) => evaluation[name] !== null);
  const again = `ralph eval --seed ${seed} --seeds ${worlds} --iterations ${iterations}${extras.map((name) => ` --${name}`).join("")} --html`;
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
  const goal = wanted.is === "none" ? "none" : `${wanted.is} ${inWords(wanted.value, form)} %`;
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
    "costPerTaskUsd",
  ];
  return markup`<section>
<h2>Feature by feature</h2>
<div class="charts">
${wanted.map((measure) => {
  const words = wordsOf(measure);
  const target = TARGETS.find((one) => one.measure === measure)?.wanted;
  const limit = target === undefined || target.is === "none" ? null : target.value;
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
