/** A line of a file whose bytes are taken as characters, one each: every offset is a byte's. */
export interface Line {
  /** From one, for people. */
  readonly number: number;
  readonly start: number;
  /** Without its ending. */
  readonly text: string;
  /** Columns of white space at its beginning; a tab reaches to the next fourth. */
  readonly indent: number;
  /** The line without that white space. */
  readonly content: string;
  /** Of `content`. */
  readonly contentStart: number;
}

/** All lines of a Markdown file that its front matter and byte order mark do not take. */
export function scanLines(bytes: string): Line[] {
  const lines: Line[] = [];
  const from = bytes.startsWith("\xEF\xBB\xBF") ? 3 : 0;
  const ending = /\r\n|\n|\r/g;
  ending.lastIndex = from;
  for (let start = from; start < bytes.length;) {
    const match = ending.exec(bytes);
    lines.push(lineAt(lines.length + 1, start, bytes.slice(start, match?.index)));
    start = match === null ? bytes.length : ending.lastIndex;
  }
  return lines.slice(frontMatterLines(lines));
}

/** Where the column of an offset in a line is, from the column where it began. */
export function columnAfter(space: string, column: number): number {
  let at = column;
  for (const character of space) at += character === "\t" ? 4 - (at % 4) : 1;
  return at;
}

function lineAt(number: number, start: number, text: string): Line {
  let length = 0;
  while (text[length] === " " || text[length] === "\t") length += 1;
  const indent = columnAfter(text.slice(0, length), 0);
  return { number, start, text, indent, content: text.slice(length), contentStart: start + length };
}

function frontMatterLines(lines: readonly Line[]): number {
  if (!/^---[ \t]*$/.test(lines[0]?.text ?? "")) return 0;
  const end = lines.findIndex((line, at) => at > 0 && /^(---|\.\.\.)[ \t]*$/.test(line.text));
  return end + 1;
}
