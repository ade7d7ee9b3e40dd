import { countChart } from "../../core/run-report/svg.ts";
import { markup, NOTHING, type Markup, page } from "../../core/run-report/page.ts";
import {
  durationInWords,
  limitInWords,
  lossInWords,
  recoveryInWords,
  savingInWords,
  timeoutInWords,
  type HistoryFindings,
  type LimitFinding,
  type TimeoutFinding,
} from "../history/history-findings.ts";

/** What a history says about limits, on one page. */
export function historyPage(findings: HistoryFindings): string {
  const { iterations, tasks, completed, limits, timeouts, recoveries, unknown } = findings;
  const main = markup`<header class="o-completed">
<p class="over">ralph eval --from-history</p>
<h1>Which limits would have saved what</h1>
<p class="why">${iterations} iterations on ${tasks} tasks, ${completed} of them done.</p>
</header>
${limits.map(limitMarkup)}
${timeouts.map(timeoutMarkup)}
<section><h2>After a mistake</h2>${paragraphs(recoveries.flatMap(recoveryInWords))}</section>
<section><h2>What nobody can know from this</h2>${paragraphs(unknown)}</section>`;
  return page(
    "Which limits would have saved what",
    main,
    markup`Made by <code>ralph eval --from-history --html</code>.`,
  );
}

function limitMarkup(finding: LimitFinding): Markup {
  const { setting, what, values } = finding;
  return markup`<section>
<h2>${setting}</h2>
<p>The most ${what}. ${limitInWords(finding)}</p>
${values.length === 0 ? NOTHING : chartsOf(finding)}
</section>`;
}

function chartsOf({ setting, values }: LimitFinding): Markup {
  const bars = values.map(({ value, saved }) => ({ name: `${setting} = ${value}`, count: saved.iterations }));
  return markup`<div class="charts"><figure><figcaption>Iterations saved</figcaption>${countChart(bars, `Iterations saved by ${setting}`)}</figure>
<figure><figcaption>At what price</figcaption><table><thead><tr><th>Value</th><th>Saved</th><th>Lost</th></tr></thead>
<tbody>${values.map((value) => markup`<tr><td>${value.value}</td><td>${savingInWords(value.saved)}</td><td>${lossInWords(value)}</td></tr>`)}</tbody></table></figure></div>`;
}

function timeoutMarkup(finding: TimeoutFinding): Markup {
  const rows = finding.caps.map(
    ({ seconds, saved, cutOff }) =>
      markup`<tr><td>${durationInWords(seconds)}</td><td>${savingInWords(saved)}</td><td class="number">${cutOff}</td></tr>`,
  );
  const table = markup`<table><thead><tr><th>Timeout</th><th>Saved</th><th class="number">Iterations with progress cut off</th></tr></thead><tbody>${rows}</tbody></table>`;
  return markup`<section>
<h2>Timeout of ${finding.complexity} tasks</h2>
${paragraphs(timeoutInWords(finding))}
${rows.length === 0 ? NOTHING : table}
</section>`;
}

function paragraphs(sentences: readonly string[]): readonly Markup[] {
  return sentences.map((sentence) => markup`<p>${sentence}</p>`);
}
