import { markup, NOTHING, type Markup } from "../../core/run-report/html/markup.ts";
import { estimatesOf, type Evaluation } from "../evaluation.ts";
import type { Estimates } from "../evaluate.ts";
import { BASELINE, EVERYTHING } from "../features.ts";
import { ALL_WORSE, fromTo } from "../measure-words.ts";
import type { MeasureName } from "../measures.ts";
import type { SensitivityRow } from "../sensitivity.ts";
import { spreadChart, type Spread } from "./estimate-chart.ts";

const CHARTED = [
  ["uiBlocked", "UI tasks blocked"],
  ["wasted", "Iterations wasted"],
  ["uiTrulyCompleted", "UI tasks really done"],
] as const satisfies readonly (readonly [MeasureName, string])[];

/** How much the result rests on each uncertain number. */
export function sensitivityMarkup(evaluation: Evaluation): Markup {
  const { sensitivity: rows } = evaluation;
  if (rows === null) return NOTHING;
  return markup`<section>
<h2>If the model is wrong</h2>
<p>Each uncertain number at both ends of its range, the others as they are. The orange lines are the baseline, the blue ones everything.</p>
<div class="charts">
${CHARTED.map(
  ([measure, name]) =>
    markup`<figure><figcaption>${name}</figcaption>${spreadChart(spreadsOf(evaluation, measure), name)}</figure>`,
)}
</div>
<div class="scrolls" tabindex="0" role="region" aria-label="If the model is wrong"><table>
<thead><tr><th>Number</th><th class="number">Value</th>${CHARTED.map(([, name]) => markup`<th class="number">${name}, %</th>`)}<th class="number">False accepted</th><th class="number">Honest rejected</th></tr></thead>
<tbody>${rows.map(
    ({ parameter, value, baseline, everything }) =>
      markup`<tr><td>${parameter ?? ALL_WORSE}</td><td class="number">${value ?? ""}</td>${CHARTED.map(
        ([measure]) =>
          markup`<td class="number">${fromTo(baseline[measure], everything[measure], "percent")}</td>`,
      )}<td class="number">${fromTo(baseline.falseAccepted, everything.falseAccepted, "count")}</td><td class="number">${fromTo(baseline.honestRejected, everything.honestRejected, "count")}</td></tr>`,
  )}</tbody></table></div>
</section>`;
}

function spreadsOf(evaluation: Evaluation, measure: MeasureName): readonly Spread[] {
  const rows = evaluation.sensitivity ?? [];
  const spread = (
    name: SensitivityRow["parameter"],
    of: "baseline" | "everything",
    usual: Estimates,
  ): readonly [number, number] => {
    const own = rows.filter(({ parameter }) => parameter === name).map((row) => row[of]);
    const means = [usual, ...own].map((estimates) => estimates[measure]?.mean ?? 0);
    return [Math.min(...means), Math.max(...means)];
  };
  const [before, after] = [BASELINE, EVERYTHING].map(({ name }) => estimatesOf(evaluation, name));
  return [...new Set(rows.map(({ parameter }) => parameter))].map((name) => ({
    name: name ?? ALL_WORSE,
    before: spread(name, "baseline", before as Estimates),
    after: spread(name, "everything", after as Estimates),
  }));
}
