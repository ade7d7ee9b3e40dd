import { formatDuration } from "../../duration.ts";
import { count } from "../../projections/explain-words.ts";
import type { RunReport } from "../run-report.ts";
import { timelineLegend, timelineSvg } from "../svg/timeline-svg.ts";
import { moment, money, title, whyInWords } from "../words.ts";
import { chartsMarkup } from "./html-charts.ts";
import { costTable, iterationTable } from "./html-tables.ts";
import { tasksMarkup } from "./html-tasks.ts";
import { waitingMarkup } from "./html-waiting.ts";
import { markup, NOTHING, type Markup } from "./markup.ts";
import { page } from "./page.ts";

/** A run on one page. */
export function htmlReport(report: RunReport): string {
  const { project, run } = report;
  const main = markup`${head(report)}
${figures(report)}
${waitingMarkup(report)}
${timeline(report)}
${report.rows.length === 0 ? NOTHING : chartsMarkup(report)}
${tasksMarkup(report)}
${costTable(report)}
${iterationTable(report)}`;
  return page(
    `${title(report)} · ${project} · ${moment(run.startedAt)}`,
    main,
    markup`${report.madeBy}, ${moment(report.madeAt)}. All times are UTC. Run ${run.id}.`,
  );
}

function head(report: RunReport): Markup {
  const { run, project } = report;
  const end = run.endedAt === null ? "" : ` to ${moment(run.endedAt)}`;
  const lanes = run.lanes === 1 ? "" : `, in ${count(run.lanes, "lane")}`;
  const sandbox = run.sandbox === undefined ? "" : `, in ${run.sandbox}`;
  return markup`<header class="o-${run.outcome ?? "open"}">
<p class="over">${project}</p>
<h1>${title(report)}</h1>
<p class="why">${whyInWords(report)}</p>
<p class="quiet">${moment(run.startedAt)}${end}. ${run.agent} worked on ${run.source}${lanes}${sandbox}.</p>
</header>`;
}

function figures({ run, done, all, durationMs, costPerTaskUsd, unpriced }: RunReport): Markup {
  const figure = (name: string, value: string, note = ""): Markup =>
    markup`<div><dt>${name}</dt><dd>${value}</dd>${note === "" ? NOTHING : markup`<dd class="note">${note}</dd>`}</div>`;
  const isPartly = run.costUsd !== null && unpriced > 0;
  return markup`<dl class="figures">
${figure("Tasks done", `${done} of ${all}`)}
${figure("Iterations", String(run.iterations))}
${figure("Time", formatDuration(durationMs))}
${figure("Cost", money(run.costUsd), isPartly ? `${count(unpriced, "iteration")} unknown` : "")}
${figure("Per accepted task", run.accepted === 0 ? "none accepted" : money(costPerTaskUsd))}
</dl>`;
}

function timeline({ timeline: line, run, durationMs }: RunReport): Markup {
  if (line.spans.length === 0) return NOTHING;
  return markup`<section>
<h2>Time line</h2>
<div class="scrolls" tabindex="0" role="region" aria-label="Time line">${timelineSvg(line, run.startedAt + durationMs)}</div>
${timelineLegend(line)}
</section>`;
}
