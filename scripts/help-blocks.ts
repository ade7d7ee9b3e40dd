// Topics of `ralph help` in blocks, as the manual page and the site show them.
import { cellsOf } from "../src/cli/commands/help.ts";

/** What the Markdown of a topic is made of. It has no more than this, so that terminal and manual can show all of it. */
export type HelpBlock =
  | { readonly is: "heading"; readonly text: string }
  | { readonly is: "paragraph"; readonly lines: readonly string[] }
  /** Numbered. */
  | { readonly is: "list"; readonly items: readonly string[] }
  | { readonly is: "code"; readonly lines: readonly string[] }
  /** The first row is the head. */
  | { readonly is: "table"; readonly rows: readonly (readonly string[])[] };

export function helpBlocks(markdown: string): readonly HelpBlock[] {
  const lines = markdown.split("\n");
  const blocks: HelpBlock[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    if (line === "") at += 1;
    else if (line.startsWith("```")) {
      const end = lines.indexOf("```", at + 1);
      blocks.push({ is: "code", lines: lines.slice(at + 1, end) });
      at = end + 1;
    } else {
      const end = lines.indexOf("", at);
      const own = lines.slice(at, end === -1 ? lines.length : end);
      blocks.push(proseBlock(own));
      at += own.length;
    }
  }
  return blocks;
}

const NUMBER = /^\d+\. /;

function proseBlock(lines: readonly string[]): HelpBlock {
  const first = lines[0] ?? "";
  if (first.startsWith("#")) return { is: "heading", text: first.replace(/^#+ /, "") };
  if (first.startsWith("|")) {
    const rows = lines.filter((line) => !isDelimiterRow(line)).map(cellsOf);
    return { is: "table", rows };
  }
  if (NUMBER.test(first)) return { is: "list", items: lines.map((line) => line.replace(NUMBER, "")) };
  return { is: "paragraph", lines };
}

/** Whether a line is what separates the head of a table from its rows. */
export function isDelimiterRow(line: string): boolean {
  return /^\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/.test(line);
}
