import { highlight } from "./highlight.ts";
import { escapeHtml } from "./html.ts";
import { childrenOf, wordsOf, type Code, type MarkdownNode, type Grid } from "./markdown.ts";

/** What a page knows that its nodes do not. */
export interface RenderContext {
  readonly address: (target: string) => string;
  readonly idOf: (heading: MarkdownNode) => string;
  /** Width and height of a picture, so that nothing jumps when it comes. */
  readonly sizeOf: (target: string) => readonly [width: number, height: number] | null;
}

/** A node of Markdown as HTML. What nobody has thought of is an error, not a gap in a page. */
export function render(node: MarkdownNode, context: RenderContext): string {
  const inner = (): string => renderAll(childrenOf(node), context);
  switch (node.type) {
    case "text":
      return escapeHtml(node.value);
    case "inlineCode":
      return `<code>${escapeHtml(node.value)}</code>`;
    case "emphasis":
      return `<em>${inner()}</em>`;
    case "strong":
      return `<strong>${inner()}</strong>`;
    case "break":
      return "<br>";
    case "thematicBreak":
      return "<hr>\n";
    case "link":
      return `<a href="${escapeHtml(context.address(node.url))}">${inner()}</a>`;
    case "image":
      return picture(node.url, node.alt ?? "", context);
    case "paragraph": {
      const [only] = node.children;
      if (node.children.length === 1 && only?.type === "image")
        return `<figure>${inner()}<figcaption>${escapeHtml(only.alt ?? "")}</figcaption></figure>\n`;
      return `<p>${inner()}</p>\n`;
    }
    case "heading":
      return heading(node, context);
    case "blockquote":
      return `<blockquote>${inner()}</blockquote>\n`;
    case "list":
      return node.ordered === true ? `<ol>${inner()}</ol>\n` : `<ul>${inner()}</ul>\n`;
    case "listItem":
      return `<li>${renderItem(node, context)}</li>`;
    case "code":
      return codeBlock(node);
    case "grid":
      return table(node, context);
    case "html":
      if (node.value.startsWith("<!--")) return "";
      throw new Error(`raw HTML is not put onto the site: ${node.value}`);
    default:
      throw new Error(`Markdown of the type ${node.type} is not known to the site`);
  }
}

export function renderAll(nodes: readonly MarkdownNode[], context: RenderContext): string {
  return nodes.map((node) => render(node, context)).join("");
}

/** The one paragraph of an item needs no box of its own. */
function renderItem(item: MarkdownNode, context: RenderContext): string {
  return childrenOf(item)
    .map((child, at) =>
      child.type === "paragraph" && at === 0 ? renderAll(child.children, context) : render(child, context),
    )
    .join("");
}

function heading(node: Extract<MarkdownNode, { type: "heading" }>, context: RenderContext): string {
  const text = renderAll(node.children, context);
  if (node.depth === 1) return `<h1>${text}</h1>\n`;
  const id = context.idOf(node);
  const label = escapeHtml(`Link to ${wordsOf(node)}`);
  return `<h${node.depth} id="${id}">${text} <a class="anchor" href="#${id}" aria-label="${label}">#</a></h${node.depth}>\n`;
}

function codeBlock({ lang, value }: Code): string {
  const isSession = value.startsWith("$ ") && (lang ?? "text") === "text";
  const language = isSession ? "console" : (lang ?? "text");
  return `<div class="code" data-language="${escapeHtml(language)}"><pre tabindex="0"><code>${highlight(value, language)}</code></pre></div>\n`;
}

/** In a frame of its own: a wide table scrolls there, never the page. */
function table({ head, rows }: Grid, context: RenderContext): string {
  const hasHead = head.some((cell) => cell.length > 0);
  const headCell = (cell: readonly MarkdownNode[]): string =>
    cell.length === 0 ? "<td></td>" : `<th scope="col">${renderAll(cell, context)}</th>`;
  const top = hasHead ? `<thead><tr>${head.map(headCell).join("")}</tr></thead>` : "";
  const row = (cells: readonly (readonly MarkdownNode[])[]): string =>
    `<tr>${cells.map((cell) => `<td>${renderAll(cell, context)}</td>`).join("")}</tr>`;
  const columns = head.map((cell) => cell.map(wordsOf).join("")).filter((words) => words !== "");
  const label = escapeHtml(columns.length === 0 ? "Table" : `Table: ${columns.join(", ")}`);
  return `<div class="table" tabindex="0" role="group" aria-label="${label}"><table>${top}<tbody>${rows.map(row).join("\n")}</tbody></table></div>\n`;
}

function picture(target: string, alt: string, { address, sizeOf }: RenderContext): string {
  const size = sizeOf(target);
  const dimensions = size === null ? "" : ` width="${size[0]}" height="${size[1]}"`;
  return `<img src="${escapeHtml(address(target))}" alt="${escapeHtml(alt)}"${dimensions} loading="lazy">`;
}
