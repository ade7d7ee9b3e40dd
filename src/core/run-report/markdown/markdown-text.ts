import { printable } from "../printable.ts";

/** One line of plain text: nothing in it is markup, wherever it stands. */
export function plain(text: string): string {
  return printable(text)
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*[\]<>|~]/g, String.raw`\$&`)
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
    .replace(/&(?=#?\w+;)/g, String.raw`\&`)
    .replace(/^(?=[#+=-])/, "\\")
    .replace(/^(\d+)(?=[.)])/, "$1\\");
}

/** Something to type or to look for, as it is. */
export function code(text: string): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
  const runs = line.match(/`+/g)?.map(({ length }) => length) ?? [];
  const fence = "`".repeat(Math.max(0, ...runs) + 1);
  const isTouching = line.startsWith("`") || line.endsWith("`");
  return isTouching ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}

/** Cells are markdown already; a name that begins with "#" is one of numbers. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const isNumber = (name: string): boolean => name.length > 1 && name.startsWith("#");
  const shown = names.map((name) => (isNumber(name) ? name.slice(1) : name));
  return [
    row(shown),
    row(names.map((name) => (isNumber(name) ? "---:" : "---"))),
    ...rows.map((cells) => row(cells.map(inCell))),
    "",
  ];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** A table is cut at its bars before anything else is read, even inside code. */
function inCell(text: string): string {
  return text.replace(/(?<!\\)((?:\\\\)*)\|/g, String.raw`$1\|`);
}
