import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { articleDocument } from "./article.ts";
import { contentsOf } from "./contents.ts";
import { highlight } from "./highlight.ts";
import { homeDocument } from "./home.ts";
import { escapeHtml } from "./html.ts";
import { documentOf, type NavGroup } from "./layout.ts";
import { createLinks, pictureUrl, sourceUrl } from "./links.ts";
import { readPage } from "./read-page.ts";
import { searchIndex } from "./search-index.ts";

const ASSETS = join(import.meta.dirname, "assets");

/** Makes the documentation of the repository at `root` into a folder of pages; answers how many there are. */
export function buildSite(root: string, folder: string): number {
  const contents = contentsOf(root);
  const links = createLinks(root, new Set(contents.flatMap(({ files }) => files)));
  const groups: readonly NavGroup[] = contents.map(({ name, summary, files }) => ({
    name,
    summary,
    pages: files.map((file) => readPage(root, file, links)),
  }));
  rmSync(folder, { recursive: true, force: true });
  const put = (url: string, text: string): void => {
    mkdirSync(dirname(join(folder, url)), { recursive: true });
    writeFileSync(join(folder, url), text);
  };
  const entries = groups.flatMap(({ name, pages }) => pages.map((page) => ({ page, group: name })));
  for (const { page, group } of entries) put(page.url, articleDocument(page, group, groups));
  const overview = entries.find(({ page }) => page.file === "README.md")?.page;
  if (overview === undefined) throw new Error("there is no README.md");
  put("index.html", homeDocument(overview, groups));
  put("search-index.js", searchIndex(entries));
  for (const file of links.sources) put(sourceUrl(file), sourceDocument(root, file, groups));
  for (const file of links.pictures) cpSync(join(root, file), join(folder, pictureUrl(file)));
  cpSync(ASSETS, folder, { recursive: true });
  return entries.length;
}

/** A file that is no page, shown as it is. */
function sourceDocument(root: string, file: string, groups: readonly NavGroup[]): string {
  const text = readFileSync(join(root, file), "utf8");
  const language = /\.(sh|ts|json|toml)$/.exec(file)?.[1] ?? "text";
  return documentOf({
    url: sourceUrl(file),
    title: file,
    description: file,
    groups,
    main: `<p class="group">File</p>
<article><h1>${escapeHtml(file)}</h1>
<div class="code" data-language="${language}"><pre tabindex="0"><code>${highlight(text, language)}</code></pre></div></article>`,
  });
}
