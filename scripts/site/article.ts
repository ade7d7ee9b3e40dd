import { escapeHtml } from "./html.ts";
import { documentOf, rootFrom, type NavGroup } from "./layout.ts";
import type { Page } from "./read-page.ts";

/** A page of the documentation, between the one before and the one after it. */
export function articleDocument(page: Page, group: string, groups: readonly NavGroup[]): string {
  const all = groups.flatMap(({ pages }) => pages);
  const at = all.indexOf(page);
  const root = rootFrom(page.url);
  const way = [
    neighbour(all[at - 1], "Previous", "prev", root),
    neighbour(all[at + 1], "Next", "next", root),
  ];
  return documentOf({
    url: page.url,
    title: page.title,
    description: page.lead.slice(0, 200),
    groups,
    main: `<p class="group">${escapeHtml(group)}</p>
<article>
${page.html}</article>
<nav class="way" aria-label="Neighbouring pages">${way.join("")}</nav>
<p class="made">Made from <code>${escapeHtml(page.file)}</code></p>`,
    aside: tableOfContents(page),
  });
}

function neighbour(page: Page | undefined, word: string, rel: string, root: string): string {
  if (page === undefined) return "";
  return `<a rel="${rel}" href="${root}${page.url}"><small>${word}</small>${escapeHtml(page.title)}</a>`;
}

const ENOUGH_HEADINGS = 2;

function tableOfContents({ sections }: Page): string {
  const listed = sections.filter(({ depth }) => depth === 2 || depth === 3);
  if (listed.length < ENOUGH_HEADINGS) return "";
  const items = listed.map(
    ({ id, heading, depth }) => `<li class="d${depth}"><a href="#${id}">${escapeHtml(heading)}</a></li>`,
  );
  return `<nav class="toc" aria-label="On this page"><details open><summary>On this page</summary><ul>${items.join("")}</ul></details></nav>`;
}
