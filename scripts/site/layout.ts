import { posix } from "node:path";
import { escapeHtml } from "./html.ts";
import type { Page } from "./read-page.ts";

export interface NavGroup {
  readonly name: string;
  readonly summary: string;
  readonly pages: readonly Page[];
}

export interface Shell {
  /** From the root of the site. */
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly groups: readonly NavGroup[];
  readonly main: string;
  /** What stands beside the text. */
  readonly aside?: string;
  readonly bodyClass?: string;
}

const LOGO = `<svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><path d="M26 16a10 10 0 1 1-3.2-7.3" fill="none" stroke="currentColor" stroke-width="3.4" stroke-linecap="round"/><path d="M23.6 3.2v6.2h-6.2" fill="none" stroke="currentColor" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"/><path d="M11.6 16.4l3.2 3.2 5.8-6.4" fill="none" stroke="var(--good)" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** A whole document: what every page has, around what this one says. */
export function documentOf(shell: Shell): string {
  const { url, title, description, groups, main, aside = "", bodyClass = "" } = shell;
  const root = rootFrom(url);
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title === "Ralph" ? "Ralph" : `${title} · Ralph`)}</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="stylesheet" href="${root}site.css">
<script>try { document.documentElement.dataset.theme = localStorage.getItem("ralph-theme") ?? ""; } catch {}</script>
<script src="${root}site.js" defer></script>
</head>
<body class="${bodyClass}">
<a class="skip" href="#content">Skip to the text</a>
<header class="top">
<button type="button" class="menu" aria-expanded="false" aria-controls="side">Menu</button>
<a class="brand" href="${root}index.html">${LOGO}<span>Ralph</span></a>
<button type="button" class="find" aria-haspopup="dialog">Search <kbd>/</kbd></button>
<button type="button" class="theme" aria-label="Switch between light and dark"></button>
</header>
<div class="columns">
<nav id="side" class="side" aria-label="Pages">
${groups.map((group) => groupHtml(group, url, root)).join("\n")}
</nav>
${aside}
<main id="content" tabindex="-1">
${main}
</main>
</div>
${SEARCH_DIALOG}
</body>
</html>
`;
}

const SEARCH_DIALOG = `<dialog class="search" aria-label="Search">
<input type="text" enterkeyhint="search" placeholder="Search the documentation" aria-label="Search the documentation" autocomplete="off" spellcheck="false">
<p class="count" role="status"></p>
<ul class="results"></ul>
<form method="dialog"><button class="close">Close</button></form>
</dialog>`;

/** Which pages are always in sight; the others open when one is on a page of theirs. */
const OPEN = ["Start", "Guides by task"];

function groupHtml({ name, pages }: NavGroup, url: string, root: string): string {
  const isHere = pages.some((page) => page.url === url);
  const items = pages.map(
    (page) =>
      `<li><a href="${root}${page.url}"${page.url === url ? ' aria-current="page"' : ""}>${escapeHtml(page.title)}</a></li>`,
  );
  const open = isHere || OPEN.includes(name) ? " open" : "";
  return `<details${open}><summary>${escapeHtml(name)}</summary><ul>${items.join("")}</ul></details>`;
}

/** `../` as often as it takes to come from a page to the root of the site. */
export function rootFrom(url: string): string {
  const way = posix.relative(posix.dirname(url), ".");
  return way === "" ? "" : `${way}/`;
}
