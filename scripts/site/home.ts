import { escapeHtml } from "./html.ts";
import { documentOf, type NavGroup } from "./layout.ts";
import type { Page } from "./read-page.ts";

const CARD_LINKS = 5;

/** The front page: what the overview begins with, and a way into every group. */
export function homeDocument(overview: Page, groups: readonly NavGroup[]): string {
  const [intro = ""] = overview.html.split("<h2");
  const { words, shown, figure } = partsOf(intro);
  const first = groups[0]?.pages[0]?.url ?? overview.url;
  return documentOf({
    url: "index.html",
    title: "Ralph",
    description: overview.lead.slice(0, 200),
    groups,
    bodyClass: "home",
    main: `<div class="hero">
<h1>Coding agents in a loop,<br>believed only when <em>checked</em>.</h1>
${words}
<p class="act"><a class="primary" href="${first}">Get started</a> <a href="${overview.url}">Overview</a></p>
</div>
${shown}
<ul class="cards">
${groups.map(card).join("\n")}
</ul>
${figure}`,
  });
}

/** The overview's own first words, its sample of a run and its picture. */
function partsOf(intro: string): { readonly words: string; readonly shown: string; readonly figure: string } {
  const shown = /<div class="code"[\s\S]*?<\/pre><\/div>/.exec(intro)?.[0] ?? "";
  const figure = /<figure>[\s\S]*?<\/figure>/.exec(intro)?.[0] ?? "";
  const words = /<p>[\s\S]*?<\/p>/.exec(intro)?.[0] ?? "";
  return { words, shown, figure };
}

function card({ name, summary, pages }: NavGroup): string {
  const links = pages
    .slice(0, CARD_LINKS)
    .map(({ url, title }) => `<li><a href="${url}">${escapeHtml(title)}</a></li>`);
  const more = pages.length - CARD_LINKS;
  const rest = more > 0 ? `<li class="more">and ${more} more</li>` : "";
  return `<li><h2>${escapeHtml(name)}</h2><p>${escapeHtml(summary)}</p><ul>${links.join("")}${rest}</ul></li>`;
}
