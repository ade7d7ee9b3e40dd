import { count } from "../../projections/explain-words.ts";
import { certificateFacts } from "../certificate-facts.ts";
import type { RunReport } from "../run-report.ts";
import type { Acceptance, ReportStep, TaskReport } from "../task-report.ts";
import { bounded, MARKS, RULINGS } from "../words.ts";
import { markup, NOTHING, type Markup } from "./markup.ts";

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
  const facts = certificateFacts(acceptance).map(({ name, value, isExact }) => {
    const shown = isExact ? markup`<code>${bounded(value)}</code>` : markup`${bounded(value)}`;
    return markup`<div><dt>${name}</dt><dd class="said">${shown}</dd></div>`;
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
