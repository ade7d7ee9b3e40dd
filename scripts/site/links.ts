import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";

/** Where everything is on the site, and what has to be there because a page points to it. */
export interface Links {
  /** The address that stands on the page of `from` for what its Markdown names. */
  resolve(from: string, target: string): string;
  /** Pictures to copy, by path in the repository. */
  readonly pictures: Set<string>;
  /** Other files that pages point to; each is shown on a page of its own. */
  readonly sources: Set<string>;
}

export function createLinks(root: string, pages: ReadonlySet<string>): Links {
  const pictures = new Set<string>();
  const sources = new Set<string>();
  const fileAt = (path: string): string => {
    const isFolder = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory();
    return isFolder ? posix.join(path, "README.md") : path;
  };
  return {
    pictures,
    sources,
    resolve(from, target) {
      if (/^(?:[a-z]+:|#)/i.test(target)) return target;
      const [path = "", anchor] = target.split("#");
      const file = fileAt(posix.join(posix.dirname(from), path));
      if (!existsSync(join(root, file))) throw new Error(`${from} points to ${target}, which does not exist`);
      const isPicture = /\.(?:png|svg|jpe?g|gif|webp)$/.test(file);
      if (isPicture) pictures.add(file);
      else if (!pages.has(file)) sources.add(file);
      const address = isPicture ? pictureUrl(file) : pages.has(file) ? pageUrl(file) : sourceUrl(file);
      return `${posix.relative(posix.dirname(pageUrl(from)), address)}${anchor === undefined ? "" : `#${anchor}`}`;
    },
  };
}

/** Where the page of a Markdown file lies, from the root of the site. */
export function pageUrl(file: string): string {
  if (file === "README.md") return "overview.html";
  return file
    .replace(/^docs\//, "")
    .replace(/(^|\/)README\.md$/, "$1index.html")
    .replace(/\.md$/, ".html")
    .replace(/^[A-Z]+(?=\.html$)/, (name) => name.toLowerCase());
}

export function sourceUrl(file: string): string {
  return `files/${file}.html`;
}

export function pictureUrl(file: string): string {
  return file.replace(/^docs\//, "");
}
