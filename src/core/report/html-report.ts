import { count } from "../views/explain-words.ts";
import { markup, type Markup, NOTHING, page } from "./page.ts";
import {
  type Block,
  reportSections,
  type Section,
  type Table,
  verdictWord,
  waitingVerb,
} from "./report-sections.ts";
import type { RunReport, TaskReport, Waiting } from "./run-report.ts";
import { bounded, certificateFacts, moment, title, whyInWords } from "./words.ts";

/** A run on one page. */
export function htmlReport(report: RunReport): string {
  const { project, run } = report;
  return page(
    `${title(report)} · ${project} · ${moment(run.startedAt)}`,
    markup`${head(report)}
${reportSections(report).map(sectionMarkup)}`,
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

/** From here on a browser lays out only those that are looked at. */
const MANY = 200;

function sectionMarkup({ title: name, blocks, isFolded }: Section): Markup {
  if (blocks.length === 0) return NOTHING;
  const content = blocks.map(blockMarkup);
  const heading = name === "" ? NOTHING : markup`<h2>${name}</h2>`;
  if (isFolded === true)
    return markup`<section><details><summary>${heading}</summary>${content}</details></section>
`;
  return markup`<section class="${blocks.length > MANY ? "many" : "few"}">${heading}${content}</section>
`;
}

function blockMarkup(block: Block): Markup {
  switch (block.is) {
    case "text":
      return markup`<p class="${block.kind ?? "plain"}">${block.text}</p>`;
    case "command":
      return markup`<p class="quiet">${block.text} <code>${block.command}</code></p>`;
    case "figures": {
      const large = block.figures.filter(({ isLarge }) => isLarge);
      return markup`<dl class="figures">${large.map(({ name, value }) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
    }
    case "waiting":
      return markup`<ul class="waiting">${block.items.map(item)}</ul>`;
    case "task":
      return taskMarkup(block.task);
    case "table":
      return tableMarkup(block.table);
    case "timeline":
      return block.svg;
    case "charts":
      return markup`<div class="charts">${block.charts.map(({ caption, svg }) => markup`<figure><figcaption>${caption}</figcaption>${svg}</figure>`)}</div>`;
  }
}

function item(waiting: Waiting): Markup {
  const { task, text, more, command } = waiting;
  return markup`<li><p><strong>${task}</strong> ${waitingVerb(waiting)}: <span class="said">${bounded(text)}</span></p>${more === "" ? NOTHING : markup`<p class="quiet">${bounded(more)}</p>`}<pre><code>${command}</code></pre></li>
`;
}

function taskMarkup({ id, title: name, status, steps, stands, acceptance }: TaskReport): Markup {
  const isPlain = acceptance !== null && status === "done";
  const facts = acceptance === null ? [] : certificateFacts(acceptance);
  const certificate = facts.map(({ name: fact, values, isExact }) => {
    const shown = values.map(
      (value) =>
        markup`<dd class="said">${isExact ? markup`<code>${bounded(value)}</code>` : bounded(value)}</dd>`,
    );
    return markup`<div><dt>${fact}</dt>${shown}</div>`;
  });
  return markup`<article class="task s-${status ?? "gone"}">
<h3><span class="id">${id}</span> ${name ?? ""} <span class="status">${status ?? "gone"}</span></h3>
${isPlain ? NOTHING : markup`<p class="quiet said">${bounded(stands)}</p>`}
<ol>${steps.map(stepMarkup)}</ol>
${acceptance === null ? NOTHING : markup`<div class="certificate"><h4>✔ Certificate</h4><dl>${certificate}</dl></div>`}
</article>
`;
}

function stepMarkup({ iteration, verdict, text }: TaskReport["steps"][number]): Markup {
  if (iteration === null) return markup`<li class="between"><p class="said">${bounded(text)}</p></li>`;
  return markup`<li><span class="verdict t-${verdict ?? "running"}">${verdictWord(verdict)}</span><p class="said"><b>Iteration ${iteration}</b> ${bounded(text)}</p></li>
`;
}

function tableMarkup({ names, rows, sum }: Table): Markup {
  const isNumber = names.map((name) => name.length > 1 && name.startsWith("#"));
  const cell = (text: string, index: number): Markup =>
    isNumber[index] === true ? markup`<td class="number">${text}</td>` : markup`<td>${text}</td>`;
  const head = names.map((name, index) =>
    isNumber[index] === true ? markup`<th class="number">${name.slice(1)}</th>` : markup`<th>${name}</th>`,
  );
  const row = (texts: readonly string[]): Markup => markup`<tr>${texts.map(cell)}</tr>
`;
  return markup`<div class="scrolls" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${head}</tr></thead><tbody>${rows.map(row)}</tbody>${sum === undefined ? NOTHING : markup`<tfoot>${row(sum)}</tfoot>`}</table></div>`;
}
