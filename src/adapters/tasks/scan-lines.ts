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
function columnAfter(space: string, column: number): number {
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

interface Heading {
  readonly level: number;
  readonly text: string;
}

/** The text is bytes still. */
export function readHeading(content: string): Heading | null {
  const level = /^#{1,6}(?=[ \t]|$)/.exec(content)?.[0].length;
  if (level === undefined) return null;
  return { level, text: content.slice(level) };
}

/** Whether what stands below such a heading may stay undone: "Optional", "Future work", "Nice-to-have: …". */
export function isOptionalHeading(text: string): boolean {
  const words = text
    .slice(0, LENGTH_MAX)
    .toLowerCase()
    .replaceAll(/[*_`#]/g, "")
    .trim();
  if (/\((optional|later|future|stretch|nice[ -]to[ -]have)\)$/.test(words)) return true;
  const plain = words.replace(/^[^\p{L}]+/u, "").replace(/^(phase|part|step|milestone) [\w.]+[^\p{L}]+/u, "");
  return OPTIONAL.test(plain);
}

const LENGTH_MAX = 200;

/** "Optional chaining" is a feature, so only certain words may follow. */
const OPTIONAL = new RegExp(
  "^(optional|future|nice[ -]to[ -]haves?|later|backlog|stretch)" +
    "( (work|items?|tasks?|goals?|ideas?|features?|improvements?|enhancements?|extras?|plans?|steps?|things|stuff|todos?|additions?|scope|on))?" +
    "([^\\p{L}\\p{N}]*$|\\s*[:(/,&]|\\s+[–—-]\\s|\\s+(and|or)\\s)",
  "u",
);

export interface Bullet {
  /** Where its content begins; what is indented as far belongs to it. */
  readonly column: number;
  readonly box: Box | null;
  /** Without bullet and box. */
  readonly text: string;
}

interface Box {
  /** Of the character between the brackets, in the line's content. */
  readonly at: number;
  readonly isTicked: boolean;
}

/** In the middle of a paragraph a number other than one is only a number. */
export function readBullet({ content, indent }: Line, mayHaveAnyNumber: boolean): Bullet | null {
  const marker = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/.exec(content)?.[0];
  if (marker === undefined) return null;
  if (!mayHaveAnyNumber && /^\d/.test(marker) && Number.parseInt(marker, 10) !== 1) return null;
  const space = /^[ \t]*/.exec(content.slice(marker.length))?.[0] ?? "";
  const textAt = marker.length + space.length;
  const text = content.slice(textAt);
  const from = indent + marker.length;
  const to = columnAfter(space, from);
  // So far to the right it is code that the item begins with.
  if (text === "" || to - from > 4) return { column: from + 1, box: null, text };
  const [boxText, mark] = /^\[([ \txX])\][ \t]+(?=\S)/.exec(text) ?? [];
  if (boxText === undefined || mark === undefined) return { column: to, box: null, text };
  const box = { at: textAt + 1, isTicked: mark === "x" || mark === "X" };
  return { column: to, box, text: text.slice(boxText.length) };
}

/** Lines that are taken as they are. */
export interface Block {
  readonly is: "code" | "comment";
  /** Of the list item it stands in; code ends with its item, a comment where it is closed. */
  readonly column: number;
  readonly isOneLine: boolean;
  readonly isEnd: (line: Line) => boolean;
}

/** A code fence or a comment that begins here. */
export function openBlock(content: string, column: number): Block | null {
  if (content.startsWith("<!--")) {
    const isEnd = (line: Line): boolean => line.content.includes("-->");
    return { is: "comment", column, isOneLine: content.includes("-->", 2), isEnd };
  }
  const fence = /^(?:(`{3,})[^`]*|(~{3,})[^]*)$/.exec(content);
  const marks = fence?.[1] ?? fence?.[2];
  if (marks === undefined) return null;
  return { is: "code", column, isOneLine: false, isEnd: (line) => isClosing(line, marks, column) };
}

function isClosing({ content, indent }: Line, marks: string, column: number): boolean {
  const closing = /^(`+|~+)[ \t]*$/.exec(content)?.[1];
  return (
    closing !== undefined && closing[0] === marks[0] && closing.length >= marks.length && indent - column < 4
  );
}

const TITLE_LENGTH_MAX = 80;

/** What a Markdown file calls itself: its first heading, else its first line if that is no list item; bounded. */
export function documentTitle(file: Buffer): string | null {
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
    const heading = line.indent < 4 ? readHeading(line.content)?.text : undefined;
    const words = heading?.trim().replace(/\s+#+$/, "") ?? "";
    if (words !== "") return titleFrom(words);
    if (line.content !== "") first ??= line;
  }
  return first === null || readBullet(first, true) !== null ? null : titleFrom(first.content);
}

function titleFrom(bytes: string): string {
  return shortened(Buffer.from(bytes, "latin1").toString("utf8").trim(), TITLE_LENGTH_MAX);
}

/** At most so many characters, the last of them a sign that more was there. */
export function shortened(text: string, lengthMax: number): string {
  const characters = Array.from(text);
  return characters.length > lengthMax ? `${characters.slice(0, lengthMax - 1).join("")}…` : text;
}
