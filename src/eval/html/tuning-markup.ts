import { markup, NOTHING, type Markup } from "../../core/run-report/html/markup.ts";
import type { Evaluation } from "../evaluation.ts";
import { TUNED, withInterval } from "../measure-words.ts";

/** What other thresholds would do. */
export function tuningMarkup({ tuning: rows }: Evaluation): Markup {
  if (rows === null) return NOTHING;
  return markup`<section>
<h2>Other thresholds</h2>
<p>Each threshold at other values, all else at its default, everything on.</p>
<div class="scrolls" tabindex="0" role="region" aria-label="Other thresholds"><table>
<thead><tr><th>Setting</th><th>Value</th>${TUNED.map(({ short, long }) => markup`<th class="number" title="${long}">${short}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ setting, value, isDefault, estimates }) =>
      markup`<tr><td>${setting}</td><td>${value}${isDefault ? " (default)" : ""}</td>${TUNED.map(
        ({ measure, form }) => markup`<td class="number">${withInterval(estimates[measure], form)}</td>`,
      )}</tr>`,
  )}</tbody></table></div>
</section>`;
}
