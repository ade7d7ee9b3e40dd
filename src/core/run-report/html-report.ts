import { count } from "../projections/explain-words.ts";
import type { Charts, IterationRow } from "../projections/run-list.ts";
import { formatDuration } from "../time.ts";
import { markup, type Markup, NOTHING, page } from "./page.ts";
import type { Acceptance, ReportStep, RunReport, TaskReport, Waiting } from "./run-report.ts";
import { barChart, countChart, lineChart, timelineLegend, timelineSvg } from "./svg.ts";
import {
  bounded,
  certificateFacts,
  costInWords,
  MARKS,
  moment,
  money,
  RULINGS,
  timeOfDay,
  title,
  WAITING_VERBS,
  whyInWords,
} from "./words.ts";

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

/** What it wants from a person, with the command to type. */
export function waitingMarkup({ waiting, next, isLatest }: RunReport): Markup {
  const onward = next === null ? NOTHING : markup`<p class="next">Next: ${next}</p>`;
  if (waiting.length === 0)
    return markup`<section class="waiting"><h2>Waiting for you</h2><p>${isLatest ? "Nothing waits for you." : "Nothing waited when it ended."}</p>${onward}</section>`;
  return markup`<section class="waiting">
<h2>${isLatest ? "Waiting for you" : "What waited for a person when it ended"}</h2>
<ul>${waiting.map(item)}</ul>
${isLatest ? onward : markup`<p class="quiet">Other runs came after it; how things stand now: <code>ralph inbox</code></p>`}
</section>`;
}

function item({ task, is, text, more, command }: Waiting): Markup {
  return markup`<li><p><strong>${task}</strong> ${WAITING_VERBS[is]}: <span class="said">${bounded(text)}</span></p>${more === "" ? NOTHING : markup`<p class="quiet">${bounded(more)}</p>`}<pre><code>${command}</code></pre></li>
`;
}

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

/** From here on a browser lays out only those that are looked at. */
const MANY = 200;

/** Each task with its verdicts and, when it was accepted, its certificate. */
export function tasksMarkup({ tasks }: RunReport): Markup {
  const begun = tasks.filter(({ steps }) => steps.length > 0);
  const others = tasks.filter(({ steps }) => steps.length === 0);
  return markup`<section class="${begun.length > MANY ? "many" : "tasks"}">
<h2>Tasks</h2>
${begun.length === 0 ? markup`<p>No task was worked on.</p>` : begun.map(taskMarkup)}
</section>
${others.length === 0 ? NOTHING : untouched(others)}`;
}

function taskMarkup({ id, title, status, steps, stands, acceptance }: TaskReport): Markup {
  const isPlain = acceptance !== null && status === "done";
  return markup`<article class="task s-${status ?? "gone"}">
<h3><span class="id">${id}</span> ${title ?? ""} <span class="status">${status ?? "gone"}</span></h3>
${isPlain ? NOTHING : markup`<p class="quiet said">${bounded(stands)}</p>`}
<ol>${steps.map(stepMarkup)}</ol>
${acceptance === null ? NOTHING : certificateMarkup(acceptance)}
</article>
`;
}

function stepMarkup({ iteration, verdict, text }: ReportStep): Markup {
  if (iteration === null) return markup`<li class="between"><p class="said">${bounded(text)}</p></li>`;
  const kind = verdict ?? "open";
  return markup`<li><span class="verdict t-${kind}"><span aria-hidden="true">${MARKS[kind]}</span> ${RULINGS[kind]}</span><p class="said"><b>Iteration ${iteration}</b> ${bounded(text)}</p></li>
`;
}

function certificateMarkup(acceptance: Acceptance): Markup {
  const facts = certificateFacts(acceptance).map(({ name, values, isExact }) => {
    const shown = values.map((value) =>
      isExact
        ? markup`<dd class="said"><code>${bounded(value)}</code></dd>`
        : markup`<dd class="said">${bounded(value)}</dd>`,
    );
    return markup`<div><dt>${name}</dt>${shown}</div>`;
  });
  return markup`<div class="certificate"><h4>✓ Certificate</h4><dl>${facts}</dl></div>`;
}

const OTHERS_SHOWN = 200;

function untouched(tasks: readonly TaskReport[]): Markup {
  const open = tasks.filter(({ status }) => status !== "done");
  const done = tasks.length - open.length;
  const more = open.length - OTHERS_SHOWN;
  return markup`<section>
<h2>Not worked on in this run</h2>
${done === 0 ? NOTHING : markup`<p>${count(done, "task was", "tasks were")} done before.</p>`}
${
  open.length === 0
    ? NOTHING
    : markup`<div class="scrolls" tabindex="0" role="region" aria-label="Tasks not worked on"><table><thead><tr><th>Task</th><th>Title</th><th>Where it stands</th></tr></thead><tbody>${open
        .slice(0, OTHERS_SHOWN)
        .map(
          ({
            id,
            title,
            stands,
          }) => markup`<tr><td>${id}</td><td>${title ?? ""}</td><td class="said">${bounded(stands)}</td></tr>
`,
        )}</tbody></table></div>`
}
${more > 0 ? markup`<p class="quiet">And ${more} more.</p>` : NOTHING}
</section>`;
}

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
