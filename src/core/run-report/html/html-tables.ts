import { formatDuration } from "../../duration.ts";
import { count } from "../../projections/explain-words.ts";
import type { IterationRow } from "../../projections/iteration-row.ts";
import type { RunReport } from "../run-report.ts";
import { bounded, costInWords, MARKS, money, RULINGS, timeOfDay } from "../words.ts";
import { markup, NOTHING, type Markup } from "./markup.ts";

/** What each agent cost on each task. */
export function costTable(report: RunReport): Markup {
  const { costs, run } = report;
  if (costs.length === 0) return NOTHING;
  const tokens = (number: number | null): string =>
    number === null ? "unknown" : number.toLocaleString("en");
  return markup`<section>
<h2>Costs</h2>
${table(
  ["Task", "Agent", "#Iterations", "#Time", "#Tokens", "#Cost"],
  costs.map((row) => [
    row.task,
    row.agent,
    String(row.iterations),
    formatDuration(row.durationMs),
    tokens(row.tokens),
    money(row.costUsd),
  ]),
  [
    "All",
    "",
    String(run.iterations),
    formatDuration(costs.reduce((sum, row) => sum + row.durationMs, 0)),
    "",
    costInWords(report),
  ],
)}
</section>`;
}

/** The numbers behind the charts. */
export function iterationTable({ rows }: RunReport): Markup {
  if (rows.length === 0) return NOTHING;
  return markup`<section>
<details><summary><h2>Every iteration</h2> <span class="quiet">${count(rows.length, "iteration")}, the numbers behind the charts</span></summary>
${table(["#", "Task", "Lane", "Agent", "Began", "#Time", "#Files", "#Cost", "Verdict", "Why"], rows.map(cells))}
</details>
</section>`;
}

function cells(row: IterationRow): readonly string[] {
  const kind = row.verdict ?? "open";
  return [
    String(row.iteration),
    row.task,
    String(row.lane),
    row.agent,
    timeOfDay(row.startedAt),
    row.durationMs === null ? "…" : formatDuration(row.durationMs),
    row.files === null ? "–" : String(row.files),
    row.costUsd === null ? "–" : money(row.costUsd),
    `${MARKS[kind]} ${RULINGS[kind]}`,
    bounded(row.why ?? ""),
  ];
}

/** A name that begins with "#" is one of numbers. */
function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  sum: readonly string[] | null = null,
): Markup {
  const isNumber = names.map((name) => name.length > 1 && name.startsWith("#"));
  const cell = (text: string, index: number): Markup =>
    isNumber[index] === true ? markup`<td class="number">${text}</td>` : markup`<td>${text}</td>`;
  const head = names.map((name, index) =>
    isNumber[index] === true ? markup`<th class="number">${name.slice(1)}</th>` : markup`<th>${name}</th>`,
  );
  const row = (texts: readonly string[]): Markup => markup`<tr>${texts.map(cell)}</tr>
`;
  return markup`<div class="scrolls" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${rows.map(row)}</tbody>${sum === null ? NOTHING : markup`<tfoot>${row(sum)}</tfoot>`}</table></div>`;
}
