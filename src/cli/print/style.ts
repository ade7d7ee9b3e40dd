import colors from "yoctocolors";
import { PLAIN, type Style } from "../../core/text.ts";
import { stripEscapes, SUSPICIOUS } from "../../core/words/strip-escapes.ts";

const COLOURED: Style = {
  bold: colors.bold,
  dim: colors.dim,
  good: colors.green,
  bad: colors.red,
  ask: colors.yellow,
};

/** Colour only on a terminal, and never against the wish of `NO_COLOR`. */
export function styleFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Style {
  return stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb" ? COLOURED : PLAIN;
}

/**
 * From now on nothing that agents, files or people wrote moves the terminal: of all escapes only our colours pass, and
 * the rewriting of a line where a write begins with it.
 */
export function guardOutput(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  stream.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === "string" ? guarded(chunk, stream.isTTY) : chunk, ...rest);
}

export function guarded(text: string, isTerminal: boolean): string {
  if (!SUSPICIOUS.test(text) && !text.includes("\r")) return text;
  const start = isTerminal && text.startsWith(REWRITE) ? REWRITE : "";
  const parts = text.slice(start.length).split(OWN_COLOURS);
  const clean = parts.map((part, at) => {
    if (at % 2 === 1) return isTerminal ? part : "";
    return stripEscapes(part).replaceAll(/\r(?!\n)/g, " ");
  });
  return start + clean.join("");
}

export const REWRITE = "\r\u001b[2K";
// oxlint-disable-next-line no-control-regex -- escapes are what it is about
const OWN_COLOURS = /(\u001b\[(?:[12]|22|3[1239])m)/;

/** Rows of cells as lines, every column as wide as its widest cell; the last one is as it is. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

/** One line of at most so many characters. */
export function shortened(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}

/** What a line may be wide; longer words stand alone. */
const WIDTH = 100;

/** Breaks a text into lines; those after the first begin below the first word after `lead`. */
export function wrap(lead: string, text: string, width = WIDTH): readonly string[] {
  const indent = " ".repeat(lead.length);
  const lines: string[] = [];
  let line = lead;
  let isFresh = true;
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    if (!isFresh && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent;
      isFresh = true;
    }
    line += isFresh ? word : ` ${word}`;
    isFresh = false;
  }
  return [...lines, line];
}
