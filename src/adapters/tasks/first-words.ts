import { openBlock, type Block } from "./code-and-comments.ts";
import { readHeading } from "./heading.ts";
import { scanLines } from "./scan-lines.ts";

const TITLE_LENGTH_MAX = 80;

/** What a Markdown file calls itself: its first heading, else its first line, bounded. */
export function firstWords(file: Buffer, fallback: string): string {
  const lines = scanLines(file.toString("latin1"));
  let block: Block | null = null;
  let first: string | null = null;
  for (const line of lines) {
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
    if (heading !== undefined && heading !== "") return bounded(heading);
    if (first === null && line.content !== "") first = line.content;
  }
  return bounded(first ?? fallback);
}

function bounded(bytes: string): string {
  const characters = Array.from(Buffer.from(bytes, "latin1").toString("utf8").trim());
  const isLong = characters.length > TITLE_LENGTH_MAX;
  return isLong ? `${characters.slice(0, TITLE_LENGTH_MAX - 1).join("")}…` : characters.join("");
}
