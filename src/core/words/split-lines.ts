import { stripEscapes } from "./strip-escapes.ts";

/** Where a line stands in a Markdown text. Only plain lines are the writer's own word; a comment is as a quotation. */
export type Standing = "plain" | "fenced" | "quoted";

export type OnLine = (line: string, standing: Standing) => void;

/**
 * A comment that does not end soon hides nothing, or one stray `<!--` would swallow an honest promise for good.
 * Both limits bound what waits, too.
 */
const LINES_MAX = 200;
const LENGTH_MAX = 64 * 1024;
const OPEN = "<!--";
const CLOSE = "-->";
const QUOTE = /^\s*>/;

/** The lines of a comment whose end has not come yet. */
interface Comment {
  readonly lines: string[];
  /** The first line has the writer's own words before the comment; such a comment ends with its paragraph. */
  readonly isInline: boolean;
  length: number;
}

/** Takes escapes out of lines and tells where each stands. Lines wait until it is known whether their comment ends. */
export function createLineReader(onLine: OnLine) {
  const fences = createFenceTracker();
  let comment: Comment | null = null;
  const emit = (line: string): void => {
    if (fences.isFenced(line)) onLine(line, "fenced");
    else onLine(line, QUOTE.test(line) ? "quoted" : "plain");
  };
  /** A comment that does not end is none. */
  const letGo = (): void => {
    const lines = comment?.lines ?? [];
    comment = null;
    for (const line of lines) emit(line);
  };
  const begin = (line: string): void => {
    // Most lines are done with after this.
    if (!line.includes(OPEN)) return emit(line);
    const at = placeOfOpen(line);
    if (at !== null)
      comment = { lines: [line], isInline: line.slice(0, at).trim() !== "", length: line.length };
    else if (isWhollyComment(line)) onLine(line, "quoted");
    else emit(line);
  };
  const goOn = (open: Comment, line: string): void => {
    open.lines.push(line);
    open.length += line.length;
    if (!line.includes(CLOSE)) {
      if (open.lines.length > LINES_MAX || open.length > LENGTH_MAX) letGo();
      return;
    }
    for (const [index, one] of open.lines.entries())
      if (open.isInline && index === 0) emit(one);
      else onLine(one, "quoted");
    // The next one may begin where this one ends.
    comment = placeOfOpen(line) === null ? null : { lines: [], isInline: false, length: 0 };
  };
  const read = (line: string): void => {
    if (fences.isOpen()) return emit(line);
    if (comment?.isInline === true && line.trim() === "") letGo();
    if (comment === null) begin(line);
    else goOn(comment, line);
  };
  return {
    read(line: string): void {
      const clean = stripEscapes(line);
      // A lone return starts the line anew on a terminal, as progress bars do.
      if (clean.includes("\r")) for (const part of clean.split("\r")) read(part);
      else read(clean);
    },
    /** It is neither in a fence nor in a comment. */
    isIdle: () => !fences.isOpen() && comment === null,
    end: letGo,
  };
}

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;

/** Tells what stands inside a fenced code block. An unclosed fence runs to the end. */
function createFenceTracker() {
  let open: string | null = null;
  return {
    /** Whether this line opens, closes or lies inside a fence. */
    isFenced(line: string): boolean {
      const [, marks, rest = ""] = FENCE.exec(line) ?? [];
      if (open === null) {
        const isInlineCode = marks?.startsWith("`") === true && rest.includes("`");
        open = isInlineCode ? null : (marks ?? null);
        return open !== null;
      }
      if (marks?.startsWith(open) === true && rest.trim() === "") open = null;
      return true;
    },
    isOpen: () => open !== null,
  };
}

/** Where a comment begins that does not end in this line; not in code, nor in a quotation. */
function placeOfOpen(line: string): number | null {
  const closed = line.lastIndexOf(CLOSE);
  const at = line.indexOf(OPEN, closed < 0 ? 0 : closed + CLOSE.length);
  if (at < 0 || QUOTE.test(line)) return null;
  const isCode = line.slice(0, at).split("`").length % 2 === 0;
  return isCode ? null : at;
}

function isWhollyComment(line: string): boolean {
  const words = line.trim();
  // `<!-->` and `<!--->` are whole.
  return words.startsWith(OPEN) && words.indexOf(CLOSE, 2) + CLOSE.length === words.length;
}
