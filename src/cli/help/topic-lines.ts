import type { Style } from "../print/style.ts";
import { helpBlocks, type HelpBlock } from "./help-blocks.ts";

/** A topic for the terminal; `root` is where the pages lie that it names. */
export function topicLines(markdown: string, style: Style, root: string): readonly string[] {
  const lines = helpBlocks(markdown).flatMap((block, at) => [
    ...(at === 0 ? [] : [""]),
    ...blockLines(block, style),
  ]);
  const namesPages = lines.some((line) => line.startsWith("More: "));
  return namesPages ? [...lines, style.dim(`These pages are in ${root}`)] : lines;
}

function blockLines(block: HelpBlock, style: Style): readonly string[] {
  switch (block.is) {
    case "heading":
      return [style.bold(block.text)];
    case "paragraph":
      return block.lines.map((line) => inline(line, style));
    case "list":
      return block.items.map((item, at) => `  ${at + 1}. ${inline(item, style)}`);
    case "code":
      return block.lines.map((line) => (line === "" ? "" : `    ${line}`));
    case "table":
      return tableLines(block.rows, style);
  }
}

function tableLines(rows: readonly (readonly string[])[], style: Style): readonly string[] {
  const plain = rows.map((row) => row.map(withoutMarks));
  const widths = (plain[0] ?? []).map((_, column) =>
    Math.max(...plain.map((row) => row[column]?.length ?? 0)),
  );
  return plain.map((row, at) => {
    const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
    return `  ${at === 0 ? style.dim(line.trimEnd()) : line.trimEnd()}`;
  });
}

/** Code is set off by weight where the terminal has it, links say where they lead. */
function inline(text: string, style: Style): string {
  const linked = withLinks(text);
  return style.bold("x") === "x"
    ? linked
    : linked.replaceAll(/`([^`]+)`/g, (_, code: string) => style.bold(code));
}

/** In a table the columns show what is what. */
function withoutMarks(text: string): string {
  return withLinks(text).replaceAll("`", "");
}

/** A page of the documentation is named from the root of the repository. */
export function withLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (_, words: string, to: string) => {
    const path = to.startsWith("../../") ? to.slice("../../".length) : to.replace(/^\.\.\//, "docs/");
    return `${words} (${path})`;
  });
}
