import { openBlock, type Block } from "./code-and-comments.ts";
import { readHeading } from "./heading.ts";
import { readBullet } from "./read-bullet.ts";
import { scanLines, type Line } from "./scan-lines.ts";

const TITLE_LENGTH_MAX = 80;

/** What a Markdown file calls itself: its first heading, else its first line, bounded. */
export function firstWords(file: Buffer, fallback: string): string {
  const { heading, line } = beginningOf(file);
  const words = heading ?? line?.content;
  return words === undefined ? fallback : bounded(words);
}

/** The same of a list: its first line is no name for all of it when it is an item. */
export function ownTitle(file: Buffer): string | null {
  const { heading, line } = beginningOf(file);
  if (heading !== null) return bounded(heading);
  return line === null || readBullet(line, true) !== null ? null : bounded(line.content);
}

interface Beginning {
  readonly heading: string | null;
  /** The first one that says something. */
  readonly line: Line | null;
}

function beginningOf(file: Buffer): Beginning {
  let block: Block | null = null;
  let first: Line | null = null;
  for (const line of scanLines(file.toString("latin1"))) {
    if (block !== null) {
      if (block.isEnd(line)) block = null;
      continue;
    }
    block = openBlock(line.content, 0);
    if (block !== null) {
      if (block.isOneLine) block = null;
      continue;
    }
    const heading =
      line.indent < 4
        ? readHeading(line.content)
            ?.text.trim()
            .replace(/\s+#+$/, "")
        : undefined;
    if (heading !== undefined && heading !== "") return { heading, line: first };
    if (first === null && line.content !== "") first = line;
  }
  return { heading: null, line: first };
}

function bounded(bytes: string): string {
  const characters = Array.from(Buffer.from(bytes, "latin1").toString("utf8").trim());
  const isLong = characters.length > TITLE_LENGTH_MAX;
  return isLong ? `${characters.slice(0, TITLE_LENGTH_MAX - 1).join("")}…` : characters.join("");
}
