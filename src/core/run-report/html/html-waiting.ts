import type { RunReport } from "../run-report.ts";
import type { Waiting } from "../waiting.ts";
import { bounded } from "../words.ts";
import { markup, NOTHING, type Markup } from "./markup.ts";

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

const WHAT: Readonly<Record<Waiting["is"], string>> = {
  question: "asks",
  blocked: "is blocked",
  merge: "cannot be merged",
};

function item({ task, is, text, more, command }: Waiting): Markup {
  return markup`<li><p><strong>${task}</strong> ${WHAT[is]}: <span class="said">${bounded(text)}</span></p>${more === "" ? NOTHING : markup`<p class="quiet">${bounded(more)}</p>`}<pre><code>${command}</code></pre></li>
`;
}
