import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { pageUrl, type Links } from "./links.ts";
import { readMarkdown, wordsOf, type Heading, type MarkdownNode } from "./markdown.ts";
import { renderAll, type RenderContext } from "./render.ts";
import { slugger } from "./slugs.ts";

export interface Section {
  /** Empty for what stands before the first heading below the title. */
  readonly id: string;
  readonly heading: string;
  readonly depth: number;
  readonly text: string;
}

export interface Page {
  /** Its Markdown, by path in the repository. */
  readonly file: string;
  /** From the root of the site. */
  readonly url: string;
  readonly title: string;
  /** Its first words. */
  readonly lead: string;
  readonly html: string;
  readonly sections: readonly Section[];
}

export function readPage(root: string, file: string, links: Links): Page {
  const nodes = readMarkdown(readFileSync(join(root, file), "utf8"));
  const title = nodes.find((node) => node.type === "heading" && node.depth === 1);
  if (title === undefined) throw new Error(`${file} has no title`);
  const lead = nodes.find((node) => node.type === "paragraph");
  const ids = headingIds(nodes);
  const context: RenderContext = {
    address: (target) => links.resolve(file, target),
    idOf: (heading) => ids.get(heading) ?? "",
    sizeOf: (target) => pngSize(join(root, posix.dirname(file), target)),
  };
  return {
    file,
    url: pageUrl(file),
    title: file === "README.md" ? "Overview" : wordsOf(title),
    lead: lead === undefined ? "" : plain(wordsOf(lead)),
    html: renderAll(nodes, context),
    sections: sectionsOf(nodes, ids),
  };
}

function headingIds(nodes: readonly MarkdownNode[]): ReadonlyMap<MarkdownNode, string> {
  const slug = slugger();
  return new Map(nodes.filter(isHeading).map((heading) => [heading, slug(wordsOf(heading))]));
}

function isHeading(node: MarkdownNode): node is Heading {
  return node.type === "heading";
}

/** The page, cut at its headings. */
function sectionsOf(
  nodes: readonly MarkdownNode[],
  ids: ReadonlyMap<MarkdownNode, string>,
): readonly Section[] {
  const sections: Section[] = [];
  let from = 0;
  for (let to = 1; to <= nodes.length; to += 1) {
    const next = nodes[to];
    if (next !== undefined && !isHeading(next)) continue;
    const head = nodes[from];
    if (head !== undefined && isHeading(head)) {
      const body = nodes.slice(from + 1, to).filter((node) => node.type !== "html");
      sections.push({
        id: head.depth === 1 ? "" : (ids.get(head) ?? ""),
        heading: wordsOf(head),
        depth: head.depth,
        text: plain(body.map(wordsOf).join(" ")),
      });
    }
    from = to;
  }
  return sections;
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function pngSize(path: string): readonly [number, number] | null {
  if (!path.endsWith(".png")) return null;
  const header = readFileSync(path).subarray(16, 24);
  return [header.readUInt32BE(0), header.readUInt32BE(4)];
}
